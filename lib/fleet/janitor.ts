import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { forgetAgentHomes } from '../store/agents.ts'
import { type Alert, resolveAlertsOfWorkloads } from '../store/alerts.ts'
import { type Database, DatabaseUnavailable } from '../store/db.ts'
import { sweepReportedConfigs } from '../store/reported-configs.ts'
import { trimEvents } from '../store/workload-events.ts'
import type { Fleet } from './fleet.ts'

const DAY_MS = 86_400_000
/** Events removed in one statement: a long one would hold what others wait for. */
const TRIM_CHUNK = 10_000
/** How long a reported text that nobody runs is kept. */
const REPORTED_KEPT_MS = DAY_MS

export interface JanitorParts {
  db: Database
  clock: Clock
  log: Log
  fleet: Pick<Fleet, 'archive' | 'state'>
  retentionDays: number
  eventRetentionDays: number
  /** Alerts of archived workloads are resolved with them. */
  alertResolved(alert: Alert): void
}

/** What one sweep did. */
export interface SweepResult {
  archived: number
  trimmedEvents: number
}

/** Archive the workloads that have been disconnected for longer than they are kept; never a live one. */
async function archiveExpired(parts: JanitorParts, signal: AbortSignal): Promise<number> {
  const { clock, fleet, log } = parts
  const before = clock.now().getTime() - parts.retentionDays * DAY_MS
  const expired = [...fleet.state.workloads.values()].filter(
    (workload) =>
      workload.status === 'disconnected' &&
      workload.live.count === 0 &&
      workload.archivedAt === null &&
      workload.disconnectedAt !== null &&
      workload.disconnectedAt.getTime() < before,
  )
  let archived = 0
  for (const workload of expired) {
    if (signal.aborted) break
    let resolved: Alert[] = []
    try {
      // Judged once more under the workload's own lock and in the statement: it may come back at any time.
      const outcome = await fleet.archive(workload.id, async (tx) => {
        resolved = await resolveAlertsOfWorkloads(tx, [workload.id], clock.now())
      })
      if (outcome.ok) archived++
    } catch (error) {
      // Without the database nothing else will work either; a fault of one workload is not the others'.
      if (error instanceof DatabaseUnavailable) throw error
      log.error({ err: error, workload_id: workload.id }, 'workload could not be archived')
      continue
    }
    for (const alert of resolved) parts.alertResolved(alert)
  }
  return archived
}

async function trimOldEvents(parts: JanitorParts, signal: AbortSignal): Promise<number> {
  const before = new Date(parts.clock.now().getTime() - parts.eventRetentionDays * DAY_MS)
  let trimmed = 0
  while (!signal.aborted) {
    const count = await trimEvents(parts.db, before, TRIM_CHUNK)
    trimmed += count
    if (count < TRIM_CHUNK) break
  }
  return trimmed
}

/** Forget where agents belonged that nobody has heard of for as long as workloads are kept. */
async function forgetOldHomes({ db, clock, fleet, retentionDays }: JanitorParts): Promise<void> {
  const before = new Date(clock.now().getTime() - retentionDays * DAY_MS)
  await forgetAgentHomes(db, before, [...fleet.state.instances.keys()])
}

async function sweepReported({ db, clock, fleet }: JanitorParts): Promise<void> {
  const inUse = new Set<string>()
  for (const { reportedConfigHash } of fleet.state.instances.values()) inUse.add(reportedConfigHash)
  await sweepReportedConfigs(db, new Date(clock.now().getTime() - REPORTED_KEPT_MS), [...inUse])
}

/**
 * One round of the janitor: archive, trim events, and forget what nothing refers to any more. A step that
 * fails is logged and does not keep the others from running; the next round does what this one could not.
 */
export async function sweep(parts: JanitorParts, signal: AbortSignal): Promise<SweepResult> {
  const result: SweepResult = { archived: 0, trimmedEvents: 0 }
  const steps: [string, () => Promise<void>][] = [
    [
      'archive',
      async () => {
        result.archived = await archiveExpired(parts, signal)
      },
    ],
    [
      'trim-events',
      async () => {
        result.trimmedEvents = await trimOldEvents(parts, signal)
      },
    ],
    ['forget-agents', () => forgetOldHomes(parts)],
    ['sweep-reported-configs', () => sweepReported(parts)],
  ]
  for (const [step, run] of steps) {
    if (signal.aborted) break
    try {
      await run()
    } catch (error) {
      parts.log.error({ err: error, step }, 'janitor step did not finish')
    }
  }
  if (result.archived > 0 || result.trimmedEvents > 0) parts.log.info({ ...result }, 'janitor')
  return result
}
