import {
  type ApprovalClass,
  type ApprovalPolicy,
  type ApprovalRule,
  approvalClassOf,
  stricterRule,
} from '../model/approval-policy.ts'
import type { ProductionFacts } from '../model/production.ts'
import { type Grant, isHeldOn } from '../model/scopes.ts'
import { type GivenVote, listApprovalVotes } from '../store/approval-votes.ts'
import type { Approval } from '../store/approvals.ts'
import type { AskedText } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { listKeptClasses } from '../store/reviews.ts'
import { listAuthorsOfTexts } from '../store/text-authors.ts'
import { readApprovalCases } from './approval-case.ts'
import { readApprovalPolicy } from './approval-policy.ts'
import { type ApprovalCase, type ApprovalJudgement, judgeApprovals } from './judge-approvals.ts'

/** A request with everything that decides whether it is approved. */
export interface ApprovalStanding {
  approvalClass: ApprovalClass
  asked: ApprovalCase
  votes: readonly GivenVote[]
  judgement: ApprovalJudgement
}

/** What decides how a request is judged: of one that is stored, or of one that somebody might make. */
export type JudgedRequest = Pick<
  Approval,
  'id' | 'workloadId' | 'draftHash' | 'requesterId' | 'targetGroup' | 'targetEnv' | 'prodTarget' | 'createdAt'
>

type Labels = Pick<ProductionFacts, 'labels' | 'trustedLabels'>

/**
 * The approval class of a request whose workload has these labels. One that was for production when it was made stays
 * so.
 */
export function classOfRequest(approval: JudgedRequest, labels: Labels): ApprovalClass {
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
  approval: JudgedRequest,
  labels: Labels,
  now: Date,
  alsoAsking: readonly string[] = [],
): Promise<ApprovalStanding> {
  const [standing] = await readStandings(tx, [approval], { labelsOf: () => labels, now, alsoAsking })
  return standing!
}

/** Read the same of several requests, in their order. */
export async function readStandings(
  tx: Db,
  approvals: readonly JudgedRequest[],
  { labelsOf, now, alsoAsking }: Around,
): Promise<ApprovalStanding[]> {
  if (approvals.length === 0) return []
  const { policy } = await readApprovalPolicy(tx)
  const ids = approvals.map(({ id }) => id)
  const votes = await listApprovalVotes(tx, ids)
  const workloadIds = [...new Set(approvals.map(({ workloadId }) => workloadId))]
  const kept = await listKeptClasses(tx, workloadIds)
  const authorsOf = await listAuthorsOfTexts(tx, approvals.map(toAskedText))
  const changes = approvals.map((approval) => {
    const labels = labelsOf(approval)
    const approvalClass = classOfRequest(approval, labels)
    const authors = authorsOf(approval.id)
    return {
      approvalClass,
      rule: ruleOfRequest(policy, approvalClass, kept.get(approval.workloadId)),
      authors: authors.all,
      askers: authors.own,
      requestedAt: approval.createdAt,
      given: votes.filter(({ approvalId }) => approvalId === approval.id),
      alsoAsking,
      covers: (grants: readonly Grant[]) => isHeldOn(grants, 'config:approve', labels.trustedLabels),
    }
  })
  const cases = await readApprovalCases(tx, changes, now)
  return cases.map((asked, at) => ({
    approvalClass: changes[at]!.approvalClass,
    asked,
    votes: changes[at]!.given,
    judgement: judgeApprovals(asked),
  }))
}

/** The text that a request asks for. */
export const toAskedText = (approval: JudgedRequest): AskedText => ({
  key: approval.id,
  hash: approval.draftHash,
  askers: [approval.requesterId],
  textSetters: [approval.requesterId],
  places: [approval.workloadId],
  at: approval.createdAt,
  request: approval.id,
})

/** What requests are judged by beside what is stored of them. */
interface Around {
  labelsOf: (approval: Pick<Approval, 'workloadId'>) => Labels
  now: Date
  alsoAsking: readonly string[]
}
