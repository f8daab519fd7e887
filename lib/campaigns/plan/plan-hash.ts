import { createHash } from 'node:crypto'
import type { ApprovalPolicy } from '../../model/approval-policy.ts'
import { sortedJson } from '../../model/sorted-json.ts'
import type { CampaignRules } from '../../store/campaigns.ts'
import { inTurns, sortInTurns } from '../../turns.ts'
import type { CampaignVerdict } from '../../wire/campaigns.ts'
import { PLAN_TURN } from './turn.ts'

/** The facts of a target that an approval of the plan covers. */
export interface BoundTarget {
  workloadId: string
  verdict: CampaignVerdict
  baseHash: string | null
  /** What it reported to run, where that stands for a base that it does not have; see `hashPlan`. */
  reportedHash?: string | null
  resultHash: string | null
  isProduction: boolean
  wave: number | null
}

/**
 * Hash everything that an approval of a plan covers: whatever changes one of these makes another plan. What is reported
 * counts where there is no base, since whoever approves is shown what of it goes away. It counts as it was when the plan
 * was made, by the hash of its normal form: a workload that writes the same config otherwise, or reports through another
 * port of its supervisor, leaves a plan as it is. What is reported later does not end an approval, for it changes by
 * itself and the result that was approved stays the same; a new plan shows it.
 */
export async function hashPlan(bound: {
  /** Anything that identifies what the campaign carries; the planner gives the change as JSON. */
  changeHash: string
  rules: CampaignRules
  policyHash: string
  /** The approval policy in force when the plan was made. */
  approvalPolicy: ApprovalPolicy
  targets: readonly BoundTarget[]
}): Promise<string> {
  const { changeHash, rules, policyHash, approvalPolicy } = bound
  const head = sortedJson(['muster-campaign-plan.v2', changeHash, rules, policyHash, approvalPolicy])
  // The SHA-256 of one JSON list, the last item of which is the list of the targets, piece by piece.
  const hash = createHash('sha256').update(`${head.slice(0, -1)},[`)
  const targets = await sortInTurns(bound.targets, PLAN_TURN, (a, b) =>
    a.workloadId < b.workloadId ? -1 : 1,
  )
  let comma = ''
  for await (const some of inTurns(targets, PLAN_TURN)) {
    const rows = some.map(
      ({ workloadId, verdict, baseHash, resultHash, isProduction, wave, reportedHash }) => [
        ...[workloadId, verdict, baseHash, resultHash, isProduction, wave],
        ...(reportedHash ? [reportedHash] : []),
      ],
    )
    hash.update(`${comma}${JSON.stringify(rows).slice(1, -1)}`)
    comma = ','
  }
  return hash.update(']]').digest('hex')
}
