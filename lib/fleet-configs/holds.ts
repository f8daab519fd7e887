import type { AuditedDatabase } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditActor } from '../audit/event.ts'
import type { Clock } from '../clock.ts'
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
/** How long a hold lasts where nobody says how long. */
export const HOLD_MS = 7 * DAY_MS
const HOLD_MAX_MS = 365 * DAY_MS
/** Longest reason, in UTF-16 units. */
export const HOLD_REASON_LENGTH_MAX = 1_024

export type HoldRefusal = Refusal<'reason-invalid' | 'until-invalid' | 'workload-not-found'> | AuditFailure

/** A time that somebody gave for the end of something; null when it is none, is over, or too far away. */
export function readUntil(text: string, now: Date, mostMs: number): Date | null {
  const until = readTime(text)
  return until !== null && until > now && until.getTime() - now.getTime() <= mostMs ? until : null
}

type HoldOutcome = { ok: true; hold: StoredHold } | HoldRefusal

/** Keep campaigns from a workload, or go on keeping them from it. */
export async function holdWorkload(
  parts: HoldParts,
  wanted: { workloadId: string; reason: string; until: string | null; actor: AuditActor },
): Promise<HoldOutcome> {
  const { workloadId, actor } = wanted
  const reason = wanted.reason.trim()
  if (reason === '' || reason.length > HOLD_REASON_LENGTH_MAX || !isStorable(reason))
    return refuse('reason-invalid', { max: HOLD_REASON_LENGTH_MAX })
  const now = parts.clock.now()
  const dueAt =
    wanted.until === null ? new Date(now.getTime() + HOLD_MS) : readUntil(wanted.until, now, HOLD_MAX_MS)
  if (dueAt === null) return refuse('until-invalid')
  if (parts.fleet.workload(workloadId) === null) return refuse('workload-not-found')
  const hold = { workloadId, reason, heldBy: actor.email, heldById: actor.userId, heldAt: now, dueAt }
  const stored = await parts.db.change<HoldOutcome>('workload.hold', actor, async (tx) => {
    if (!(await storeHold(tx, hold))) return refuse('workload-not-found')
    await tx.record({
      ...{ action: 'workload.hold', resource: 'workload', resourceId: workloadId },
      detail: JSON.stringify({ reason, until: dueAt.toISOString() }),
    })
    return { ok: true, hold }
  })
  if (stored.ok) await parts.fleetConfigs.load()
  return stored
}

/** Let campaigns have a workload again; nothing is pushed by it. One that is not held stays so. */
export async function releaseWorkload(
  parts: HoldParts,
  { workloadId, actor }: { workloadId: string; actor: AuditActor },
): Promise<{ ok: true } | HoldRefusal> {
  if (parts.fleet.workload(workloadId) === null) return refuse('workload-not-found')
  const released = await parts.db.change<{ ok: true }>('workload.release', actor, async (tx) => {
    if (await deleteHold(tx, workloadId))
      await tx.record({ action: 'workload.release', resource: 'workload', resourceId: workloadId })
    return { ok: true }
  })
  if (released.ok) await parts.fleetConfigs.load()
  return released
}
