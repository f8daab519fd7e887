import type { Workload } from '../../fleet/state/model.ts'
import { listCampaignTargets } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { BATCH, chooseNext, roomIn } from './choose.ts'
import { judgeTurns, type Turn } from './overtaken.ts'
import type { CampaignRun } from './run.ts'
import { withSizes } from './size.ts'
import { startThese } from './start-step.ts'
import { isInWindow } from './windows.ts'
import { writeAllEnd, writeEnds } from './write.ts'

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
 * is room, up to `BATCH` of them, unless `stop` stops the campaign before. Once the campaign waits for them no longer,
 * those that are left end as `expired`. Answers whether anything changed.
 */
export async function catchUp(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  stop: () => Promise<boolean> = async () => false,
): Promise<boolean> {
  const { clock, fleet, db } = parts
  if (run.offline.size === 0 || clock.monotonicMs() < run.nextOfflineLookMs) return false
  run.nextOfflineLookMs = clock.monotonicMs() + LOOK_MS
  if (!isCatchingUp(campaign, clock.now())) {
    await writeAllEnd(parts, campaign, ['offline'], 'expired')
    run.offline.clear()
    return true
  }
  if (!isInWindow(campaign.rules.windows, clock.now())) return false
  const room = roomIn(run, campaign.rules.maxInFlight)
  if (room <= 0) return false
  const back = [...run.offline].filter((id) => canHaveTurn(fleet.workload(id)))
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
  return startThese(parts, campaign, run, chooseNext(due, run, { room, nowMs: clock.monotonicMs() }))
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
  const ends = overtaken.map(
    (workloadId) => ({ workloadId, state: 'overtaken', reason: 'overtaken' }) as const,
  )
  await writeEnds(parts, campaign, [{ from: ['offline'], ends }])
  for (const id of overtaken) run.offline.delete(id)
  return true
}

/** Whether a campaign still waits for targets that are away: for `catchUpSeconds` after its start. */
export const isCatchingUp = (
  { startedAt, rules }: Pick<CampaignSummary, 'startedAt' | 'rules'>,
  now: Date,
): boolean => now.getTime() - (startedAt?.getTime() ?? 0) <= rules.catchUpSeconds * 1_000
