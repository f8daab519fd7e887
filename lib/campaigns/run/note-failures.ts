import { statusesThat } from '../../model/campaign-states.ts'
import { listFailedSince } from '../../store/campaign-targets.ts'
import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import type { CampaignRun } from './run.ts'
import { writeEnds } from './write.ts'

/** How often targets that have ended are looked at. */
const APPLIED_LOOK_MS = 1_000

/**
 * Note which targets said that they applied the change, or did not answer in time, and failed of it since, until the
 * campaign has to do with none any more; answers whether any has.
 */
export async function noteFailures(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
): Promise<boolean> {
  const nowMs = parts.fleet.clock.heardMs()
  if (nowMs < run.nextAppliedLookMs || !STANDING.includes(campaign.status)) return false
  run.nextAppliedLookMs = nowMs + APPLIED_LOOK_MS
  const failed = await listFailedSince(parts.db, campaign.id)
  if (failed.length === 0) return false
  await writeEnds(parts, campaign, [{ from: ['applied', 'no_answer'], ends: failed }])
  for (const { workloadId } of failed) {
    run.watched.delete(workloadId)
    run.steady.delete(workloadId)
  }
  return true
}

const STANDING = statusesThat('stands')
