import type { Workload } from '../../fleet/state/model.ts'
import { CATCH_UP_DAYS } from '../../model/campaign-rules.ts'
import { daysBefore } from '../../model/left-stopped.ts'
import { type CampaignTargetEnd, listCampaignTargets } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { BATCH, chooseNext, roomIn } from './choose.ts'
import { judgeTurns, type Turn } from './overtaken.ts'
import type { CampaignRun } from './run.ts'
import { withSizes } from './size.ts'
import { startThese } from './start-step.ts'
import { isInWindow } from './windows.ts'
import { writeEnds } from './write.ts'

/**
 * How long after its end a campaign waits for a target that is back and that a freeze, say, keeps from its turn: shorter
 * than its text is kept.
 */
const HELD_UP_DAYS = CATCH_UP_DAYS.max

/** How often a campaign looks for targets that have come back. */
const LOOK_MS = 1_000

/**
 * Whether a target that was away can have its turn: it has live instances again, or it was deleted, which its turn then
 * notes as `workload_gone`.
 */
const canHaveTurn = (workload: Workload | null): boolean => workload === null || isBack(workload)

/** Whether a workload that was away has live instances again. */
export const isBack = ({ status, live }: Workload): boolean => status !== 'disconnected' && live.count > 0

/**
 * Start targets that were away and are back, and that it is the campaign's turn to change (`judgeTurns`), as far as there
 * is room, up to `BATCH` of them, unless `stop` stops the campaign before. Those that it waits for no longer end as
 * `expired`. Answers whether anything changed.
 */
export async function catchUp(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  stop: () => Promise<boolean> = async () => false,
): Promise<boolean> {
  const { clock, fleet, db } = parts
  if (run.offline.size === 0 || fleet.clock.heardMs() < run.nextOfflineLookMs) return false
  run.nextOfflineLookMs = fleet.clock.heardMs() + LOOK_MS
  // From here on whoever is here now is waited for where it leaves again.
  const back = [...run.offline.keys()].filter((id) => canHaveTurn(fleet.workload(id)))
  for (const id of back) run.offline.set(id, clock.now())
  const late = [...run.offline].flatMap(([id, since]) =>
    isWaitedFor(parts, campaign, { workload: fleet.workload(id), since }) ? [] : [id],
  )
  if (late.length > 0) return endAway(parts, campaign, run, late, { state: 'expired' })
  if (!isInWindow(campaign.rules.windows, clock.now())) return false
  const room = roomIn(run, campaign.rules.maxInFlight)
  if (room <= 0) return false
  if (back.length === 0) return false
  const turns = await judgeTurns(parts, campaign.id, back)
  if (await endOvertaken(parts, campaign, run, turns)) return true
  const workloadIds = back.filter((id) => turns.get(id) === 'due')
  if (workloadIds.length === 0) return false
  if (await stop()) return true
  // The turn of later waves has not come yet.
  const turn = campaign.status === 'done' ? {} : { upToWave: campaign.wave }
  const filter = { states: ['offline'] as const, workloadIds, ...turn }
  const page = { after: null, limit: BATCH + run.busy.size }
  const due = await withSizes(parts, await listCampaignTargets(db, campaign.id, filter, page))
  return startThese(parts, campaign, run, chooseNext(due, run, { room, nowMs: fleet.clock.heardMs() }))
}

/** End those targets that something else overtook while they were away; false for none. */
async function endOvertaken(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  turns: ReadonlyMap<string, Turn>,
): Promise<boolean> {
  const overtaken = [...turns].flatMap(([id, turn]) => (turn === 'overtaken' ? [id] : []))
  if (overtaken.length === 0) return false
  return endAway(parts, campaign, run, overtaken, { state: 'overtaken', reason: 'overtaken' })
}

/** End some targets that were away. */
async function endAway(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  workloadIds: readonly string[],
  end: Omit<CampaignTargetEnd, 'workloadId'>,
): Promise<true> {
  const ends = workloadIds.map((workloadId) => ({ workloadId, ...end }))
  await writeEnds(parts, campaign, [{ from: ['offline'], ends }])
  for (const id of workloadIds) run.offline.delete(id)
  return true
}

/**
 * Whether a campaign waits for a target that was away: for `catchUpSeconds` from the campaign's start, or from when it
 * went away; and for one that is back until its turn comes, in a campaign that is done for `HELD_UP_DAYS` at most.
 */
function isWaitedFor(
  { clock, fleet }: CampaignParts,
  { status, startedAt, endedAt, rules }: CampaignSummary,
  { workload, since }: { workload: Workload | null; since: Date | null },
): boolean {
  const now = clock.now()
  if (canHaveTurn(workload))
    return status !== 'done' || (endedAt !== null && endedAt >= daysBefore(now, HELD_UP_DAYS))
  // A process that has just started does not know yet who is away.
  if (workload !== null && fleet.isAwaited(workload)) return true
  const from = since ?? startedAt
  return from !== null && now.getTime() - from.getTime() <= rules.catchUpSeconds * 1_000
}
