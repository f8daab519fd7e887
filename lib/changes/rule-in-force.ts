import {
  type ApprovalPolicy,
  type ApprovalRule,
  classesThatDecide,
  isSameRule,
  ruleForMany,
} from '../model/approval-policy.ts'
import type { ApprovalRuleInForce } from '../wire/approvals.ts'

/** What decides which rule holds for a change of many workloads. */
export interface ManyFacts {
  productionCount: number
  /** Newcomers that it reaches by itself may be production; absent for a campaign, which has none. */
  mayReachProduction?: boolean
  /** A workload of it was production until its labels were changed, which nobody has confirmed. */
  keepsProduction: boolean
  /** Null where nobody has counted them. */
  unlabelledCount: number | null
}

/** The rule of a policy for a change of many workloads. */
export const ruleOfMany = (policy: ApprovalPolicy, facts: ManyFacts): ApprovalRule =>
  ruleForMany(policy, reachesProduction(facts))

const reachesProduction = ({
  productionCount,
  mayReachProduction = false,
  keepsProduction,
}: ManyFacts): boolean => productionCount > 0 || mayReachProduction || keepsProduction

/**
 * Say which rule a change of many workloads is approved by, and why. `applied` is the rule by which its approvals are
 * judged, which is stricter than that of the policy where one of them was given under a stricter policy.
 */
export function sayRuleInForce(
  policy: ApprovalPolicy,
  facts: ManyFacts,
  { applied, isSoleApprover }: { applied: ApprovalRule; isSoleApprover: boolean },
): ApprovalRuleInForce {
  const { approvals, authorCounts, validHours } = applied
  const because = classesThatDecide(policy, reachesProduction(facts)).map((name) =>
    whyOf(policy, facts, name),
  )
  if (!isSameRule(applied, ruleOfMany(policy, facts))) because.push({ why: 'given_before' })
  return {
    approvals,
    author_counts: authorCounts,
    ...(validHours === null ? {} : { valid_hours: validHours }),
    ...(isSoleApprover && !authorCounts ? { sole_approver: true } : {}),
    because,
  }
}

function whyOf(
  policy: ApprovalPolicy,
  { productionCount, mayReachProduction, unlabelledCount }: ManyFacts,
  name: 'production' | 'unlabelled' | 'other',
): ApprovalRuleInForce['because'][number] {
  if (name === 'production')
    return productionCount > 0
      ? { why: name, count: productionCount }
      : { why: mayReachProduction ? 'may_reach_production' : 'kept_production' }
  if (name === 'other') return { why: name }
  return {
    why: name,
    ...(unlabelledCount === null ? {} : { count: unlabelledCount }),
    ...(isSameRule(policy.unlabelled, policy.production) ? { like_production: true } : {}),
  }
}
