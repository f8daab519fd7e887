import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { reachOfCampaign } from '../judge/scope.ts'
import { findLapse } from './lapse.ts'
import { findPassedLimit, findUntried } from './limits.ts'
import type { RunCounts } from './run.ts'

/**
 * Whether a campaign that halted would halt again at once if it were continued as it is: its approval still does not
 * hold, or a limit that counts targets is still passed. How healthy workloads are, and whether they drift, only the next
 * look tells; so does whether one that was away has come back.
 */
export async function doesHaltHold(
  parts: Pick<CampaignParts, 'config' | 'mayApprove'>,
  campaign: CampaignSummary,
  { all, waves }: RunCounts,
): Promise<boolean> {
  const reach = reachOfCampaign(campaign)
  if ((await findLapse(parts, { ...campaign, reach })) !== null) return true
  const { wave, plan, rules, raised } = campaign
  const limits = { wave, asked: rules.limits, raised }
  const targetCount = plan?.target_count ?? 0
  const passed = findPassedLimit({ ...limits, counts: all, unhealthy: 0, drifted: 0, targetCount })
  if (passed !== null) return true
  const inWave = waves[wave] ?? {}
  if ((inWave.waiting ?? 0) + (inWave.offline ?? 0) > 0) return false
  const wasAnybodyThere = (plan?.verdicts['changes'] ?? 0) > 0
  const waveCount = plan?.waves.length ?? 0
  return findUntried({ ...limits, waveCount, wasAnybodyThere, inWave }) !== null
}
