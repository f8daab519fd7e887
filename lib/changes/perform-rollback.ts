import type { AuditFailure } from '../audit/delivery.ts'
import type { ConfigTarget } from '../configs/check/target.ts'
import type { StillMay } from '../identity/still-may.ts'
import { refuse } from '../model/refusal.ts'
import { type ConfigContent, findContent } from '../store/config-contents.ts'
import { findNewestPushOfHash, type Push, wasEverApplied, wasEverApproved } from '../store/pushes.ts'
import type { PolicyFinding } from '../wire/policy.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  type DraftRefusal,
  readComment,
  type TextRefusal,
} from './approval-parts.ts'
import { mayBringBack } from './approved-as-now.ts'
import { holdAfter } from './hold-after.ts'
import { type ObstacleRefusal, refuseObstructed } from './obstacle-refusal.ts'
import { encodeRequestId } from './request-id.ts'
import { noteUnreviewed } from './reviews.ts'
import { checkRollback, refuseWorkload, type WorkloadRefusal } from './rollback-target.ts'

/** How the config that a rollback goes back to was chosen. */
export type TargetKind = 'hash' | 'last_known_good' | 'previous'

/** A rollback that has begun. */
export interface RollbackDone {
  ok: true
  push: Push
  targetKind: TargetKind
  requestId: string
  policyFindings: readonly PolicyFinding[]
}

/** A rollback as it comes in. */
interface Asked {
  workloadId: string
  /** Why; empty where nobody said. */
  comment: string
  actor: ApprovalActor
  stillMay: StillMay
}

/** What came of asking for a rollback. */
export type RollbackOutcome =
  | RollbackDone
  | { ok: false; code: 'workload-not-found' | 'target-not-found' | 'target-content-unavailable' }
  | { ok: false; code: 'target-not-applied'; targetStatus: string }
  | { ok: false; code: 'approved-for-less' | 'no-rollback-target' | 'out-of-scope' | 'target-not-approved' }
  | WorkloadRefusal
  | ObstacleRefusal
  | DraftRefusal
  | TextRefusal
  | AuditFailure

/** Longest comment, in UTF-16 units: with everything else it fits into the detail of one record of the audit log. */
const COMMENT_LENGTH_MAX = 1_000

/**
 * Push an earlier config of a workload again, one that was applied and approved there before. A push that is pending is
 * superseded.
 */
export async function rollBackToHash(
  parts: ApprovalParts,
  request: Asked & { hash: string },
): Promise<RollbackOutcome> {
  const target = await parts.configTargets.find(request.workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  const db = await parts.db.upToDate()
  const newest = await findNewestPushOfHash(db, request.workloadId, request.hash)
  if (newest === null) return { ok: false, code: 'target-not-found' }
  if (!(await wasEverApplied(db, request.workloadId, request.hash)))
    return { ok: false, code: 'target-not-applied', targetStatus: newest.status }
  if (!(await wasEverApproved(db, request.workloadId, request.hash)))
    return { ok: false, code: 'target-not-approved' }
  const content = await findContent(db, request.hash)
  if (content === null) return { ok: false, code: 'target-content-unavailable' }
  return perform(parts, target, content, 'hash', request)
}

/** Go back to the pinned known-good config, or to what was applied before. */
export async function rollBackToDefault(parts: ApprovalParts, request: Asked): Promise<RollbackOutcome> {
  const target = await parts.configTargets.find(request.workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  const refused = await refuseWorkload(parts, target)
  if (refused !== null) return refused
  const found = await parts.fleet.findRollbackTarget(request.workloadId)
  if (found === null) return { ok: false, code: 'no-rollback-target' }
  const content = { hash: found.target.hash, body: found.body, components: found.used }
  return perform(parts, target, content, found.target.kind, request)
}

function readRollbackComment(given: string): ReturnType<typeof readComment> {
  const said = readComment(given, { isRequired: false })
  if (!said.ok || said.text.length <= COMMENT_LENGTH_MAX) return said
  return refuse('text-too-long', { field: 'comment', max: COMMENT_LENGTH_MAX, found: said.text.length })
}

async function perform(
  parts: ApprovalParts,
  target: ConfigTarget,
  content: ConfigContent,
  targetKind: TargetKind,
  { comment, actor, stillMay }: Asked,
): Promise<RollbackOutcome> {
  const said = readRollbackComment(comment)
  if (!said.ok) return said
  const refused = await refuseWorkload(parts, target)
  if (refused !== null) return refused
  const checked = await checkRollback(parts, target, content.body)
  if (!checked.ok) return checked
  const { workloadId } = target
  let requestId = ''
  const outcome = await parts.fleet.push<{ ok: false; code: 'approved-for-less' | 'out-of-scope' }>(
    {
      workloadId,
      hash: content.hash,
      body: content.body,
      used: checked.required,
      path: 'rollback',
      actor,
      approvalId: null,
      rollbackTargetKind: targetKind,
    },
    async (tx, push) => {
      if (!(await stillMay(tx, [workloadId]))) return { ok: false, code: 'out-of-scope' }
      if (!(await mayBringBack(parts, tx, actor, target, content.hash)))
        return { ok: false, code: 'approved-for-less' }
      requestId = encodeRequestId({
        workloadId,
        targetHash: content.hash,
        pushId: push.pushId,
        startedAt: push.submittedAt,
      })
      await noteUnreviewed(parts, tx, actor, {
        kind: 'rollback',
        workloadId,
        configHash: content.hash,
        pushId: push.pushId,
      })
      await holdAfter(parts, tx, { workloadId, actor, reason: said.text || 'rolled back on its own' })
      const detail = JSON.stringify({
        target_kind: targetKind,
        request_id: requestId,
        push_id: push.pushId,
        current_hash: target.activeConfigHash ?? '',
        target_hash: content.hash,
        ...(said.text === '' ? {} : { comment: said.text }),
        policy_rules: [...new Set(checked.findings.map((finding) => finding.rule_id))],
      })
      const on = { resource: 'workload', resourceId: workloadId, configHash: content.hash } as const
      await tx.record({ action: 'config.rollback', ...on, detail })
      return { ok: true }
    },
  )
  if (!outcome.ok) return outcome.code === 'obstructed' ? refuseObstructed(outcome) : outcome
  return { ok: true, push: outcome.push, targetKind, requestId, policyFindings: checked.findings }
}
