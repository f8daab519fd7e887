import type { ActTransaction } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { ComponentRef } from '../configs/check/components.ts'
import type { ConfigTarget } from '../configs/check/target.ts'
import { compareWithRunning } from '../configs/compare-running.ts'
import { riskOfPush } from '../configs/plan.ts'
import { policyForWorkload } from '../configs/policy/policy.ts'
import { findObstacle } from '../fleet/pushes/find-obstacle.ts'
import { toApprovalFrame } from '../hub/approval-frame.ts'
import type { StillMay } from '../identity/still-may.ts'
import { gitOwnerOf } from '../model/git-group.ts'
import { environmentOf } from '../model/labels.ts'
import { isProduction } from '../model/production.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import {
  type Approval,
  type ApprovalWithDraft,
  findApproval,
  lockApproval,
  markPushed,
  type StoredApprovalStatus,
} from '../store/approvals.ts'
import type { Db } from '../store/db.ts'
import type { StagePlan } from '../store/rollouts.ts'
import type { PushedRisk } from '../wire/approvals.ts'
import type { PolicyEvaluation } from '../wire/policy.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  checkDraft,
  type DraftRefusal,
  refuseTexts,
  type TextRefusal,
} from './approval-parts.ts'
import { classOfRequest, readStanding } from './approval-standing.ts'
import { tellOfBrokenGlass } from './broken-glass.ts'
import { holdAfter } from './hold-after.ts'
import { refuseUnapproved } from './judge-approvals.ts'
import { type ObstacleRefusal, refuseObstructed } from './obstacle-refusal.ts'

/** A push of a request as it comes in. */
export interface ApprovalPush {
  workloadId: string
  approvalId: string
  actor: ApprovalActor
  comment: string
  prodDoubleConfirmed: boolean
  breakGlass: boolean
  breakGlassReason: string
  /** Null for a push to all instances at once. */
  stages: readonly StagePlan[] | null
  stillMay: StillMay
}

/** What came of pushing a request. */
export type PushApprovalOutcome =
  | { ok: true; approval: Approval }
  | Refusal<
      | 'approval-already-pushed'
      | 'approval-expired'
      | 'approval-needs-another'
      | 'approval-not-found'
      | 'break-glass-reason-required'
      | 'out-of-scope'
      | 'production-double-confirmation-required'
      | 'remote-config-unsupported'
      | 'stage-empty'
      | 'workload-not-connected'
      | 'workload-not-found'
    >
  | ObstacleRefusal
  | TextRefusal
  | { ok: false; code: 'approval-required'; requestStatus: StoredApprovalStatus }
  | { ok: false; code: 'config-policy-blocked'; policy: PolicyEvaluation }
  | DraftRefusal
  | AuditFailure

type PushRefusal = Exclude<PushApprovalOutcome, { ok: true }>

/** The labels of the workload were changed, while the push was judged, so that it has to be judged again. */
type Moved = { ok: false; code: 'moved-meanwhile' }

/** How often a push is judged when labels change meanwhile; then it is refused as `server-busy`. */
const JUDGED_MOST = 3

/** Refuse a request whose status does not let it be pushed; breaking the glass takes a pending one as well. */
function refuseStatus(status: StoredApprovalStatus, isBreakGlass: boolean): PushRefusal | null {
  if (status === 'approved' || (status === 'pending' && isBreakGlass)) return null
  if (status === 'pushed' && isBreakGlass) return { ok: false, code: 'approval-already-pushed' }
  return { ok: false, code: 'approval-required', requestStatus: status }
}

/** Push an approved request, or by breaking the glass a pending one. The server's config policy can block both. */
export async function pushApproval(parts: ApprovalParts, wanted: ApprovalPush): Promise<PushApprovalOutcome> {
  const push = { ...wanted, comment: wanted.comment.trim(), breakGlassReason: wanted.breakGlassReason.trim() }
  const refusedText = refuseTexts({ comment: push.comment, break_glass_reason: push.breakGlassReason })
  if (refusedText !== null) return refusedText
  if (push.breakGlass && push.comment === '') return refuse('comment-required')
  if (push.breakGlass && push.breakGlassReason === '') return refuse('break-glass-reason-required')
  for (let judged = 0; judged < JUDGED_MOST; judged++) {
    const outcome = await judgeAndPush(parts, push)
    if (outcome.ok || outcome.code !== 'moved-meanwhile') return outcome
  }
  return { ok: false, code: 'server-busy' }
}

async function judgeAndPush(parts: ApprovalParts, push: ApprovalPush): Promise<PushApprovalOutcome | Moved> {
  const target = await parts.configTargets.find(push.workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  const approval = await findApproval(parts.db, push.workloadId, push.approvalId)
  if (approval === null) return { ok: false, code: 'approval-not-found' }
  const workload = parts.fleet.workload(push.workloadId)
  if (workload === null) return { ok: false, code: 'workload-not-found' }
  const wish = { workload, hash: approval.draftHash, ...pathOf(push, approval) }
  const found = await findObstacle(parts.db, parts.clock.now(), [wish])
  if (found !== null) return refuseObstructed(found)
  const prodTarget = approval.prodTarget || isProductionNow(approval, target)
  const refused = await refuseEarly(parts, push, approval, target, prodTarget)
  if (refused !== null) return refused
  const checked = await checkDraft(parts, approval.draftYaml, target)
  if (!checked.ok) return checked
  const blocked = await judgePolicy(parts, push, approval, target)
  if (blocked !== null) return blocked
  const risk = await judgeRisk(parts, approval, target)
  return commit(parts, push, approval, { prodTarget, target, required: checked.required, risk })
}

/** How risky the push is, for whoever looks later; null where nobody has time to tell, which holds up no push. */
async function judgeRisk(
  parts: ApprovalParts,
  { draftYaml: draft }: ApprovalWithDraft,
  target: ConfigTarget,
): Promise<PushedRisk | null> {
  const compared = await compareWithRunning(parts, target.workloadId, draft)
  if (!compared.ok) return null
  const { severity, reasons, reason_codes = [] } = riskOfPush({ draft, target, ...compared })
  return { severity, reasons, reason_codes, compared_with: compared.comparedWith }
}

type Labelled = Pick<ConfigTarget, 'labels' | 'trustedLabels'>

/** Everything in a workload's labels that decides how a request is judged. */
const standingOf = (approval: Approval, labelled: Labelled): string =>
  [
    isProductionNow(approval, labelled),
    classOfRequest(approval, labelled),
    environmentOf(labelled.trustedLabels, labelled.labels),
    // Whose approvals count here depends on any of them.
    JSON.stringify(Object.entries(labelled.trustedLabels).sort()),
  ].join('\n')

const isProductionNow = ({ targetEnv, targetGroup }: Approval, { labels, trustedLabels }: Labelled) =>
  isProduction({ targetEnv, targetGroup, labels, trustedLabels })

/**
 * The path of the push, and the owner in Git that the request comes from, whose requests `kept-in-git` does not keep.
 */
const pathOf = ({ breakGlass }: ApprovalPush, { targetGroup }: Approval) => ({
  path: breakGlass ? ('break-glass' as const) : ('request' as const),
  gitOwner: gitOwnerOf(targetGroup),
})

/**
 * Refuse what can be refused without checking the draft. `prodTarget` says that the request was for production when it
 * was made, or is so now.
 */
async function refuseEarly(
  parts: ApprovalParts,
  push: ApprovalPush,
  approval: Approval,
  target: ConfigTarget,
  prodTarget: boolean,
): Promise<PushRefusal | null> {
  if (prodTarget && push.comment === '') return refuse('comment-required')
  if (prodTarget && !push.prodDoubleConfirmed) return refuse('production-double-confirmation-required')
  const refused = refuseStatus(approval.status, push.breakGlass)
  if (refused !== null) return refused
  if (!target.acceptsRemoteConfig) return { ok: false, code: 'remote-config-unsupported' }
  const workload = parts.fleet.workload(push.workloadId)
  if (workload === null) return { ok: false, code: 'workload-not-found' }
  return (await parts.fleet.canTakeConfig(workload)) ? null : { ok: false, code: 'workload-not-connected' }
}

/** Refuse a draft that the server's config policy blocks; the block is recorded, without the draft's text. */
async function judgePolicy(
  parts: ApprovalParts,
  push: ApprovalPush,
  approval: ApprovalWithDraft,
  target: ConfigTarget,
): Promise<PushRefusal | null> {
  const current = await parts.configTargets.currentConfig(push.workloadId)
  const texts = { candidate: approval.draftYaml, current }
  const found = await parts.configs.policy(policyForWorkload(target, texts, approval, parts.config.policy))
  if (!found.ok) return found
  const { evaluation } = found
  if (evaluation.decision !== 'block') return null
  const recorded = await parts.db.observe({
    action: 'config.policy.block',
    actor: push.actor,
    resource: 'workload',
    resourceId: push.workloadId,
    configHash: approval.draftHash,
    detail: JSON.stringify({
      config_hash: approval.draftHash,
      environment: evaluation.target.environment ?? '',
      decision: evaluation.decision,
      severity: evaluation.severity,
      blocked_rules: [...new Set(evaluation.findings.map((finding) => finding.rule_id))],
      approval_id: approval.id,
      push_path: 'approval',
      break_glass: push.breakGlass,
      side_effect: 'none',
    }),
  })
  return recorded.ok ? { ok: false, code: 'config-policy-blocked', policy: evaluation } : recorded
}

/** What was found out about a push before it is made. */
interface Judged {
  prodTarget: boolean
  target: ConfigTarget
  required: readonly ComponentRef[]
  risk: PushedRisk | null
}

/** Write revision, targets, offers, assignment, request and audit record in one transaction; then tell browsers. */
async function commit(
  parts: ApprovalParts,
  push: ApprovalPush,
  approval: ApprovalWithDraft,
  { prodTarget, target, required, risk }: Judged,
): Promise<PushApprovalOutcome | Moved> {
  const { actor, breakGlass, workloadId } = push
  // Approvals are counted again: an approver may have lost the right, and the policy may ask for more.
  const refuseShortfall = async (tx: Db, locked: Approval): Promise<PushRefusal | null> => {
    if (breakGlass) return null
    const { judgement } = await readStanding(tx, { ...locked, prodTarget }, target, parts.clock.now())
    return judgement.isEnough ? null : refuseUnapproved(judgement)
  }
  let pushed: Approval | null = null
  const outcome = await parts.fleet.push<PushRefusal | Moved>(
    {
      workloadId,
      hash: approval.draftHash,
      body: approval.draftYaml,
      used: required,
      ...pathOf(push, approval),
      actor,
      approvalId: approval.id,
      rollbackTargetKind: null,
      stages: push.stages,
    },
    async (tx, { pushId }) => {
      const workload = parts.fleet.workload(workloadId)
      if (workload !== null && standingOf(approval, workload) !== standingOf(approval, target))
        return { ok: false, code: 'moved-meanwhile' }
      if (!(await push.stillMay(tx, [workloadId]))) return refuse('out-of-scope')
      const locked = await lockApproval(tx, approval.id)
      if (locked === null) return { ok: false, code: 'approval-not-found' }
      const refusal = refuseStatus(locked.status, breakGlass) ?? (await refuseShortfall(tx, locked))
      if (refusal !== null) return refusal
      const mark = { ...markOf(push, approval, prodTarget), risk, pushId, now: parts.clock.now() }
      pushed = await markPushed(tx, mark)
      await holdAfter(parts, tx, { workloadId, actor, reason: push.comment || 'pushed to on its own' })
      if (breakGlass)
        await tellOfBrokenGlass(parts, tx, actor, {
          push: { workloadId, hash: pushed.draftHash, pushId, approvalId: pushed.id },
          reason: push.breakGlassReason,
          approval: pushed,
        })
      await recordPush(tx, push, approval)
      const frame = toApprovalFrame(pushed)
      tx.afterCommit(() => {
        parts.hub.broadcast(frame)
        parts.counters.removeWaitingApproval(workloadId, approval.id)
      })
      return { ok: true }
    },
  )
  if (outcome.ok) return { ok: true, approval: pushed! }
  return outcome.code === 'obstructed' ? refuseObstructed(outcome) : outcome
}

/** What the request remembers of its push. */
const markOf = (push: ApprovalPush, approval: Approval, prodTarget: boolean) => ({
  id: approval.id,
  configHash: approval.draftHash,
  comment: push.comment,
  prodTarget,
  prodDoubleConfirmed: push.prodDoubleConfirmed,
  breakGlass: push.breakGlass,
  breakGlassReason: push.breakGlassReason === '' ? null : push.breakGlassReason,
})

function recordPush(
  tx: ActTransaction,
  { breakGlass, breakGlassReason, workloadId }: ApprovalPush,
  { id, draftHash }: Approval,
): Promise<void> {
  return tx.record({
    action: breakGlass ? 'config.approval.break_glass_push' : 'config.approval.push',
    resource: 'workload',
    resourceId: workloadId,
    configHash: draftHash,
    detail: breakGlass ? `${id}:${breakGlassReason}:${draftHash}` : `${id}:${draftHash}`,
  })
}
