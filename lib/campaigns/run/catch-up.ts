import type { Workload } from '../../fleet/state/model.ts'
import { listCampaignTargets } from '../../store/campaign-targets.ts'
import type { StoredCampaign } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { BATCH } from './choose.ts'
import type { CampaignRun } from './run.ts'
import { startThese } from './start-step.ts'
import { isInWindow } from './windows.ts'
import { writeAllEnd } from './write.ts'

/** How often those that are away are looked for, and how many of them are started at once. */
const LOOK_MS = 1_000

/** Whether a workload that was away has somebody again; one that is gone has its turn too, and is left out by name. */
const isBack = (workload: Workload | null): boolean =>
  workload === null || (workload.status !== 'disconnected' && workload.live.count > 0)

/** Start those that were away and are back, as long as the campaign waits for them; whether anything moved. */
export async function catchUp(
  parts: CampaignParts,
  campaign: StoredCampaign,
  run: CampaignRun,
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
  const back = new Set([...run.offline].filter((id) => isBack(fleet.workload(id))))
  if (back.size === 0) return false
  const page = { after: null, limit: run.offline.size }
  const rows = await listCampaignTargets(db, campaign.id, { states: ['offline'] }, page)
  // The turn of later waves has not come yet.
  const hasTurn = (wave: number | null) => campaign.status === 'done' || wave! <= campaign.wave
  const chosen = rows.filter(({ workloadId, wave }) => back.has(workloadId) && hasTurn(wave))
  return startThese(parts, campaign, run, chosen.slice(0, BATCH))
}

/** Whether who is away is still waited for. */
export const isCatchingUp = (
  { startedAt, rules }: Pick<StoredCampaign, 'startedAt' | 'rules'>,
  now: Date,
): boolean => now.getTime() - (startedAt?.getTime() ?? 0) <= rules.catchUpSeconds * 1_000
