import { readApprovalPolicy } from '../../lib/changes/approval-policy.ts'
import { type ApprovalSurroundings, toApprovalRecord } from '../../lib/changes/approval-record.ts'
import { classOfRequest, readStanding, ruleOfRequest } from '../../lib/changes/approval-standing.ts'
import { labelsSince } from '../../lib/changes/reviews.ts'
import type { ApprovalClass, ApprovalPolicy, ApprovalRule } from '../../lib/model/approval-policy.ts'
import { rolesWith } from '../../lib/model/permissions.ts'
import { listApprovalVotes, readApprovers } from '../../lib/store/approval-votes.ts'
import { type Approval, listApprovalComments } from '../../lib/store/approvals.ts'
import { listPushesById, listRollbacksOf } from '../../lib/store/pushes.ts'
import { listKeptClasses } from '../../lib/store/reviews.ts'
import type { ApprovalRecord } from '../../lib/wire/approvals.ts'
import type { Context } from '../../runtime/context.ts'
import { currentStateOf } from '../workloads/push-targets-of.ts'

/** A request with what its record shows beside it. */
export interface ShownApproval {
  approval: Approval
  around: ApprovalSurroundings
}

/** Requests with what was said about them and what became of them, in their order. */
export async function withSurroundings(
  ctx: Context,
  approvals: readonly Approval[],
): Promise<ShownApproval[]> {
  const ids = approvals.map(({ id }) => id)
  const comments = ids.length === 0 ? [] : await listApprovalComments(ctx.db, ids)
  const votes = ids.length === 0 ? [] : await listApprovalVotes(ctx.db, ids)
  const { policy } = await readApprovalPolicy(ctx.db, ctx.clock.now())
  const { count, hadTwo } = await readApprovers(ctx.db, rolesWith('config:approve'))
  const isSole = count < 2 && !hadTwo
  const workloadIds = [...new Set(approvals.map(({ workloadId }) => workloadId))]
  const kept = await listKeptClasses(ctx.db, workloadIds, labelsSince(ctx.clock.now()))
  const pushIds = approvals.flatMap(({ pushId }) => pushId ?? [])
  const pushes = new Map(
    (pushIds.length === 0 ? [] : await listPushesById(ctx.db, pushIds)).map((push) => [push.pushId, push]),
  )
  const failedIds = [...pushes.values()].flatMap((push) => (push.status === 'failed' ? push.pushId : []))
  const answers = failedIds.length === 0 ? null : await listRollbacksOf(ctx.db, failedIds)
  return approvals.map((approval) => {
    const workload = ctx.fleet.workload(approval.workloadId)
    const stored = pushes.get(approval.pushId ?? '') ?? null
    const push = stored === null || workload === null ? stored : currentStateOf(workload, stored)
    const answer = push === null ? null : (answers?.get(push.pushId) ?? null)
    return {
      approval,
      around: {
        comments: comments.filter(({ approvalId }) => approvalId === approval.id),
        votes: votes.filter(({ approvalId }) => approvalId === approval.id),
        rule: ruleOf(ctx, approval, policy, kept.get(approval.workloadId) ?? [], isSole),
        push,
        aftermath: push === null || workload === null ? null : ctx.views.aftermath(workload, push, answer),
      },
    }
  })
}

/** What the policy asks of a request that waits to be approved or pushed; null for any other. */
function ruleOf(
  ctx: Context,
  approval: Approval,
  policy: ApprovalPolicy,
  kept: readonly ApprovalClass[],
  isSole: boolean,
): ApprovalRule | null {
  if (approval.status !== 'pending' && approval.status !== 'approved') return null
  const rule = ruleOfRequest(policy, classOfRequest(approval, labelsOf(ctx, approval)), kept)
  return { ...rule, authorCounts: rule.authorCounts || isSole }
}

function labelsOf(ctx: Context, { workloadId }: Approval) {
  const { labels, trustedLabels } = ctx.fleet.workload(workloadId) ?? { labels: {}, trustedLabels: {} }
  return { labels, trustedLabels }
}

/** Whether the approvals of an approved request are not enough any more. */
async function isShort(ctx: Context, approval: Approval): Promise<boolean> {
  if (approval.status !== 'approved') return false
  const standing = await readStanding(ctx.db, approval, labelsOf(ctx, approval), ctx.clock.now())
  return !standing.judgement.isEnough
}

/** One request as the wire shows it. */
export async function readApproval(ctx: Context, approval: Approval): Promise<ApprovalRecord> {
  const [found] = await withSurroundings(ctx, [approval])
  return toApprovalRecord(approval, found!.around, await isShort(ctx, approval))
}
