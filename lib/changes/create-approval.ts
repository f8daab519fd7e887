import type { ActTransaction } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import type { AuditEvent } from '../audit/event.ts'
import { toRetireEvent } from '../fleet/pushes/overtaken-requests.ts'
import { toApprovalFrame } from '../hub/approval-frame.ts'
import { randomHex } from '../ids.ts'
import { configHash } from '../model/config-hash.ts'
import { isProduction } from '../model/production.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { forgetOwnDrafts, measureOpenDrafts } from '../store/approval-drafts.ts'
import {
  type Approval,
  findPendingOfAnother,
  insertApproval,
  type NewApproval,
  retirePendingApproval,
} from '../store/approvals.ts'
import type { Db } from '../store/db.ts'
import { lockWorkload } from '../store/workloads.ts'
import {
  type ApprovalActor,
  type ApprovalParts,
  checkDraft,
  type DraftRefusal,
  refuseTexts,
  type TextRefusal,
} from './approval-parts.ts'
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
  /** Whoever asks knows that this very config failed on the workload. */
  retryQuarantined: boolean
}

/** What came of a request as it came in. */
export type CreateOutcome =
  | { ok: true; approval: Approval }
  | RequestRefusal
  | Refusal<'session-required'>
  | AuditFailure

/** Why a request is not taken. */
export type RequestRefusal =
  | Refusal<
      | 'approval-drafts-too-large'
      | 'config-quarantined'
      | 'draft-empty'
      | 'nothing-changes'
      | 'production-confirmation-required'
      | 'remote-config-unsupported'
      | 'workload-not-found'
    >
  | TextRefusal
  | DraftRefusal

/**
 * Request that a workload runs a draft. A pending request of the same workload and group is retired; of another person
 * who is there a token retires none. What a service account asked for waits for nobody's return: it gives way.
 */
export async function createApproval(parts: ApprovalParts, request: ApprovalRequest): Promise<CreateOutcome> {
  const read = await readRequest(parts, request)
  if (!read.ok) return read
  const { wanted } = read
  return parts.db.change<CreateOutcome>('approval.request', request.actor, async (tx) => {
    if ((await lockWorkload(tx, wanted.workloadId)) === null) return { ok: false, code: 'workload-not-found' }
    const isByToken = (request.actor.apiToken ?? null) !== null
    const others = isByToken ? await findPendingOfAnother(tx, wanted) : null
    if (others !== null)
      return refuse('session-required', { approval_id: others, error: tellPending(others) })
    const stored = await storeRequest(parts, tx, request.actor, wanted)
    if (!stored.ok) return stored
    await tx.record(stored.event)
    return { ok: true, approval: stored.approval }
  })
}

const tellPending = (id: string): string =>
  `another person's request ${id} waits there: a token takes the place of none, somebody who is signed in may`

/** Check a request as it came in; nothing is stored yet. */
export async function readRequest(
  parts: ApprovalParts,
  request: ApprovalRequest,
): Promise<{ ok: true; wanted: Omit<NewApproval, 'createdAt'> } | RequestRefusal> {
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
  const workload = parts.fleet.workload(request.workloadId)
  // A config that failed on this workload may be requested again as it is, by whoever says to know it, and so may the
  // active one where a rollout that was stopped half-way left some instances with another.
  const hasFailed = workload?.quarantinedHashes.has(draftHash) === true
  const isLeftHalfWay = workload?.rollout?.stored.status === 'aborted'
  if (draftHash === target.activeConfigHash && !hasFailed && !isLeftHalfWay) return refuse('nothing-changes')
  if (hasFailed && !request.retryQuarantined) return refuse('config-quarantined')
  const checked = await checkDraft(parts, request.draftYaml, target)
  if (!checked.ok) return checked
  const { labels, trustedLabels } = target
  const prodTarget = isProduction({ targetEnv, targetGroup, labels, trustedLabels })
  if (prodTarget && !request.prodConfirmation) return refuse('production-confirmation-required')
  const wanted = {
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
  }
  return { ok: true, wanted }
}

/**
 * Store a request and retire the former one, in the transaction of a caller that has locked the workload and records
 * `event`; browsers are told after it.
 */
export async function storeRequest(
  parts: ApprovalParts,
  tx: ActTransaction,
  actor: ApprovalActor,
  read: Omit<NewApproval, 'createdAt'>,
): Promise<
  { ok: true; approval: Approval; event: Omit<AuditEvent, 'actor'> } | Refusal<'approval-drafts-too-large'>
> {
  const { hub, counters } = parts
  const wanted = { ...read, createdAt: parts.clock.now() }
  const { workloadId, draftHash: configHash } = wanted
  const by = { actor: actor.email, actorId: actor.userId, now: wanted.createdAt }
  const retired = await retirePendingApproval(tx, wanted, by)
  const why = { retired_by: 'request', newer_approval_id: wanted.id } as const
  if (retired !== null) tx.recordBehind([toRetireEvent(retired, why)])
  const approval = await insertApproval(tx, wanted)
  const full = await refuseFull(tx, wanted.requesterId)
  if (full !== null) return full
  await tellOfRequest(parts, tx, 'change_requested', approval, actor)
  tx.afterCommit(() => {
    if (retired !== null) {
      hub.broadcast(toApprovalFrame(retired))
      counters.removeWaitingApproval(workloadId, retired.id)
    }
    hub.broadcast(toApprovalFrame(approval))
    counters.addWaitingApproval(workloadId, approval.id)
  })
  const detail = `${approval.id}:${approval.targetGroup}`
  const about = { resource: 'workload', resourceId: workloadId, configHash, detail }
  return { ok: true, approval, event: { action: 'config.approval.request', ...about } }
}

/** Mebibytes that the drafts of one requester's open requests take at most, as stored. */
const OPEN_MIB_MAX = 128
/** Of so many of one requester's requests that ended unapproved the drafts are kept. */
export const ENDED_DRAFTS_KEPT = 200

/** Why a requester has no room for the request that was just added, the oldest drafts of ended ones being forgotten. */
async function refuseFull(tx: Db, requesterId: string): Promise<Refusal<'approval-drafts-too-large'> | null> {
  await forgetOwnDrafts(tx, requesterId, ENDED_DRAFTS_KEPT)
  const bytes = await measureOpenDrafts(tx, requesterId)
  return bytes > OPEN_MIB_MAX * 1_048_576 ? refuse('approval-drafts-too-large', { max: OPEN_MIB_MAX }) : null
}
