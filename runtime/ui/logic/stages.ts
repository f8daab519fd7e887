import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { RolloutGateName, RolloutStage, RolloutStageRequest } from '../../../lib/wire/rollouts.ts'
import type { Tone } from './diagnosis.ts'

/** How a stage of a rollout looks, or a wave of a campaign: its tone and its shape. */
export const STAGE_LOOK: Record<
  RolloutStage['status'],
  readonly [Tone, 'ring' | 'half' | 'clock' | 'tick' | 'triangle' | 'cross']
> = {
  waiting: ['idle', 'ring'],
  running: ['busy', 'half'],
  dwelling: ['busy', 'clock'],
  done: ['ok', 'tick'],
  halted: ['bad', 'triangle'],
  aborted: ['idle', 'cross'],
  failed: ['bad', 'cross'],
}

/** The shares of the instances that come before all, and the wait after each stage, unless a push asks for others. */
export const USUAL_STAGES = { shares: [10, 50], dwellSeconds: 120 } as const

/**
 * Whether a push to so many instances goes out in stages unless somebody says otherwise: where most is at stake, all at
 * once is what one has to ask for.
 */
export const areStagesSuggested = (
  plan: Pick<ConfigPlan, 'risk_score'> | null,
  { isProduction, connected }: { isProduction: boolean; connected: number },
): boolean => isProduction && plan?.risk_score.severity === 'high' && connected > 1

/** Read `10, 50` as growing percentages under 100; null where a part of the text is no such number. */
export function readShares(text: string): number[] | null {
  const parts = text.split(/[\s,;%]+/).filter((part) => part !== '')
  const shares = parts.map(Number)
  if (shares.length === 0 || !shares.every((share) => share > 0 && share < 100)) return null
  return [...new Set(shares)].sort((a, b) => a - b)
}

/** How many of so many instances a share reaches. */
const sizeOf = (percentage: number, connected: number): number =>
  Math.min(connected, Math.max(1, Math.ceil((connected * percentage) / 100)))

/** The stages to ask for: the shares, but for those that reach nobody new, and everybody else as the last one. */
export function toStageRequests(
  shares: readonly number[],
  dwellSeconds: number,
  gates: readonly RolloutGateName[],
  connected: number,
): RolloutStageRequest[] {
  let reached = 0
  const kept = shares.filter((share) => {
    const size = sizeOf(share, connected)
    // The last stage has somebody left as well.
    const isStep = connected < 2 || (size > reached && size < connected)
    if (isStep) reached = size
    return isStep
  })
  return [...kept, 100].map((percentage) => ({
    percentage,
    dwell_seconds: dwellSeconds,
    gates: [...gates],
  }))
}

/** How many instances in all each stage will reach, of those that are connected. */
export const listStageSizes = (stages: readonly RolloutStageRequest[], connected: number): number[] =>
  stages.map(({ percentage = 100 }) => sizeOf(percentage, connected))
