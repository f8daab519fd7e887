import type { ActTransaction } from '../audit/database.ts'
import type { AuditFailure } from '../audit/delivery.ts'
import { listBecause } from '../changes/approval-help.ts'
import type { ApprovalActor } from '../changes/approval-parts.ts'
import { refuseTexts, type TextRefusal } from '../changes/approval-parts.ts'
import { findNotReturning } from '../changes/approved-as-now.ts'
import { refuseDiscounted, refuseUnapproved, whyNotCounted } from '../changes/judge-approvals.ts'
import { toCampaignNews } from '../changes/news.ts'
import { noteUnreviewed } from '../changes/reviews.ts'
import { PATCH_PROBLEMS } from '../configs/patch/patch.ts'
import type { Workload } from '../fleet/state/model.ts'
import { refuseForGit, refuseOverGit } from '../fleet-configs/kept-in-git.ts'
import { randomHex } from '../ids.ts'
import { findLowered } from '../model/campaign-rules.ts'
import { campaignIs, statusesThat } from '../model/campaign-states.ts'
import {
  CAMPAIGN_STEPS,
  type CampaignStep,
  type DeadEnd,
  findDeadEnd,
  isApprovalOpen,
  isStepFrom,
  needsComment,
} from '../model/campaign-steps.ts'
import { daysBefore } from '../model/left-stopped.ts'
import { ROLL_BACK_DAYS } from '../model/lifetimes.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import { statesThat } from '../model/target-states.ts'
import { isReachWithin } from '../selectors/within-scope.ts'
import { endAutoApplies, lockAutoAppliesOf } from '../store/auto-apply.ts'
import { claimByItself, listBroughtByItself, listWaysBackByItself } from '../store/auto-apply-roll-back.ts'
import { countWayBack, listWaysBack } from '../store/campaign-outcome.ts'
import { endAllCampaignTargets } from '../store/campaign-targets.ts'
import {
  type CampaignMove,
  deleteCampaign,
  editCampaign,
  findCampaignSummary,
  forgetOwnUnstarted,
  insertCampaign,
  lockCampaign,
  type MeasuredDrafts,
  measureDrafts,
  moveCampaign,
  type StoredCampaign,
  type StoredChange,
} from '../store/campaigns.ts'
import type { Db } from '../store/db.ts'
import { noteCampaignAuthor } from '../store/text-authors.ts'
import type { CampaignLimits, CampaignStatus } from '../wire/campaigns.ts'
import type { ChangeEvent } from '../wire/news.ts'
import { readCampaignStanding } from './approval.ts'
import type { CampaignParts } from './judge/parts.ts'
import { isInOneOf } from './judge/scope.ts'
import type { CampaignDraft } from './read-campaign.ts'
import { toWayBackRecord } from './record.ts'
import { limitFactsOf } from './run/limits.ts'
import { countRun, tellCounts } from './run/run.ts'
import { countHaltedStages } from './run/stop-staged.ts'

/** What came of a decision about a campaign. */
export type CampaignOutcome =
  | { ok: true; campaign: StoredCampaign }
  | { ok: false; code: 'campaign-not-found' | 'campaign-plan-changed' | DeadEnd }
  /** The campaign is in `status`, in which this cannot be decided. */
  | { ok: false; code: 'campaign-not-ready'; status: CampaignStatus }
  | { ok: false; code: 'campaign-too-old' }
  | { ok: false; code: 'production-confirmation-required' }
  | DraftRefusal
  | Refusal<
      | 'approval-needs-another'
      | 'approval-expired'
      | 'campaign-approved-for-less'
      | 'campaign-limit-lowered'
      | 'campaign-patch-unfit'
      | 'comments-full'
      | 'comments-full-of-one'
      | 'fleet-config-managed'
    >
  | TextRefusal
  | AuditFailure

/** Why somebody may have no further campaign that waits, or none as large. */
export const DRAFT_ERRORS = ['campaign-drafts-too-large', 'campaign-drafts-too-many'] as const
type DraftRefusal = Refusal<(typeof DRAFT_ERRORS)[number]>

type CampaignRefusal = Exclude<CampaignOutcome, { ok: true }>

/** Codes that every decision about a campaign can be refused with. */
export const DECISION_ERRORS = [
  'audit-unavailable',
  'campaign-not-found',
  'campaign-not-ready',
  'campaign-plan-changed',
  'comment-required',
  'text-not-storable',
  'text-too-long',
] as const

/** A decision of an operator about the campaign of this id, with a comment. */
export interface Decision {
  id: string
  actor: ApprovalActor
  comment: string
}

/**
 * Store a new campaign as a draft, and in the same transaction what follows from it; where that refuses, no campaign is
 * stored.
 */
export async function createCampaign(
  parts: CampaignParts,
  draft: CampaignDraft,
  actor: ApprovalActor,
  alsoStore: (tx: ActTransaction, campaign: StoredCampaign) => Promise<CampaignRefusal | null> = async () =>
    null,
): Promise<CampaignOutcome> {
  const now = parts.clock.now()
  const campaign: StoredCampaign = {
    id: `cmp_${randomHex(12, parts.random)}`,
    ...draft,
    status: 'draft',
    edition: 0,
    plan: null,
    planHash: null,
    policyHash: null,
    wave: 0,
    waveEndedAt: null,
    halt: null,
    raised: {},
    createdBy: actor.email,
    createdById: actor.userId,
    requestedBy: null,
    requestedById: null,
    requestedAt: null,
    requestComment: null,
    approvals: [],
    closedBy: null,
    closedById: null,
    closedByToken: null,
    closeComment: null,
    startedBy: null,
    startedById: null,
    startedAt: null,
    rollBackStartedAt: null,
    endedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  return parts.db.change('campaign.create', actor, async (tx): Promise<CampaignOutcome> => {
    const kept = await refuseElsewhere(tx, campaign)
    if (kept !== null) return kept
    await insertCampaign(tx, campaign)
    await noteCampaignAuthor(tx, campaign.id, actor.userId)
    const refused = await alsoStore(tx, campaign)
    if (refused !== null) return refused
    // After what follows: a draft for Git does not count, since there is one of each fleet config.
    const drafts = await measureDrafts(tx, actor.userId)
    await forgetOwnUnstarted(tx, actor.userId, ENDED_KEPT)
    const refusal = refuseCount(drafts) ?? refuseSize(drafts)
    if (refusal !== null) return refusal
    await tx.record({ action: 'campaign.create', resource: 'campaign', resourceId: campaign.id })
    return { ok: true, campaign }
  })
}

/** Campaigns that one person has at most before they are started, drafts or asked for, and the mebibytes that they take. */
export const DRAFTS_OF_ONE_MAX = 100
const DRAFTS_MIB_MAX = 32
/** Of so many of one person's that ended unstarted, and that nobody else decided, texts, targets and all else are kept. */
export const ENDED_KEPT = 20

/** Why somebody's are too many, the new one among them; null where they are not. */
const refuseCount = ({ count }: MeasuredDrafts): DraftRefusal | null =>
  count > DRAFTS_OF_ONE_MAX ? refuse('campaign-drafts-too-many', { max: DRAFTS_OF_ONE_MAX }) : null

/** Why somebody's are too large, the new or changed one among them; null where they are not. */
const refuseSize = ({ bytes }: MeasuredDrafts): DraftRefusal | null =>
  bytes > DRAFTS_MIB_MAX * 1_048_576 ? refuse('campaign-drafts-too-large', { max: DRAFTS_MIB_MAX }) : null

/**
 * Replace what a campaign asks for, while it is a draft or planned; its plan is dropped. Where `edition` is given, only
 * while nobody has changed it since, and unless `refuseIt` objects under its lock.
 */
export async function changeCampaign(
  parts: CampaignParts,
  id: string,
  draft: CampaignDraft,
  actor: ApprovalActor,
  edition?: number,
  refuseIt: (tx: Db) => Promise<CampaignRefusal | null> = async () => null,
): Promise<CampaignOutcome> {
  return decide(
    parts,
    { id, actor, comment: '' },
    'campaign.edit',
    statusesThat('unasked'),
    async (tx, before) => {
      if (edition !== undefined && before.edition !== edition) return null
      const refused =
        (await refuseForGit(tx, id, actor)) ?? (await refuseElsewhere(tx, draft)) ?? (await refuseIt(tx))
      if (refused !== null) return refused
      const edited = await editCampaign(tx, { id, ...draft, now: parts.clock.now(), byId: actor.userId })
      // One that is smaller than it was is never too large, and one that is there never one too many.
      if (edited === null || sizeOf(draft) <= sizeOf(before)) return edited
      return refuseSize(await measureDrafts(tx, edited.createdById)) ?? edited
    },
  )
}

/** The refusal of a campaign that would bring another version than Git asks for; null of all others. */
const refuseElsewhere = async (
  tx: Db,
  { change }: Pick<CampaignDraft, 'change'>,
): Promise<Refusal<'fleet-config-managed'> | null> =>
  change.kind === 'version' ? refuseOverGit(tx, { ...change, fleetConfigId: change.fleet_config_id }) : null

const sizeOf = ({ change, scope, rules }: Pick<StoredCampaign, 'change' | 'scope' | 'rules'>): number =>
  JSON.stringify([change, scope, rules]).length

/**
 * Remove a draft, or a plan that nobody was asked to approve: by whoever made it, or, with `mayRemoveOthers`, by anybody.
 */
export async function removeDraft(
  { db }: Pick<CampaignParts, 'db'>,
  { id, actor, mayRemoveOthers }: { id: string; actor: ApprovalActor; mayRemoveOthers: boolean },
): Promise<RemovalOutcome> {
  return db.change('campaign.remove', actor, async (tx): Promise<RemovalOutcome> => {
    const before = await lockCampaign(tx, id)
    if (before === null) return { ok: false, code: 'campaign-not-found' }
    const { status, name, createdBy, createdById } = before
    if (createdById !== actor.userId && !mayRemoveOthers) return { ok: false, code: 'forbidden' }
    if (!campaignIs(status, 'unasked')) return { ok: false, code: 'campaign-not-ready', status }
    await deleteCampaign(tx, id)
    const detail = JSON.stringify({ name, created_by: createdBy })
    await tx.record({ action: 'campaign.remove', resource: 'campaign', resourceId: id, detail })
    return { ok: true }
  })
}

type RemovalOutcome =
  | { ok: true }
  | { ok: false; code: 'campaign-not-found' | 'forbidden' }
  | { ok: false; code: 'campaign-not-ready'; status: CampaignStatus }
  | AuditFailure

/** Ask for the plan with `planHash` to be approved. From then on neither the plan nor the campaign can be changed. */
export async function requestCampaign(
  parts: CampaignParts,
  decision: Decision & { planHash: string; prodConfirmation: boolean },
): Promise<CampaignOutcome> {
  const { actor, comment } = decision
  return take(parts, decision, 'request', async (tx, before) => {
    const unfitCount = countUnfit(before)
    if (unfitCount > 0) return refuse('campaign-patch-unfit', { count: unfitCount })
    if ((before.plan?.production_count ?? 0) > 0 && !decision.prodConfirmation)
      return { ok: false, code: 'production-confirmation-required' }
    await noteCampaignAuthor(tx, before.id, actor.userId)
    const requestedAt = parts.clock.now()
    return {
      status: 'requested',
      requestedBy: actor.email,
      requestedById: actor.userId,
      requestedAt,
      requestComment: comment,
      approvals: [],
    }
  })
}

/** How many workloads the patch does not fit, of a campaign that was to be refused then. */
function countUnfit({ change, plan }: StoredCampaign): number {
  if (change.kind !== 'patch' || change.where_unfit !== 'refuse') return 0
  return PATCH_PROBLEMS.reduce((sum, code) => sum + (plan?.refused[code] ?? 0), 0)
}

/** Approve the plan with `planHash`; refused when the campaign has another plan by now. */
export async function approveCampaign(
  parts: CampaignParts,
  decision: Decision & { planHash: string },
): Promise<CampaignOutcome> {
  const { actor } = decision
  return take(parts, decision, 'approve', async (tx, before) => {
    const at = parts.clock.now()
    const standing = await readCampaignStanding(tx, before, at, [actor.userId])
    const { asked, judgement } = standing
    const why = whyNotCounted(standing, actor.userId)
    if (why !== null)
      return refuseDiscounted(
        why,
        await listBecause(tx, standing, { userId: actor.userId, sees: () => false }),
      )
    // An approved campaign may have lost an approval since: it got too old, or its approver lost the right.
    if (!isApprovalOpen({ status: before.status, isEnough: judgement.isEnough }))
      return { ok: false, code: 'campaign-not-ready', status: before.status }
    const approval = {
      by: actor.email,
      byId: actor.userId,
      at: at.toISOString(),
      comment: decision.comment.trim(),
      rule: asked.rule,
    }
    const approvals = [...before.approvals.filter(({ byId }) => byId !== actor.userId), approval]
    const after = await readCampaignStanding(tx, { ...before, approvals }, at)
    return { status: after.judgement.isEnough ? 'approved' : before.status, approvals }
  })
}

/**
 * Reject or withdraw a campaign that was not started; rejecting one needs a comment. `refuseIt` is asked under the
 * campaign's lock, in the same transaction; where it refuses, the campaign stays as it is.
 */
export const closeCampaign = (
  parts: CampaignParts,
  decision: Decision & { status: 'rejected' | 'withdrawn' },
  refuseIt?: (tx: Db) => Promise<CampaignRefusal | null>,
): Promise<CampaignOutcome> =>
  end(parts, decision, decision.status === 'rejected' ? 'reject' : 'withdraw', decision.status, refuseIt)

/** Withdraw a campaign that was not started, in the transaction of something else that takes its place. */
export async function withdrawWithin(
  parts: CampaignParts,
  tx: ActTransaction,
  decision: Decision,
): Promise<CampaignOutcome> {
  const { from } = CAMPAIGN_STEPS.withdraw
  return decideWithin(parts, tx, decision, ACTIONS.withdraw, from, async (_tx, before) => {
    const move = await moveToEnd(parts, tx, decision, before, 'withdrawn')
    return moveCampaign(tx, before.id, from, move, parts.clock.now())
  })
}

/** Begin to carry an approved campaign to its workloads. */
export async function startCampaign(parts: CampaignParts, decision: Decision): Promise<CampaignOutcome> {
  const { actor } = decision
  return take(parts, decision, 'start', async (tx, before) => {
    const startedAt = parts.clock.now()
    const { judgement } = await readCampaignStanding(tx, before, startedAt)
    if (!judgement.isEnough) return refuseUnapproved(judgement)
    return { status: 'running', startedBy: actor.email, startedById: actor.userId, startedAt }
  })
}

/**
 * Pause a campaign: no further target is started until somebody continues it. One that is done starts those that were
 * away and come back.
 */
export const pauseCampaign = (parts: CampaignParts, decision: Decision): Promise<CampaignOutcome> =>
  take(parts, decision, 'pause', async () => ({ status: 'paused', endedAt: null }))

/** Continue a paused or halted campaign. `limits` raises its limits from now on, and needs a comment. */
export const continueCampaign = (
  parts: CampaignParts,
  decision: Decision & { limits: CampaignLimits },
): Promise<CampaignOutcome> =>
  take(parts, decision, 'continue', async (_tx, before) => {
    const lowered = findLowered(decision.limits, { ...limitFactsOf(before), haltedOver: before.halt })
    if (lowered !== null)
      return refuse('campaign-limit-lowered', { field: `limits.${lowered.of}`, limit: lowered.limit })
    const raised = { ...before.raised, ...decision.limits }
    return { status: 'running', halt: null, raised, waveEndedAt: null }
  })

/** Abort a campaign. Workloads that were changed keep their new config; targets that wait are cancelled. */
export const abortCampaign = (parts: CampaignParts, decision: Decision): Promise<CampaignOutcome> =>
  end(parts, decision, 'abort', 'aborted')

/**
 * Roll a campaign back: every workload that still runs what it brought gets its former config, and so does everyone to
 * whom its version was brought by itself. It can be once: a token leaves that to people where it would leave a workload out.
 */
export async function rollBackCampaign(parts: CampaignParts, decision: Decision): Promise<CampaignOutcome> {
  // As the way back is counted: before the campaign is locked. What comes about since is left out, and told with its target.
  const leftOut = await findLeftOut(parts, decision)
  return take(parts, decision, 'roll-back', async (tx, before) => {
    const now = parts.clock.now()
    if (before.endedAt !== null && before.endedAt < daysBefore(now, ROLL_BACK_DAYS))
      return { ok: false, code: 'campaign-too-old' }
    if (leftOut !== null) return refuse('campaign-approved-for-less', { workload: leftOut.displayName })
    const { change } = before
    if (change.kind === 'version') {
      await endByItself(parts, tx, before, change, decision.actor.email)
      await claimAll(parts, tx, before, change)
    }
    await noteUnreviewed(parts, tx, decision.actor, {
      kind: 'campaign_rollback',
      campaignId: before.id,
      reason: [before.name, decision.comment.trim()].filter((part) => part !== '').join(': '),
    })
    return {
      status: 'rolling_back',
      rollBackStartedAt: now,
      ...toCloser(decision.actor),
      endedAt: null,
      closeComment: decision.comment.trim() || null,
    }
  })
}

/** A workload to which whoever takes a campaign back may not give its former config; null where there is none. */
async function findLeftOut(parts: CampaignParts, { id, actor }: Decision): Promise<Workload | null> {
  const campaign = (actor.apiToken ?? null) === null ? null : await findCampaignSummary(parts.db, id)
  if (campaign === null) return null
  const { change, scope } = campaign
  const byItself =
    change.kind === 'version'
      ? await listWaysBackByItself(parts.db, {
          campaignId: id,
          fleetConfigId: change.fleet_config_id,
          number: change.number,
        })
      : []
  const ways = [...(await listWaysBack(parts.db, id)), ...byItself].flatMap(({ workloadId, hash }) => {
    const workload = parts.fleet.workload(workloadId)
    return workload !== null && (scope.cut_to === undefined || isInOneOf(scope.cut_to, workload))
      ? [{ workload, hash }]
      : []
  })
  return findNotReturning(parts, parts.db, actor, ways)
}

/**
 * End, in the transaction of a roll-back, the version's applying by itself: where the campaign is cut to scopes, only what
 * reaches nothing outside of them. What reaches further was approved for others as well, whom nobody within a scope
 * decides for: it goes on outside, and leaves alone what lies within (`listScopesRolledBack`). It is locked all the same,
 * so that a push which is under way is either taken back or finds the roll-back.
 */
async function endByItself(
  { clock }: CampaignParts,
  tx: Parameters<typeof lockCampaign>[0],
  { scope: { cut_to: within } }: StoredCampaign,
  { fleet_config_id: fleetConfigId, number }: Extract<StoredChange, { kind: 'version' }>,
  by: string,
): Promise<void> {
  const open = await lockAutoAppliesOf(tx, { fleetConfigId, number })
  const ids = open.filter(({ selector }) => isReachWithin(within ?? null, { selector })).map(({ id }) => id)
  await endAutoApplies(tx, { fleetConfigId, ids, cause: 'rolled_back', by, now: clock.now() })
}

/** Let the roll-back of a campaign take back whoever it reaches of those that got its version by itself. */
async function claimAll(
  { fleet }: CampaignParts,
  tx: Parameters<typeof lockCampaign>[0],
  { id, scope: { cut_to: within } }: StoredCampaign,
  { fleet_config_id: fleetConfigId, number }: Extract<StoredChange, { kind: 'version' }>,
): Promise<void> {
  const brought = await listBroughtByItself(tx, { campaignId: id, fleetConfigId, number })
  const reached = brought.filter(({ workloadId }) => {
    const workload = fleet.workload(workloadId)
    return workload !== null && (within === undefined || isInOneOf(within, workload))
  })
  await claimByItself(tx, id, reached)
}

function end(
  parts: CampaignParts,
  decision: Decision,
  step: CampaignStep,
  status: CampaignStatus,
  refuseIt: (tx: Db) => Promise<CampaignRefusal | null> = async () => null,
): Promise<CampaignOutcome> {
  return take(parts, decision, step, async (tx, before) => {
    const refused = await refuseIt(tx)
    return refused ?? moveToEnd(parts, tx, decision, before, status)
  })
}

/** End a campaign's targets that wait; answers what moves of the campaign itself. */
async function moveToEnd(
  { clock }: CampaignParts,
  tx: Db,
  { actor, comment }: Decision,
  { id }: StoredCampaign,
  status: CampaignStatus,
): Promise<CampaignMove> {
  const now = clock.now()
  await endAllCampaignTargets(tx, id, statesThat('waits'), 'cancelled', now)
  return {
    status,
    ...toCloser(actor),
    closeComment: comment.trim() || null,
    endedAt: now,
  }
}

/** Who ends a campaign, or takes it back, as it is kept with it. */
const toCloser = ({ email, userId, apiToken }: ApprovalActor) => ({
  closedBy: email,
  closedById: userId,
  closedByToken: apiToken ?? null,
})

/**
 * Take a step of the table, as its rules say: the comment, the statuses and, under the lock, the plan that was looked at.
 * `work` says what moves, or why not.
 */
async function take(
  parts: CampaignParts,
  decision: Decision & { planHash?: string; limits?: CampaignLimits },
  step: CampaignStep,
  work: (tx: ActTransaction, before: StoredCampaign) => Promise<CampaignMove | CampaignRefusal>,
): Promise<CampaignOutcome> {
  const { id, comment, planHash, limits } = decision
  if (needsComment(step, limits) && comment.trim() === '') return refuse('comment-required')
  const { from } = CAMPAIGN_STEPS[step]
  // Asked before the campaign is locked: of ten thousand workloads it takes a while, in which others wait for the lock.
  const found = step === 'roll-back' ? await findCampaignSummary(parts.db, id) : null
  const way_back = found === null ? undefined : toWayBackRecord(await countWayBack(parts.db, id))
  return decide(parts, decision, ACTIONS[step], from, async (tx, before) => {
    if (planHash !== undefined && before.planHash !== planHash) return null
    const { status, plan, change } = before
    const counts = MOVING.includes(status) ? ((await countRun({ db: tx }, id)).all as Counts) : {}
    if (!isStepFrom(step, { status, counts })) return { ok: false, code: 'campaign-not-ready', status }
    const stages_halted = countHaltedStages(parts, { campaignId: id })
    const end = findDeadEnd(step, { status, plan, counts, change, way_back, stages_halted })
    if (end !== null) return { ok: false, code: end }
    const kept = BRINGING.includes(step) ? await refuseElsewhere(tx, before) : null
    if (kept !== null) return kept
    const move = await work(tx, before)
    return 'ok' in move ? move : moveCampaign(tx, id, from, move, parts.clock.now())
  })
}

type Counts = Record<string, number>

/** The steps by which a campaign comes to bring something. One that did already goes on. */
const BRINGING: readonly CampaignStep[] = ['request', 'approve', 'start']

/** Statuses in which it depends on the targets what can be decided. */
const MOVING: readonly CampaignStatus[] = ['done', 'halted']

/** The name of each step in the audit trail. */
const ACTIONS = {
  request: 'campaign.request',
  approve: 'campaign.approve',
  reject: 'campaign.reject',
  withdraw: 'campaign.withdraw',
  start: 'campaign.start',
  pause: 'campaign.pause',
  continue: 'campaign.continue',
  abort: 'campaign.abort',
  'roll-back': 'campaign.roll_back_all',
} as const satisfies Readonly<Record<CampaignStep, string>>

/** A decision as the audit trail names it. */
type Action = (typeof ACTIONS)[CampaignStep] | 'campaign.edit'

/** Run one decision under the campaign's lock, with its entry in the audit trail. */
async function decide(
  parts: CampaignParts,
  decision: Decision,
  action: Action,
  from: readonly CampaignStatus[],
  work: DecisionWork,
): Promise<CampaignOutcome> {
  const refused = refuseTexts({ comment: decision.comment })
  if (refused !== null) return refused
  return parts.db.change('campaign.decide', decision.actor, (tx) =>
    decideWithin(parts, tx, decision, action, from, work),
  )
}

/** What a decision does under the campaign's lock; null where the campaign is not any more what was decided about. */
type DecisionWork = (
  tx: ActTransaction,
  before: StoredCampaign,
) => Promise<StoredCampaign | CampaignRefusal | null>

/** The same in a transaction that does more; its record comes behind those of all the rest. */
async function decideWithin(
  parts: CampaignParts,
  tx: ActTransaction,
  { id, actor, comment }: Decision,
  action: Action,
  from: readonly CampaignStatus[],
  work: DecisionWork,
): Promise<CampaignOutcome> {
  const before = await lockCampaign(tx, id)
  if (before === null) return { ok: false, code: 'campaign-not-found' }
  if (!from.includes(before.status)) return { ok: false, code: 'campaign-not-ready', status: before.status }
  const campaign = await work(tx, before)
  if (campaign === null) return { ok: false, code: 'campaign-plan-changed' }
  if ('ok' in campaign) return campaign
  const detail = JSON.stringify({
    plan_hash: campaign.planHash,
    ...(campaign.plan === null ? {} : tellCounts((await countRun({ db: tx }, id)).all)),
    ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
  })
  const event = EVENTS[action]
  if (event !== undefined)
    await parts.news.owe(tx, { event, by: actor.email, about: toCampaignNews(campaign) })
  tx.recordBehind([{ action, resource: 'campaign', resourceId: id, detail }])
  return { ok: true, campaign }
}

/** The decisions that the webhook is told of. */
const EVENTS: Readonly<Partial<Record<Action, ChangeEvent>>> = {
  'campaign.request': 'change_requested',
  'campaign.approve': 'change_approved',
  'campaign.reject': 'change_rejected',
}
