import { configHash } from '../../model/config-hash.ts'
import type { CampaignRules } from '../../store/campaigns.ts'
import type { CampaignVerdict } from '../../wire/campaigns.ts'

/** The facts of a target that an approval of the plan covers. */
export interface BoundTarget {
  workloadId: string
  verdict: CampaignVerdict
  baseHash: string | null
  resultHash: string | null
  isProduction: boolean
  wave: number | null
}

/** Hash everything that an approval of a plan covers: whatever changes one of these makes another plan. */
export function hashPlan(bound: {
  /** Anything that identifies what the campaign carries; the planner gives the change as JSON. */
  changeHash: string
  rules: CampaignRules
  policyHash: string
  targets: readonly BoundTarget[]
}): string {
  const { waves, limits, maxInFlight, catchUpSeconds, windows, retryQuarantined } = bound.rules
  const targets = [...bound.targets]
    .sort((a, b) => (a.workloadId < b.workloadId ? -1 : 1))
    .map(({ workloadId, verdict, baseHash, resultHash, isProduction, wave }) => [
      ...[workloadId, verdict, baseHash, resultHash, isProduction, wave],
    ])
  return configHash(
    JSON.stringify([
      'muster-campaign-plan.v1',
      bound.changeHash,
      ...[waves, limits, maxInFlight, catchUpSeconds, windows, retryQuarantined],
      bound.policyHash,
      targets,
    ]),
  )
}
