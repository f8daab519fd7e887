import { listResumed } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { instancesOf } from './choose.ts'
import type { CampaignRun } from './run.ts'
import { writeResumed } from './write.ts'

/** In these a stage may go on. */
const GOES_ON: readonly CampaignSummary['status'][] = ['running', 'done']

/**
 * Take targets up again whose stages halted, for which they had failed, and that somebody let go on at the workload: they
 * end as any other. What is stored says so: whoever let them go on may have done it before this process owned the fleet.
 * Answers whether there are any.
 */
export async function noteResumed(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
): Promise<boolean> {
  const { db, fleet } = parts
  const { id, status } = campaign
  if (!GOES_ON.includes(status)) return false
  const resumed = await listResumed(db, id)
  if (resumed.length === 0) return false
  const ids = resumed.map(({ workloadId }) => workloadId)
  await writeResumed(parts, campaign, ids)
  for (const target of resumed)
    run.inFlight.set(target.workloadId, {
      pushId: target.pushId!,
      resultHash: target.resultHash,
      startedMs: fleet.clock.heardMs(),
      instances: instancesOf(target),
      isBack: false,
      isByItself: false,
      wasDegraded: target.wasDegraded,
      wasDrifted: target.wasDrifted,
    })
  return true
}
