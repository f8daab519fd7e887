import type { ActTransaction, AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { Clock } from '../clock.ts'
import type { StillMay } from '../identity/still-may.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { isStorable } from '../model/storable.ts'
import { readTime } from '../model/times.ts'
import { deleteHold, type StoredHold, storeHold } from '../store/holds.ts'
import type { FleetConfigs } from './fleet-configs.ts'

/** What holds are made with. */
export interface HoldParts {
  db: AuditedDatabase
  clock: Clock
  fleet: { workload(id: string): unknown }
  fleetConfigs: FleetConfigs
}

const DAY_MS = 86_400_000
/** When a hold is due where nobody says when. It is listed as overdue then, and ends only when somebody releases it. */
export const HOLD_MS = 7 * DAY_MS
const HOLD_MAX_MS = 365 * DAY_MS
/** Longest reason, in UTF-16 units. */
export const HOLD_REASON_LENGTH_MAX = 1_024

/** Why a hold is not stored or ended. */
export type HoldRefusal =
  | Refusal<'out-of-scope' | 'reason-invalid' | 'until-invalid' | 'workload-not-found'>
  | AuditFailure

/** A time that somebody gave for the end of something; null when it is none, is over, or too far away. */
export function readUntil(text: string, now: Date, mostMs: number): Date | null {
  const until = readTime(text)
  return until !== null && until > now && until.getTime() - now.getTime() <= mostMs ? until : null
}

type HoldOutcome = { ok: true; hold: StoredHold } | HoldRefusal

/** What is asked of a hold, whichever workloads it is for. */
interface AskedHold {
  reason: string
  until: string | null
  actor: AuditActor
  stillMay: StillMay
}

function readHold(
  { clock }: Pick<HoldParts, 'clock'>,
  { reason: sent, until, actor }: Omit<AskedHold, 'stillMay'>,
): { ok: true; hold: Omit<StoredHold, 'workloadId'> } | Refusal<'reason-invalid' | 'until-invalid'> {
  const reason = sent.trim()
  if (reason === '' || reason.length > HOLD_REASON_LENGTH_MAX || !isStorable(reason))
    return refuse('reason-invalid', { max: HOLD_REASON_LENGTH_MAX })
  const now = clock.now()
  const dueAt = until === null ? new Date(now.getTime() + HOLD_MS) : readUntil(until, now, HOLD_MAX_MS)
  if (dueAt === null) return refuse('until-invalid')
  return { ok: true, hold: { reason, heldBy: actor.email, heldById: actor.userId, heldAt: now, dueAt } }
}

/** What the audit trail says of what was done to a workload; null where nothing was done. */
type Done = Parameters<ActTransaction['record']>[0] | null

/** Store a hold; null when there is no such workload. */
async function writeHold(tx: ActTransaction, hold: StoredHold): Promise<Done> {
  if (!(await storeHold(tx, hold))) return null
  return {
    action: 'workload.hold',
    resource: 'workload',
    resourceId: hold.workloadId,
    detail: JSON.stringify({ reason: hold.reason, until: hold.dueAt.toISOString() }),
  }
}

/** End a hold; null when there was none. */
const writeRelease = async (tx: ActTransaction, workloadId: string): Promise<Done> =>
  (await deleteHold(tx, workloadId))
    ? { action: 'workload.release', resource: 'workload', resourceId: workloadId }
    : null

/** Hold a workload, or replace the hold that it has. */
export async function holdWorkload(
  parts: HoldParts,
  wanted: AskedHold & { workloadId: string },
): Promise<HoldOutcome> {
  const { workloadId, actor, stillMay } = wanted
  const read = readHold(parts, wanted)
  if (!read.ok) return read
  if (parts.fleet.workload(workloadId) === null) return refuse('workload-not-found')
  const hold = { ...read.hold, workloadId }
  const stored = await parts.db.change<HoldOutcome>('workload.hold', actor, async (tx) => {
    if (!(await stillMay(tx, [workloadId]))) return refuse('out-of-scope')
    const done = await writeHold(tx, hold)
    if (done === null) return refuse('workload-not-found')
    await tx.record(done)
    return { ok: true, hold }
  })
  if (stored.ok) await parts.fleetConfigs.load()
  return stored
}

/**
 * Release a workload, so that campaigns may change it again; nothing is pushed by it. A workload that is not held stays
 * as it is.
 */
export async function releaseWorkload(
  parts: HoldParts,
  { workloadId, actor, stillMay }: { workloadId: string; actor: AuditActor; stillMay: StillMay },
): Promise<{ ok: true } | HoldRefusal> {
  if (parts.fleet.workload(workloadId) === null) return refuse('workload-not-found')
  const released = await parts.db.change<{ ok: true } | Refusal<'out-of-scope'>>(
    'workload.release',
    actor,
    async (tx) => {
      if (!(await stillMay(tx, [workloadId]))) return refuse('out-of-scope')
      const done = await writeRelease(tx, workloadId)
      if (done !== null) await tx.record(done)
      return { ok: true }
    },
  )
  if (released.ok) await parts.fleetConfigs.load()
  return released
}

/** Workloads that one call can name. */
export const NAMED_WORKLOADS_MAX = 500
/** Holds in one transaction: it has the lock of the audit trail until it is over. */
const TOGETHER = 50

type CountedOutcome = { ok: true; changedCount: number } | Refusal<'out-of-scope'> | AuditFailure

/** Workloads that somebody names. */
interface NamedWorkloads {
  workloadIds: readonly string[]
  actor: AuditActor
  stillMay: StillMay
}

/** Hold many workloads, as `holdWorkload` does each; those that are not there are passed over. */
export async function holdWorkloads(
  parts: HoldParts,
  wanted: AskedHold & { workloadIds: readonly string[] },
): Promise<CountedOutcome | Refusal<'reason-invalid' | 'until-invalid'>> {
  const read = readHold(parts, wanted)
  if (!read.ok) return read
  return changeTogether(parts, 'workload.hold', wanted, (tx, workloadId) =>
    writeHold(tx, { ...read.hold, workloadId }),
  )
}

/** Release many workloads; those that nobody holds are passed over. */
export const releaseWorkloads = (parts: HoldParts, wanted: NamedWorkloads): Promise<CountedOutcome> =>
  changeTogether(parts, 'workload.release', wanted, writeRelease)

async function changeTogether(
  parts: HoldParts,
  name: string,
  { workloadIds, actor, stillMay }: NamedWorkloads,
  change: (tx: ActTransaction, workloadId: string) => Promise<Done>,
): Promise<CountedOutcome> {
  // In the order in which everybody locks workloads.
  const ids = [...new Set(workloadIds)].filter((id) => parts.fleet.workload(id) !== null).sort()
  let changedCount = 0
  let failure: Refusal<'out-of-scope'> | AuditFailure | null = null
  for (let at = 0; at < ids.length && failure === null; at += TOGETHER) {
    const some = ids.slice(at, at + TOGETHER)
    const stored = await parts.db.change<{ ok: true; count: number } | Refusal<'out-of-scope'>>(
      name,
      actor,
      async (tx) => {
        if (!(await stillMay(tx, some))) return refuse('out-of-scope')
        const done: NonNullable<Done>[] = []
        for (const id of some) done.push(...[(await change(tx, id)) ?? []].flat())
        // A record has the lock of the audit trail: the locks of all workloads come before the first.
        for (const event of done) await tx.record(event)
        return { ok: true, count: done.length }
      },
    )
    if (stored.ok) changedCount += stored.count
    else failure = changedCount > 0 ? afterOthers(stored, changedCount) : stored
  }
  await parts.fleetConfigs.load()
  return failure ?? { ok: true, changedCount }
}

/** A failure after which the earlier transactions stand: it says so. */
const afterOthers = (
  failure: Refusal<'out-of-scope'> | AuditFailure,
  changedCount: number,
): Refusal<'out-of-scope'> | AuditFailure =>
  failure.code === 'audit-unavailable'
    ? { ...failure, sideEffect: 'applied' }
    : refuse(failure.code, { changed_count: changedCount })
