import type { Selector } from '../wire/selectors.ts'
import type { Db } from './db.ts'
import { LOCK_SPACE } from './lock-statements.ts'
import { findSetting, removeSetting, storeSetting } from './settings.ts'

const NAME = 'freeze'
const FREEZE_LOCK = 4

/** A time in which workloads are not to be changed. */
export interface Freeze {
  /** Null for the whole fleet. */
  selector: Selector | null
  reason: string
  until: Date
  /** An e-mail. */
  setBy: string
  setAt: Date
}

interface StoredFreeze {
  selector: Selector | null
  reason: string
  until: string
}

/** The freeze that is stored, over or not; null when there is none. */
export async function findFreeze(db: Db): Promise<Freeze | null> {
  const setting = await findSetting(db, NAME)
  if (setting === null) return null
  const { selector, reason, until } = JSON.parse(setting.value) as StoredFreeze
  return { selector, reason, until: new Date(until), setBy: setting.updatedBy, setAt: setting.updatedAt }
}

/**
 * Read the freeze for pushes that this transaction commits: until then nobody sets another one, so that none of them
 * comes after a freeze that was answered.
 */
export async function shareFreeze(tx: Db): Promise<Freeze | null> {
  await tx.query(`SELECT pg_advisory_xact_lock_shared(${LOCK_SPACE}, ${FREEZE_LOCK})`)
  // A statement of its own: it sees what was committed while the lock was waited for.
  return findFreeze(tx)
}

/**
 * Store a freeze over the one that was there; null lifts it. It waits for pushes under way that have read the former
 * one, and pushes wait for it.
 */
export async function storeFreeze(tx: Db, freeze: Freeze | null): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(${LOCK_SPACE}, ${FREEZE_LOCK})`)
  if (freeze === null) return removeSetting(tx, NAME)
  const { selector, reason, until, setBy, setAt } = freeze
  const value = JSON.stringify({ selector, reason, until: until.toISOString() } satisfies StoredFreeze)
  await storeSetting(tx, NAME, { value, updatedBy: setBy, updatedAt: setAt })
}
