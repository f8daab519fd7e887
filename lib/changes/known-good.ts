import type { AuditFailure } from '../audit/delivery.ts'
import type { ConfigTarget } from '../configs/check/target.ts'
import type { StillMay } from '../identity/still-may.ts'
import { findContent } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { clearKnownGood, findKnownGood, type KnownGood, setKnownGood } from '../store/known-good.ts'
import { findNewestPushOfHash, wasEverApplied, wasEverApproved } from '../store/pushes.ts'
import { lockWorkload } from '../store/workloads.ts'
import type { KnownGoodRecord } from '../wire/rollback.ts'
import { type ApprovalActor, type ApprovalParts, checkDraft, type DraftRefusal } from './approval-parts.ts'
import { mayBringBack } from './approved-as-now.ts'
import { noteUnreviewed } from './reviews.ts'

/** A pin as it comes in. */
export interface PinRequest {
  workloadId: string
  hash: string
  actor: ApprovalActor
  stillMay: StillMay
  replaceReason: string
  /** The hash of the pin that the caller saw; '' for none; null when the caller does not say. */
  ifCurrent: string | null
  isForced: boolean
}

/** What came of pinning a config. */
export type PinOutcome =
  | { ok: true; isFirst: boolean; hasChanged: boolean; pin: KnownGood }
  | {
      ok: false
      code:
        | 'out-of-scope'
        | 'workload-not-found'
        | 'revision-not-found'
        | 'workload-archived'
        | 'approved-for-less'
        | 'config-not-applied'
        | 'config-not-approved'
        | 'config-content-unavailable'
    }
  | { ok: false; code: 'known-good-conflict'; currentHash: string }
  | DraftRefusal
  | AuditFailure

/** Whether the pin in force is the one that the caller expects. A caller who says nothing replaces no other pin. */
function isExpected(current: KnownGood | null, request: PinRequest): boolean {
  if (request.isForced) return true
  const hash = current?.hash ?? ''
  return request.ifCurrent === null ? hash === '' || hash === request.hash : hash === request.ifCurrent
}

/** Pin the config that a workload goes back to when a push fails. */
export async function markKnownGood(parts: ApprovalParts, request: PinRequest): Promise<PinOutcome> {
  const { workloadId, hash } = request
  const target = await parts.configTargets.find(workloadId)
  const workload = parts.fleet.workload(workloadId)
  if (target === null || workload === null) return { ok: false, code: 'workload-not-found' }
  if (workload.archivedAt !== null) return { ok: false, code: 'workload-archived' }
  const db = await parts.db.upToDate()
  const fit = await judgePin(db, workloadId, hash)
  if (!fit.ok) return fit
  const content = await findContent(db, hash)
  if (content === null) return { ok: false, code: 'config-content-unavailable' }
  const checked = await checkDraft(parts, content.body, target)
  if (!checked.ok) return checked
  const outcome = await pin(parts, target, request)
  if (!outcome.ok && outcome.code === 'known-good-conflict') {
    const recorded = await parts.db.observe({
      action: 'config.known_good.conflict',
      actor: request.actor,
      resource: 'workload',
      resourceId: workloadId,
      configHash: hash,
      detail: JSON.stringify({
        result: 'conflict',
        target_hash: hash,
        current_known_good: outcome.currentHash,
        ...preconditionsOf(request),
        side_effect: 'none',
      }),
    })
    if (!recorded.ok) return recorded
  }
  return outcome
}

/** Whether the history of a workload allows to pin this config. */
async function judgePin(
  db: Db,
  workloadId: string,
  hash: string,
): Promise<
  | { ok: true; appliedAt: Date }
  | { ok: false; code: 'revision-not-found' | 'config-not-applied' | 'config-not-approved' }
> {
  const newest = await findNewestPushOfHash(db, workloadId, hash)
  if (newest === null) return { ok: false, code: 'revision-not-found' }
  // A config that was applied once and failed at its newest push is none to go back to.
  if (newest.status === 'failed' || !(await wasEverApplied(db, workloadId, hash)))
    return { ok: false, code: 'config-not-applied' }
  if (!(await wasEverApproved(db, workloadId, hash))) return { ok: false, code: 'config-not-approved' }
  return { ok: true, appliedAt: newest.appliedAt ?? newest.submittedAt }
}

/** What the caller said about the pin that he replaces, for the audit log. */
const preconditionsOf = ({ ifCurrent, isForced, replaceReason }: PinRequest) => ({
  ...(ifCurrent === null ? {} : { if_current_known_good: ifCurrent }),
  force: isForced,
  replace_reason: replaceReason,
})

/** Store the pin. What may have changed since the checks is judged again under the row lock of the workload. */
function pin(parts: ApprovalParts, target: ConfigTarget, request: PinRequest): Promise<PinOutcome> {
  const { workloadId, hash, actor } = request
  return parts.fleet.pinKnownGood<PinOutcome>(workloadId, hash, actor, async (tx) => {
    const row = await lockWorkload(tx, workloadId)
    if (row === null) return { ok: false, code: 'workload-not-found' }
    if (!(await request.stillMay(tx, [workloadId]))) return { ok: false, code: 'out-of-scope' }
    if (row.archivedAt !== null) return { ok: false, code: 'workload-archived' }
    const fit = await judgePin(tx, workloadId, hash)
    if (!fit.ok) return fit
    if (!(await mayBringBack(parts, tx, actor, target, hash))) return { ok: false, code: 'approved-for-less' }
    const current = await findKnownGood(tx, workloadId)
    if (!isExpected(current, request))
      return { ok: false, code: 'known-good-conflict', currentHash: current?.hash ?? '' }
    const hasChanged = current?.hash !== hash
    const next: KnownGood = hasChanged
      ? {
          workloadId,
          hash,
          markedAt: parts.clock.now(),
          markedBy: actor.email,
          sourceAppliedAt: fit.appliedAt,
          replacedHash: current?.hash ?? null,
          replaceReason: request.replaceReason === '' ? null : request.replaceReason,
        }
      : current
    if (hasChanged) {
      await setKnownGood(tx, next)
      await noteUnreviewed(parts, tx, actor, {
        kind: 'known_good',
        workloadId,
        configHash: hash,
        reason: request.replaceReason,
      })
    }
    await tx.record({
      action: 'config.known_good.mark',
      resource: 'workload',
      resourceId: workloadId,
      configHash: hash,
      detail: JSON.stringify({
        result: hasChanged ? 'marked' : 'unchanged',
        changed: hasChanged,
        target_hash: hash,
        previous_known_good: current?.hash ?? '',
        replaced_config_id: hasChanged ? (next.replacedHash ?? '') : '',
        source_applied_at: next.sourceAppliedAt?.toISOString() ?? '',
        ...preconditionsOf(request),
        side_effect: hasChanged ? 'known_good_set' : 'none',
      }),
    })
    return { ok: true, isFirst: current === null, hasChanged, pin: next }
  })
}

/** What came of removing a pin. */
export type UnpinOutcome =
  | { ok: true }
  | { ok: false; code: 'out-of-scope' | 'workload-not-found' | 'workload-archived' }
  | AuditFailure

/** Remove the pin of a workload; succeeds also where there is none. */
export async function clearPin(
  parts: ApprovalParts,
  request: { workloadId: string; actor: ApprovalActor; stillMay: StillMay },
): Promise<UnpinOutcome> {
  const { workloadId, actor } = request
  const workload = parts.fleet.workload(workloadId)
  if (workload === null) return { ok: false, code: 'workload-not-found' }
  if (workload.archivedAt !== null) return { ok: false, code: 'workload-archived' }
  return parts.fleet.pinKnownGood<UnpinOutcome>(workloadId, null, actor, async (tx) => {
    if ((await lockWorkload(tx, workloadId)) === null) return { ok: false, code: 'workload-not-found' }
    if (!(await request.stillMay(tx, [workloadId]))) return { ok: false, code: 'out-of-scope' }
    const former = await findKnownGood(tx, workloadId)
    await clearKnownGood(tx, workloadId)
    await tx.record({
      action: 'config.known_good.clear',
      resource: 'workload',
      resourceId: workloadId,
      ...(former === null ? {} : { configHash: former.hash }),
      detail: JSON.stringify({ result: former === null ? 'unchanged' : 'cleared' }),
    })
    return { ok: true }
  })
}

/** A pin as the wire shows it. */
export function toKnownGoodRecord(pin: KnownGood): KnownGoodRecord {
  return {
    workload_id: pin.workloadId,
    config_id: pin.hash,
    marked_at: pin.markedAt.toISOString(),
    marked_by: pin.markedBy,
    ...(pin.sourceAppliedAt === null ? {} : { source_applied_at: pin.sourceAppliedAt.toISOString() }),
    ...(pin.replacedHash === null ? {} : { replaced_config_id: pin.replacedHash }),
    ...(pin.replaceReason === null ? {} : { replace_reason: pin.replaceReason }),
    content_available: true,
  }
}
