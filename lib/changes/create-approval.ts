import type { AuditFailure } from '../audit/delivery.ts'
import { randomHex } from '../ids.ts'
import { configHash } from '../model/config-hash.ts'
import { isProduction } from '../model/production.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { type Approval, insertApproval, type NewApproval, retirePendingApproval } from '../store/approvals.ts'
import { lockWorkload } from '../store/workloads.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  checkDraft,
  type DraftRefusal,
  refuseTexts,
  type TextRefusal,
} from './approval-parts.ts'
import { toApprovalFrame } from './approval-record.ts'
import { tellOfRequest } from './news.ts'

/** A request as it comes in. */
export interface ApprovalRequest {
  workloadId: string
  actor: ApprovalActor
  draftYaml: string
  targetGroup: string
  targetEnv: string
  comment: string
  prodConfirmation: boolean
}

/** What came of a request as it came in. */
export type CreateOutcome =
  | { ok: true; approval: Approval }
  | Refusal<
      | 'draft-empty'
      | 'nothing-changes'
      | 'production-confirmation-required'
      | 'remote-config-unsupported'
      | 'workload-not-found'
    >
  | TextRefusal
  | DraftRefusal
  | AuditFailure

/** Request that a workload runs a draft. A pending request of the same workload and group is retired. */
export async function createApproval(parts: ApprovalParts, request: ApprovalRequest): Promise<CreateOutcome> {
  const [targetGroup, targetEnv, comment] = [
    request.targetGroup.trim(),
    request.targetEnv.trim(),
    request.comment.trim(),
  ]
  if (request.draftYaml.trim() === '') return refuse('draft-empty')
  const { draftYaml } = request
  const refused = refuseTexts({
    draft_yaml: draftYaml,
    target_group: targetGroup,
    target_env: targetEnv,
    comment,
  })
  if (refused !== null) return refused
  const target = await parts.configTargets.find(request.workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  if (!target.acceptsRemoteConfig) return { ok: false, code: 'remote-config-unsupported' }
  const draftHash = configHash(request.draftYaml)
  // A config that failed on this workload may be requested again as it is.
  const hasFailed = parts.fleet.workload(request.workloadId)?.quarantinedHashes.has(draftHash) === true
  if (draftHash === target.activeConfigHash && !hasFailed) return { ok: false, code: 'nothing-changes' }
  const checked = await checkDraft(parts, request.draftYaml, target)
  if (!checked.ok) return checked
  const { labels, trustedLabels } = target
  const prodTarget = isProduction({ targetEnv, targetGroup, labels, trustedLabels })
  if (prodTarget && !request.prodConfirmation) return refuse('production-confirmation-required')
  return store(parts, request.actor, {
    id: `car_${randomHex(16, parts.random)}`,
    workloadId: request.workloadId,
    draftYaml: request.draftYaml,
    draftHash,
    baseConfigHash: target.activeConfigHash,
    targetGroup,
    targetEnv,
    requestComment: comment,
    prodTarget,
    requester: request.actor.email,
    requesterId: request.actor.userId,
    prodConfirmation: request.prodConfirmation,
    createdAt: parts.clock.now(),
  })
}

/** Store the request, retire the former one and write the audit record in one transaction; then tell browsers. */
function store(parts: ApprovalParts, actor: ApprovalActor, wanted: NewApproval): Promise<CreateOutcome> {
  const { hub, counters } = parts
  const { workloadId, draftHash } = wanted
  return parts.db.change<CreateOutcome>('approval.request', actor, async (tx) => {
    if ((await lockWorkload(tx, workloadId)) === null) return { ok: false, code: 'workload-not-found' }
    const by = { actor: actor.email, actorId: actor.userId, now: wanted.createdAt }
    const retired = await retirePendingApproval(tx, workloadId, wanted.targetGroup, by)
    const approval = await insertApproval(tx, wanted)
    await tellOfRequest(parts, tx, 'change_requested', approval, actor)
    await tx.record({
      action: 'config.approval.request',
      resource: 'workload',
      resourceId: workloadId,
      configHash: draftHash,
      detail: `${approval.id}:${approval.targetGroup}`,
    })
    tx.afterCommit(() => {
      if (retired !== null) {
        hub.broadcast(toApprovalFrame(retired))
        counters.removeWaitingApproval(workloadId, retired.id)
      }
      hub.broadcast(toApprovalFrame(approval))
      counters.addWaitingApproval(workloadId, approval.id)
    })
    return { ok: true, approval }
  })
}
