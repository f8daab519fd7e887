import { readStoredFreeze, type StoredFreeze } from '../model/stored-settings.ts'
import type { Db } from './db.ts'
import { LOCK_SPACE } from './lock-statements.ts'
import { findSetting, removeSetting, storeSetting } from './settings.ts'

const NAME = 'freeze'
const FREEZE_LOCK = 4

const DAY_MS = 86_400_000

/** A time in which workloads are not to be changed. */
export interface Freeze extends StoredFreeze {
  /** An e-mail. */
  setBy: string
  setAt: Date
}

/**
 * What counts where the stored freeze cannot be read: nobody knows which workloads were not to be changed, or until when,
 * so none are until somebody lifts it.
 */
const unreadableFreeze = (setAt: Date): StoredFreeze => ({
  selector: null,
  reason: 'The stored freeze cannot be read.',
  until: new Date(setAt.getTime() + 365 * DAY_MS),
})

/** The freeze that is stored, over or not; null when there is none. */
export async function findFreeze(db: Db): Promise<Freeze | null> {
  const setting = await findSetting(db, NAME)
  if (setting === null) return null
  const { value, updatedBy: setBy, updatedAt: setAt } = setting
  return { ...(readStoredFreeze(value) ?? unreadableFreeze(setAt)), setBy, setAt }
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
  const value = JSON.stringify({ selector, reason, until: until.toISOString() })
  await storeSetting(tx, NAME, { value, updatedBy: setBy, updatedAt: setAt })
}
