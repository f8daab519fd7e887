import {
  type ApprovalClass,
  type ApprovalPolicy,
  type ApprovalRule,
  approvalClassOf,
  stricterRule,
} from '../model/approval-policy.ts'
import type { ProductionFacts } from '../model/production.ts'
import { type ApprovalVote, listApprovalVotes, listAuthors } from '../store/approval-votes.ts'
import type { Approval } from '../store/approvals.ts'
import type { Db } from '../store/db.ts'
import { listKeptClasses } from '../store/reviews.ts'
import { readApprovalCase } from './approval-case.ts'
import { readApprovalPolicy } from './approval-policy.ts'
import { type ApprovalCase, type ApprovalJudgement, judgeApprovals } from './judge-approvals.ts'
import { labelsSince } from './reviews.ts'

/** A request with everything that decides whether it is approved. */
export interface ApprovalStanding {
  asked: ApprovalCase
  votes: readonly ApprovalVote[]
  judgement: ApprovalJudgement
}

type Labels = Pick<ProductionFacts, 'labels' | 'trustedLabels'>

/**
 * The approval class of a request whose workload has these labels. One that was for production when it was made stays
 * so.
 */
export function classOfRequest(approval: Approval, labels: Labels): ApprovalClass {
  const { prodTarget, targetEnv, targetGroup } = approval
  if (prodTarget) return 'production'
  return approvalClassOf({ targetEnv, targetGroup, ...labels })
}

/**
 * The rule for a request: in each point the strictest of what the policy asks of its class and of the classes that its
 * workload had before its labels were changed (`kept`).
 */
export const ruleOfRequest = (
  policy: ApprovalPolicy,
  ofRequest: ApprovalClass,
  kept: readonly ApprovalClass[] = [],
): ApprovalRule => kept.map((name) => policy[name]).reduce(stricterRule, policy[ofRequest])

/**
 * Read whether a request is approved by the policy as it is now; `alsoAsking` are users who have not approved and want
 * to.
 */
export async function readStanding(
  tx: Db,
  approval: Approval,
  labels: Labels,
  now: Date,
  alsoAsking: readonly string[] = [],
): Promise<ApprovalStanding> {
  const { policy } = await readApprovalPolicy(tx, now)
  const votes = await listApprovalVotes(tx, [approval.id])
  const kept = (await listKeptClasses(tx, [approval.workloadId], labelsSince(now))).get(approval.workloadId)
  const rule = ruleOfRequest(policy, classOfRequest(approval, labels), kept)
  const authors = await listAuthors(tx, approval.draftHash)
  const change = { rule, authors, requestedAt: approval.createdAt, given: votes, alsoAsking }
  const asked = await readApprovalCase(tx, change, now)
  return { asked, votes, judgement: judgeApprovals(asked) }
}
