import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignHalt } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { catchUp } from './catch-up.ts'
import { findCatchUpHalt, findHalt, findLapseHalt, findUntriedHalt, isInSuspense } from './find-halt.ts'
import { goBack } from './go-back.ts'
import { lookAtApplied } from './look-at-applied.ts'
import type { CampaignRun, RunCounts } from './run.ts'
import { startNext } from './start-step.ts'
import { closerOf, hasStageToCome, stopStaged } from './stop-staged.ts'
import { countLeft, moveAfterWave } from './wave-end.ts'
import { isInWindow } from './windows.ts'
import { writeMove } from './write.ts'

/** Do the next step of a campaign, by its status. Answers whether anything changed. */
export function advance(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  counts: RunCounts,
): Promise<boolean> | boolean {
  switch (campaign.status) {
    case 'running':
      return goOn(parts, campaign, run, counts)
    case 'rolling_back':
      return goBack(parts, campaign, run, counts.all)
    case 'done':
      return stayDone(parts, campaign, run, counts.all)
    case 'aborted':
    case 'rolled_back':
      return stopStaged(parts, { campaignId: campaign.id }, closerOf(campaign))
    default:
      // Paused, halted: pushes that were started come to their end, and no other is started.
      return false
  }
}

async function goOn(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  { all, waves }: RunCounts,
): Promise<boolean> {
  const halt = await findHalt(parts, campaign, run, all)
  if (halt !== null) return stopFor(parts, campaign, halt)
  if (await catchUp(parts, campaign, run)) return true
  if (countLeft(waves, campaign.wave) === 0) {
    return endWave(parts, campaign, run, waves)
  }
  if (!isInWindow(campaign.rules.windows, parts.clock.now())) return false
  return startNext(parts, campaign, run)
}

/** Go on after a wave of which every target has ended: watch it, and begin the next one, or be done. */
async function endWave(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  waves: RunCounts['waves'],
): Promise<boolean> {
  const { clock, fleet } = parts
  const nowMs = fleet.clock.heardMs()
  const move = moveAfterWave(campaign, run.watchingSinceMs, { now: clock.now(), nowMs })
  if (move === null) return false
  if (move.action === null) {
    // Before it is written: of a commit that got no answer nobody knows whether the wave is watched.
    run.watchingSinceMs = null
    const isWatched = await writeMove(parts, campaign, move)
    if (isWatched) run.watchingSinceMs = nowMs
    return isWatched
  }
  // It goes on by how those that applied are now, which is asked once it could go on by how they were a moment ago.
  if (isInSuspense(campaign, run.sight)) return false
  if (isInSuspense(campaign, await lookAtApplied(parts, run, { isAfresh: true }))) return false
  const untried = move.action === 'campaign.wave' ? await findUntriedHalt(parts, campaign, waves) : null
  return untried === null ? writeMove(parts, campaign, move) : stopFor(parts, campaign, untried)
}

/**
 * A campaign that is done starts targets that were away and come back. Where it is to start one, it halts if its approval
 * does not hold any more, or more have failed than its limit allows; if its approval does not, also while one of them is
 * about to go on to its next stage. Where it has nothing to carry it stays done, whatever becomes of its approval.
 */
async function stayDone(
  parts: CampaignParts,
  campaign: CampaignSummary,
  run: CampaignRun,
  counts: RunCounts['all'],
): Promise<boolean> {
  if (hasStageToCome(parts, { campaignId: campaign.id })) {
    const lapsed = await findLapseHalt(parts, campaign, run)
    if (lapsed !== null) return stopFor(parts, campaign, lapsed)
  }
  return catchUp(parts, campaign, run, async () => {
    const halt =
      (await findLapseHalt(parts, campaign, run)) ?? (await findCatchUpHalt(parts, campaign, counts))
    return halt !== null && stopFor(parts, campaign, halt)
  })
}

/** Halt a campaign. */
const stopFor = (parts: CampaignParts, campaign: CampaignSummary, halt: CampaignHalt): Promise<boolean> =>
  writeMove(parts, campaign, {
    from: campaign.status,
    action: 'campaign.halt',
    to: { status: 'halted', halt, endedAt: null },
  })
