import { configHash } from '../../model/config-hash.ts'
import type { CampaignRules } from '../../store/campaigns.ts'
import type { CampaignVerdict } from '../../wire/campaigns.ts'

/** What an approval binds of each target. */
export interface BoundTarget {
  workloadId: string
  verdict: CampaignVerdict
  baseHash: string | null
  resultHash: string | null
  isProduction: boolean
  wave: number | null
}

/** Hash everything that whoever approves a plan approves; a change of any of it makes another plan. */
export function hashPlan(bound: {
  /** Of what is carried to the workloads. */
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
