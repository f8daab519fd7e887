import { isDeepStrictEqual } from 'node:util'
import type { ActTransaction } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import { ENDED_KEPT } from '../campaigns/decisions.ts'
import { findLapse } from '../campaigns/run/lapse.ts'
import { listBecause } from '../changes/approval-help.ts'
import { type ApprovalActor, refuseTexts, type TextRefusal } from '../changes/approval-parts.ts'
import { refuseDiscounted, whyNotCounted } from '../changes/judge-approvals.ts'
import { toAutoApplyNews } from '../changes/news.ts'
import { refuseByHand, refuseOverGit } from '../fleet-configs/kept-in-git.ts'
import { randomHex } from '../ids.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import {
  IN_FORCE,
  insertAutoApply,
  lockOpenAutoApplies,
  moveAutoApply,
  removeOwnUnstarted,
  type StoredAutoApply,
} from '../store/auto-apply.ts'
import { wasVersionRolledBack } from '../store/fleet-config-history.ts'
import { lockFleetConfig, type StoredFleetConfig, updateFleetConfig } from '../store/fleet-configs.ts'
import type { AutoApplyStatus } from '../wire/auto-apply.ts'
import type { ChangeEvent } from '../wire/news.ts'
import { listValueAuthorsOfRequest, readAutoApplyStanding } from './approval.ts'
import type { AutoApplyParts } from './parts.ts'
import { type PlanRefusal, planAutoApply, type WantedAutoApply } from './plan.ts'

/** What came of a decision about a version that applies by itself. */
export type AutoApplyOutcome =
  | { ok: true; autoApply: StoredAutoApply }
  | Refusal<
      | 'approval-needs-another'
      | 'auto-apply-lapsed'
      | 'auto-apply-needs-campaign'
      | 'auto-apply-not-found'
      | 'auto-apply-not-ready'
      | 'auto-apply-plan-changed'
      | 'auto-apply-requested-already'
      | 'fleet-config-managed'
      | 'fleet-config-not-found'
      | 'production-confirmation-required'
    >
  | PlanRefusal
  | TextRefusal
  | AuditFailure

type Refused = Exclude<AutoApplyOutcome, { ok: true }>

/** Codes that every decision can be refused with. */
export const AUTO_APPLY_ERRORS = [
  'audit-unavailable',
  'auto-apply-not-found',
  'auto-apply-not-ready',
  'comment-required',
  'fleet-config-managed',
  'fleet-config-not-found',
  'text-not-storable',
  'text-too-long',
] as const

/** Codes that a plan or a request can be refused with. */
export const AUTO_APPLY_PLAN_ERRORS = [
  'auto-apply-rolled-back',
  'fleet-config-not-found',
  'fleet-config-version-not-found',
] as const

/** A decision of an operator about a fleet config, with a comment. */
export interface AutoApplyChoice {
  fleetConfigId: string
  actor: ApprovalActor
  comment: string
}

/** Request that a version applies by itself; it does so once the request is approved. */
export async function requestAutoApply(
  parts: AutoApplyParts,
  config: StoredFleetConfig,
  asked: WantedAutoApply & {
    planHash: string
    prodConfirmation: boolean
    actor: ApprovalActor
    comment: string
  },
): Promise<AutoApplyOutcome> {
  const comment = asked.comment.trim()
  const unfit = refuseTexts({ comment })
  if (unfit !== null) return unfit
  const planned = await planAutoApply(parts, config, asked)
  if (!planned.ok) return planned
  const { plan, planHash, policyHash } = planned
  if (planHash !== asked.planHash) return refuse('auto-apply-plan-changed')
  if (plan.campaign_ids.length === 0) return refuse('auto-apply-needs-campaign')
  if (plan.reaches_production && !asked.prodConfirmation) return refuse('production-confirmation-required')
  const now = parts.clock.now()
  const { actor } = asked
  const autoApply: StoredAutoApply = {
    id: `aap_${randomHex(12, parts.random)}`,
    fleetConfigId: config.id,
    fleetConfigName: config.name,
    status: 'requested',
    number: plan.number,
    versionHash: plan.version_hash,
    selector: plan.selector,
    priority: plan.priority,
    policyHash,
    plan,
    planHash,
    reachesProduction: plan.reaches_production,
    requestedBy: actor.email,
    requestedById: actor.userId,
    requestedAt: now,
    requestComment: comment,
    approvals: [],
    activeSince: null,
    countedSince: null,
    hold: null,
    closedBy: null,
    closeComment: null,
    endCause: null,
    endedAt: null,
    updatedAt: now,
  }
  return parts.db.change('auto-apply.decide', actor, async (tx): Promise<AutoApplyOutcome> => {
    const stands = await lockFleetConfig(tx, config.id)
    if (stands === null) return refuse('fleet-config-not-found')
    const managed = await refuseOtherThanGit(tx, stands, autoApply)
    if (managed !== null) return managed
    if (!(await insertAutoApply(tx, autoApply))) return refuse('auto-apply-requested-already')
    await removeOwnUnstarted(tx, actor.userId, ENDED_KEPT)
    await recordStep(tx, parts, actor, 'auto_apply.request', autoApply, comment)
    return { ok: true, autoApply }
  })
}

/**
 * Approve the request whose plan has `planHash`. With enough approvals the version is in force at once, in place of the
 * one before.
 */
export async function approveAutoApply(
  parts: AutoApplyParts,
  choice: AutoApplyChoice & { planHash: string },
): Promise<AutoApplyOutcome> {
  const comment = choice.comment.trim()
  if (comment === '') return refuse('comment-required')
  const { actor, fleetConfigId } = choice
  return decide(parts, choice, 'auto_apply.approve', ['requested'], async (tx, before) => {
    if (before.planHash !== choice.planHash) return refuse('auto-apply-plan-changed')
    const config = await lockFleetConfig(tx, fleetConfigId)
    if (config === null) return refuse('fleet-config-not-found')
    const at = parts.clock.now()
    const valueAuthors = await listValueAuthorsOfRequest(parts, tx, before)
    const standing = await readAutoApplyStanding(tx, before, {
      valueAuthors,
      alsoAsking: [actor.userId],
      now: at,
    })
    const { asked } = standing
    const why = whyNotCounted(standing, actor.userId)
    if (why !== null)
      return refuseDiscounted(
        why,
        await listBecause(tx, standing, { userId: actor.userId, sees: () => false }),
      )
    const approval = {
      by: actor.email,
      byId: actor.userId,
      at: at.toISOString(),
      comment,
      rule: asked.rule,
    }
    const approvals = [...before.approvals.filter(({ byId }) => byId !== actor.userId), approval]
    const after = await readAutoApplyStanding(tx, { ...before, approvals }, { valueAuthors, now: at })
    if (!after.judgement.isEnough)
      return moveAutoApply(tx, before.id, ['requested'], { status: 'requested', approvals }, at)
    const { counted } = after.judgement
    const marked = approvals.map((one) =>
      counted.includes(one.byId) ? one : { ...one, counted: false as const },
    )
    return activate(tx, config, { ...before, approvals: marked }, actor, at)
  })
}

/** Refuse another version, selector or priority than Git keeps; null where Git keeps them so, or not at all. */
async function refuseOtherThanGit(
  tx: ActTransaction,
  config: StoredFleetConfig,
  { number, selector, priority }: Pick<StoredAutoApply, 'number' | 'selector' | 'priority'>,
): Promise<Refusal<'fleet-config-managed'> | null> {
  const other = await refuseOverGit(tx, { fleetConfigId: config.id, number })
  if (other !== null) return other
  if (config.priority === priority && isDeepStrictEqual(config.selector, selector)) return null
  return refuseByHand(tx, config.id)
}

/**
 * Put an approved request in force, and give the fleet config the selector and the priority that were approved with it.
 */
async function activate(
  tx: ActTransaction,
  config: StoredFleetConfig,
  approved: StoredAutoApply,
  actor: ApprovalActor,
  now: Date,
): Promise<StoredAutoApply | Refused | null> {
  const { id, approvals, selector, priority } = approved
  // Rolling a version back ends what is stored then. Here a roll-back is found that was decided before the request was
  // stored.
  if (await wasVersionRolledBack(tx, config.id, approved.number)) return refuse('auto-apply-rolled-back')
  for (const former of await lockOpenAutoApplies(tx, config.id))
    if (former.id !== id)
      await moveAutoApply(
        tx,
        former.id,
        IN_FORCE,
        { status: 'ended', endCause: 'replaced', closedBy: actor.email, endedAt: now },
        now,
      )
  const managed = await refuseOtherThanGit(tx, config, approved)
  if (managed !== null) return managed
  const { name, description } = config
  await updateFleetConfig(tx, { id: config.id, name, description, selector, priority, updatedAt: now })
  const move = { status: 'active' as const, approvals, activeSince: now, countedSince: now }
  return moveAutoApply(tx, id, ['requested'], move, now)
}

/** Reject or withdraw a request; rejecting one needs a comment. */
export async function closeAutoApplyRequest(
  parts: AutoApplyParts,
  choice: AutoApplyChoice & { status: 'rejected' | 'withdrawn' },
): Promise<AutoApplyOutcome> {
  const { status, actor } = choice
  const closeComment = choice.comment.trim()
  if (status === 'rejected' && closeComment === '') return refuse('comment-required')
  const action = status === 'rejected' ? 'auto_apply.reject' : 'auto_apply.withdraw'
  return decide(parts, choice, action, ['requested'], (tx, before) => {
    const now = parts.clock.now()
    const move = { status, closedBy: actor.email, closeComment: closeComment || null, endedAt: now }
    return moveAutoApply(tx, before.id, ['requested'], move, now)
  })
}

/** Pause a version that applies by itself, until somebody continues it. */
export async function pauseAutoApply(
  parts: AutoApplyParts,
  choice: AutoApplyChoice,
): Promise<AutoApplyOutcome> {
  return decide(parts, choice, 'auto_apply.pause', ['active'], (tx, before) =>
    moveAutoApply(tx, before.id, ['active'], { status: 'paused' }, parts.clock.now()),
  )
}

/**
 * Continue a version that was paused, or that stopped by itself (`held`): that needs a comment, and failures are
 * counted anew.
 */
export async function continueAutoApply(
  parts: AutoApplyParts,
  choice: AutoApplyChoice,
): Promise<AutoApplyOutcome> {
  return decide(parts, choice, 'auto_apply.continue', ['paused', 'held'], async (tx, before) => {
    if (before.status === 'held' && choice.comment.trim() === '') return refuse('comment-required')
    const lapse = await findLapse(parts, { ...before, reach: before })
    if (lapse !== null) return refuse('auto-apply-lapsed', { reason: lapse })
    const managed = await refuseOverGit(tx, before)
    if (managed !== null) return managed
    const now = parts.clock.now()
    const counted = before.status === 'held' ? { countedSince: now } : {}
    return moveAutoApply(tx, before.id, ['paused', 'held'], { status: 'active', hold: null, ...counted }, now)
  })
}

/** End a version that applies by itself. Workloads keep what was pushed to them. */
export async function turnOffAutoApply(
  parts: AutoApplyParts,
  choice: AutoApplyChoice,
): Promise<AutoApplyOutcome> {
  return decide(parts, choice, 'auto_apply.turn_off', IN_FORCE, (tx, before) => {
    const now = parts.clock.now()
    const closed = { closedBy: choice.actor.email, closeComment: choice.comment.trim() || null }
    return moveAutoApply(
      tx,
      before.id,
      IN_FORCE,
      { status: 'ended', endCause: 'turned_off', ...closed, endedAt: now },
      now,
    )
  })
}

/** Run one decision with the fleet config and its rows locked, with its record in the audit trail. */
async function decide(
  parts: AutoApplyParts,
  { fleetConfigId, actor, comment }: AutoApplyChoice,
  action: Action,
  from: readonly AutoApplyStatus[],
  work: (tx: ActTransaction, before: StoredAutoApply) => Promise<StoredAutoApply | Refused | null>,
): Promise<AutoApplyOutcome> {
  const unfit = refuseTexts({ comment })
  if (unfit !== null) return unfit
  return parts.db.change('auto-apply.decide', actor, async (tx): Promise<AutoApplyOutcome> => {
    // The fleet config is locked first, as everywhere that both are locked.
    if ((await lockFleetConfig(tx, fleetConfigId)) === null) return refuse('fleet-config-not-found')
    const isAboutRequest = from.includes('requested')
    const open = await lockOpenAutoApplies(tx, fleetConfigId)
    const before = open.find(({ status }) => (status === 'requested') === isAboutRequest)
    if (before === undefined) return refuse('auto-apply-not-found')
    if (!from.includes(before.status)) return refuse('auto-apply-not-ready', { status: before.status })
    const autoApply = await work(tx, before)
    if (autoApply === null) return refuse('auto-apply-not-found')
    if ('ok' in autoApply) return autoApply
    await recordStep(tx, parts, actor, action, autoApply, comment.trim())
    return { ok: true, autoApply }
  })
}

/** What the webhook is told of each decision; null for those that it is not told of. */
const EVENTS = {
  'auto_apply.request': 'change_requested',
  'auto_apply.approve': 'change_approved',
  'auto_apply.reject': 'change_rejected',
  'auto_apply.withdraw': null,
  'auto_apply.pause': null,
  'auto_apply.continue': null,
  'auto_apply.turn_off': null,
} as const satisfies Readonly<Record<string, ChangeEvent | null>>

/** A decision as the audit trail names it. */
type Action = keyof typeof EVENTS

/** Tell the webhook of a step, where it is told of such, and write its record in the audit trail. */
async function recordStep(
  tx: ActTransaction,
  { news }: Pick<AutoApplyParts, 'news'>,
  { email: by }: ApprovalActor,
  action: Action,
  autoApply: StoredAutoApply,
  comment: string,
): Promise<void> {
  const event = EVENTS[action]
  if (event !== null) await news.owe(tx, { event, by, about: toAutoApplyNews(autoApply) })
  const { id, fleetConfigId, number, planHash } = autoApply
  await tx.record({
    action,
    resource: 'fleet_config',
    resourceId: fleetConfigId,
    detail: JSON.stringify({
      auto_apply_id: id,
      number,
      plan_hash: planHash,
      ...(comment === '' ? {} : { comment }),
    }),
  })
}
