import { shownStatus } from '../fleet/decide/rollout-standing.ts'
import { judgeOutcome } from '../model/push-outcome.ts'
import { retiredByPush } from '../model/retired-by.ts'
import type { GivenVote } from '../store/approval-votes.ts'
import type { Approval, ApprovalWithDraft, Retirement } from '../store/approvals.ts'
import type { Comment } from '../store/comments.ts'
import type { Push } from '../store/pushes.ts'
import type { StoredRollout } from '../store/rollouts.ts'
import type {
  ApprovalOutcome,
  ApprovalRecord,
  ApprovalRetirement,
  ApprovalStep,
  ApprovalSummary,
} from '../wire/approvals.ts'
import type { PushAftermath } from '../wire/revisions.ts'
import type { ApprovalStanding } from './approval-standing.ts'
import { tallyOf } from './judge-approvals.ts'
import { endOfRequest } from './request-end.ts'

/** What a request's record is made of beside the request itself. */
export interface ApprovalSurroundings {
  comments: readonly Comment[]
  votes: readonly Pick<GivenVote, 'userId' | 'email' | 'comment' | 'at' | 'soleApprover' | 'isOvertaken'>[]
  /** How the request stands by the policy as it is now; null once it was pushed or closed. */
  standing: Pick<ApprovalStanding, 'approvalClass' | 'asked' | 'judgement' | 'votes'> | null
  /** It lacks an approval, and nobody's would count as things stand. */
  isStuck: boolean
  /** Who is shown it. */
  userId: string
  /** The push that it became, as it stands now; null for one that was not pushed. */
  push: Push | null
  /** How the stages of that push stand; null where it has none, or they are over. */
  rollout: StoredRollout | null
  /** What was done about that push where it failed. */
  aftermath: PushAftermath | null
  /** What took its place; null for one that was not retired, or where that is not known. */
  retirement: Retirement | null
}

/** A request as the wire shows it to those who may request configs. It holds YAML. */
export const toApprovalRecord = (
  approval: ApprovalWithDraft,
  around: ApprovalSurroundings,
): ApprovalRecord => ({ ...toApprovalSummary(approval, around), draft_yaml: approval.draftYaml })

/** The same without the draft, for lists of many. */
export function toApprovalSummary(approval: Approval, around: ApprovalSurroundings): ApprovalSummary {
  const { approver, approvalComment, approvedAt, pushComment, pushId, configHash, pushedAt } = approval
  const { closedBy, closedAt, closeComment } = approval
  return {
    id: approval.id,
    workload_id: approval.workloadId,
    draft_hash: approval.draftHash,
    ...(approval.baseConfigHash === null ? {} : { base_config_hash: approval.baseConfigHash }),
    target_group: approval.targetGroup,
    target_env: approval.targetEnv,
    requester: approval.requester,
    request_comment: approval.requestComment,
    status: approval.status,
    ...(approver === null ? {} : { approver, approved_by: approver }),
    ...(approvalComment === null ? {} : { approval_comment: approvalComment }),
    ...(approvedAt === null ? {} : { approved_at: approvedAt.toISOString() }),
    ...(approver === null ? {} : { self_approved: isSelfApproved(approval, around.votes) }),
    approvals: around.votes.map((vote) => toGiven(approval, vote)),
    ...(around.standing === null ? {} : toProgress(approval, around.standing, around.userId)),
    ...(around.isStuck ? { nobody_can_approve: true as const } : {}),
    prod_target: approval.prodTarget,
    prod_confirmation: approval.prodConfirmation,
    prod_double_confirmed: approval.prodDoubleConfirmed,
    break_glass: approval.breakGlass,
    ...(approval.breakGlassReason === null ? {} : { break_glass_reason: approval.breakGlassReason }),
    ...(pushComment === null ? {} : { push_comment: pushComment }),
    ...(configHash === null ? {} : { config_hash: configHash }),
    ...(pushId === null ? {} : { push_id: pushId }),
    ...(pushedAt === null ? {} : { pushed_at: pushedAt.toISOString() }),
    ...(approval.risk === null ? {} : { risk: approval.risk }),
    ...(around.push === null ? {} : { outcome: toOutcome(around.push, around) }),
    ...(closedBy === null ? {} : { closed_by: closedBy }),
    ...(closedAt === null ? {} : { closed_at: closedAt.toISOString() }),
    ...(closeComment === null ? {} : { close_comment: closeComment }),
    ...(around.retirement === null ? {} : { retired_by: toRetirement(around.retirement) }),
    timeline: toTimeline(approval, around),
    created_at: approval.createdAt.toISOString(),
    updated_at: approval.updatedAt.toISOString(),
  }
}

/** How far a request is approved that waits to be approved or pushed. */
function toProgress(
  approval: Approval,
  standing: NonNullable<ApprovalSurroundings['standing']>,
  userId: string,
): Partial<ApprovalSummary> {
  const { rule, isEnough } = standing.judgement
  return {
    ends_at: endOfRequest(approval, standing).toISOString(),
    ...(approval.status === 'approved' && !isEnough ? { approvals_short: true as const } : {}),
    approval_class: standing.approvalClass,
    approvals_needed: rule.approvals,
    author_counts: rule.authorCounts || standing.asked.isSoleApprover,
    tally: tallyOf(standing, userId),
  }
}

const isSelfApproved = (
  { approverId, requesterId }: Approval,
  votes: ApprovalSurroundings['votes'],
): boolean => approverId === requesterId || votes.some(({ userId }) => userId === requesterId)

const isOpen = ({ status }: Approval): boolean => status === 'pending' || status === 'approved'

const toGiven = (
  approval: Approval,
  { email, at, comment, soleApprover, isOvertaken }: ApprovalSurroundings['votes'][number],
) => ({
  by: email,
  at: at.toISOString(),
  comment,
  ...(soleApprover ? { sole_approver: true as const } : {}),
  ...(isOvertaken && isOpen(approval) ? { overtaken: true as const } : {}),
})

function toRetirement({ newerId, push, ...of }: Retirement): ApprovalRetirement {
  if (push === null) return { what: 'request', ...(newerId === null ? {} : { approval_id: newerId }) }
  const { approvalId, campaignId, pushId } = push
  const name = of.campaignName ?? of.fleetConfigName
  return {
    what: retiredByPush(push),
    push_id: pushId,
    ...(approvalId === null ? {} : { approval_id: approvalId }),
    ...(campaignId === null ? {} : { campaign_id: campaignId }),
    ...(of.fleetConfigId === null ? {} : { fleet_config_id: of.fleetConfigId }),
    ...(of.versionNumber === null ? {} : { version: of.versionNumber }),
    ...(name === null ? {} : { name }),
  }
}

function toOutcome(
  push: Push,
  { aftermath, rollout }: Pick<ApprovalSurroundings, 'aftermath' | 'rollout'>,
): ApprovalOutcome {
  return {
    status: push.status,
    phase: push.phase,
    outcome: judgeOutcome(push),
    ...(rollout === null ? {} : { rollout_status: shownStatus(rollout) }),
    target_count: push.counts.target,
    applied_count: push.counts.applied,
    failed_count: push.counts.failed,
    ...(aftermath === null ? {} : { aftermath }),
  }
}

function toTimeline(approval: Approval, { comments, votes, push }: ApprovalSurroundings): ApprovalStep[] {
  const steps: ApprovalStep[] = []
  const add = (
    what: ApprovalStep['what'],
    at: Date | null,
    who: string | null | undefined,
    comment: string | null,
    isByToken = false,
  ) => {
    if (at === null) return
    steps.push({
      at: at.toISOString(),
      what,
      ...(who ? { who } : {}),
      ...(isByToken ? { by_token: true } : {}),
      ...(comment === null || comment === '' ? {} : { comment }),
    })
  }
  add('requested', approval.createdAt, approval.requester, approval.requestComment)
  for (const { createdAt, author, body, isByToken } of comments)
    add('commented', createdAt, author, body, isByToken)
  for (const { at, email, comment } of votes) add('approved', at, email, comment)
  // A request from before votes were stored has only its last approval.
  if (votes.length === 0) add('approved', approval.approvedAt, approval.approver, approval.approvalComment)
  const { status, closedAt, closedBy, closeComment } = approval
  if (status === 'rejected' || status === 'withdrawn' || status === 'retired')
    add(status, closedAt, closedBy, closeComment)
  add(
    approval.breakGlass ? 'break_glass_pushed' : 'pushed',
    approval.pushedAt,
    push?.pushedBy,
    approval.breakGlassReason ?? approval.pushComment,
  )
  return steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}
