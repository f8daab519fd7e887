import type { CampaignSummary } from '../../store/campaigns.ts'
import type { CampaignHalt } from '../../wire/campaigns.ts'
import type { CampaignParts } from '../judge/parts.ts'
import { reachOfCampaign } from '../judge/scope.ts'
import { haltOfCounted } from './find-halt.ts'
import { findLapse } from './lapse.ts'
import { findUntried, listPassedLimits, type PassedLimit } from './limits.ts'
import type { RunCounts } from './run.ts'

/** A halt as it stands now: more may have failed since, as what was started then comes to its end. */
export interface HaltNow {
  /** Whether it would halt again at once if it were continued as it is. */
  holds: boolean
  /** The limits that are passed now, each once. */
  passed: PassedLimit[]
  /** What it halted over, counted now: null where that has not changed. */
  halt: CampaignHalt | null
}

/**
 * Look whether a campaign that halted would halt again at once if it were continued as it is: its approval still does
 * not hold, or a limit that counts targets is still passed. How healthy workloads are, and whether they drift, only the
 * next look tells; so does whether one that was away has come back.
 */
export async function lookAtHalt(
  parts: Pick<CampaignParts, 'config' | 'mayApprove' | 'db'>,
  campaign: CampaignSummary,
  counts: RunCounts,
): Promise<HaltNow> {
  const reach = reachOfCampaign(campaign)
  const lapse = await findLapse(parts, { ...campaign, reach })
  const { wave, plan, rules, raised, halt, id } = campaign
  const limits = { wave, asked: rules.limits, raised }
  const targetCount = plan?.target_count ?? 0
  const counted = listPassedLimits({ ...limits, counts: counts.all, unhealthy: 0, drifted: 0, targetCount })
  const untried = findStillUntried(campaign, counts)
  const isTold = counted.some(({ gate, value }) => gate === untried?.gate && value >= untried.value)
  const passed =
    untried === null || isTold ? counted : [...counted.filter(({ gate }) => gate !== untried.gate), untried]
  const same = counted.find(({ gate, value }) => gate === halt?.gate && value !== halt.value)
  return {
    holds: lapse !== null || passed.length > 0,
    passed,
    halt:
      halt === null || same === undefined ? null : await haltOfCounted(parts, { id, wave: halt.wave }, same),
  }
}

/** That still nobody in the first wave tried the change out; null also where one that is away may yet. */
function findStillUntried(
  { wave, plan, rules, raised }: CampaignSummary,
  { waves }: RunCounts,
): PassedLimit | null {
  const inWave = waves[wave] ?? {}
  if ((inWave.waiting ?? 0) + (inWave.offline ?? 0) > 0) return null
  const wasAnybodyThere = (plan?.verdicts['changes'] ?? 0) > 0
  const waveCount = plan?.waves.length ?? 0
  return findUntried({ wave, asked: rules.limits, raised, waveCount, wasAnybodyThere, inWave })
}
