import { areStuck, readApprovalHelp, type WaitingChange } from '../../lib/changes/approval-help.ts'
import { type ApprovalSurroundings, toApprovalRecord } from '../../lib/changes/approval-record.ts'
import { type ApprovalStanding, readStandings, toAskedText } from '../../lib/changes/approval-standing.ts'
import { whyNotCounted } from '../../lib/changes/judge-approvals.ts'
import { type Grant, isHeldOn } from '../../lib/model/scopes.ts'
import { listApprovalVotes } from '../../lib/store/approval-votes.ts'
import {
  type Approval,
  type ApprovalWithDraft,
  findDraft,
  listRetirements,
} from '../../lib/store/approvals.ts'
import { listComments } from '../../lib/store/comments.ts'
import { listPushesById, listRollbacksOf } from '../../lib/store/pushes.ts'
import type { ApprovalRecord } from '../../lib/wire/approvals.ts'
import type { Context } from '../../runtime/context.ts'
import { currentStateOf } from '../workloads/_push-targets-of.ts'

/** A request with what its record shows beside it. */
export interface ShownApproval<Of extends Approval> {
  approval: Of
  around: ApprovalSurroundings
}

/** Requests with what was said about them and what became of them, in their order, as this user is shown them. */
export async function withSurroundings<Of extends Approval>(
  ctx: Context,
  approvals: readonly Of[],
  userId: string,
): Promise<ShownApproval<Of>[]> {
  const ids = approvals.map(({ id }) => id)
  const pushIds = approvals.flatMap(({ pushId }) => pushId ?? [])
  // All at once: right after a push each answer waits behind some of the offers that go out.
  const [comments, votes, standings, listed] = await Promise.all([
    listComments(ctx.db, 'approval', ids),
    ids.length === 0 ? [] : listApprovalVotes(ctx.db, ids),
    standingsOf(ctx, approvals, userId),
    pushIds.length === 0 ? [] : listPushesById(ctx.db, pushIds),
  ])
  const pushes = new Map(listed.map((push) => [push.pushId, push]))
  const failedIds = [...pushes.values()].flatMap((push) => (push.status === 'failed' ? push.pushId : []))
  const answers = failedIds.length === 0 ? null : await listRollbacksOf(ctx.db, failedIds)
  const stuck = await findStuck(ctx, approvals, standings, userId)
  const retiredIds = approvals.flatMap(({ status, id }) => (status === 'retired' ? id : []))
  const retirements = retiredIds.length === 0 ? [] : await listRetirements(ctx.db, retiredIds)
  return approvals.map((approval) => {
    const workload = ctx.fleet.workload(approval.workloadId)
    const stored = pushes.get(approval.pushId ?? '') ?? null
    const push = stored === null || workload === null ? stored : currentStateOf(workload, stored)
    const stages = workload?.rollout?.stored ?? null
    const answer = push === null ? null : (answers?.get(push.pushId) ?? null)
    return {
      approval,
      around: {
        comments: comments.filter(({ of }) => of === approval.id),
        votes: votes.filter(({ approvalId }) => approvalId === approval.id),
        standing: standings.get(approval.id) ?? null,
        isStuck: stuck.has(approval.id),
        userId,
        push,
        rollout: push !== null && stages?.pushId === push.pushId ? stages : null,
        retirement: retirements.find(({ id }) => id === approval.id) ?? null,
        aftermath: push === null || workload === null ? null : ctx.views.aftermath(workload, push, answer),
      },
    }
  })
}

/** How the requests stand that wait to be approved or pushed, by id. */
async function standingsOf(ctx: Context, approvals: readonly Approval[], userId: string) {
  const open = approvals.filter(({ status }) => status === 'pending' || status === 'approved')
  const labelsOf = ({ workloadId }: Pick<Approval, 'workloadId'>) => {
    const { labels, trustedLabels } = ctx.fleet.workload(workloadId) ?? { labels: {}, trustedLabels: {} }
    return { labels, trustedLabels }
  }
  const around = { labelsOf, now: ctx.clock.now(), alsoAsking: [userId] }
  const standings = await readStandings(ctx.db, open, around)
  return new Map(standings.map((standing, at) => [open[at]!.id, standing]))
}

/** A request that waits, as whoever asks for its approvers has to know it. */
const toWaiting = (
  ctx: Context,
  { workloadId, createdAt }: Approval,
  { asked, judgement }: ApprovalStanding,
): WaitingChange => ({
  asked,
  judgement,
  requestedAt: createdAt,
  covers: (held) => isHeldOn(held, 'config:approve', ctx.fleet.workload(workloadId)?.trustedLabels ?? null),
})

/** The ids of those requests that lack an approval which nobody could give. */
async function findStuck(
  ctx: Context,
  approvals: readonly Approval[],
  standings: ReadonlyMap<string, ApprovalStanding>,
  userId: string,
): Promise<ReadonlySet<string>> {
  const changes = approvals.flatMap((approval) => {
    const standing = standings.get(approval.id)
    // Where an approval by whoever reads it would count, nobody else has to be looked for.
    if (standing === undefined || standing.judgement.isEnough || whyNotCounted(standing, userId) === null)
      return []
    return { id: approval.id, ...toWaiting(ctx, approval, standing) }
  })
  const stuck = await areStuck(ctx.db, changes)
  return new Set(changes.flatMap(({ id }, at) => (stuck[at] ? id : [])))
}

/** One request as the wire shows it to this user. */
export async function readApproval(
  ctx: Context,
  approval: Approval,
  userId: string,
): Promise<ApprovalRecord> {
  const [draftYaml, [found]] = await Promise.all([
    findDraft(ctx.db, approval.id),
    withSurroundings(ctx, [approval], userId),
  ])
  return toApprovalRecord({ ...approval, draftYaml: draftYaml ?? '' }, found!.around)
}

/** The same, with who could approve it, and who keeps this user's own approval from counting. */
export async function readApprovalWithHelp(
  ctx: Context,
  approval: ApprovalWithDraft,
  { userId, grants }: { userId: string; grants: readonly Grant[] },
): Promise<ApprovalRecord> {
  const [found] = await withSurroundings(ctx, [approval], userId)
  const record = toApprovalRecord(approval, found!.around)
  const { standing } = found!.around
  if (standing === null) return record
  const sees = (id: string) =>
    isHeldOn(grants, 'config:request', ctx.fleet.workload(id)?.trustedLabels ?? null)
  const carried = toAskedText(approval)
  const change = { ...toWaiting(ctx, approval, standing), text: approval, carried }
  const help = await readApprovalHelp(ctx.db, change, { userId, sees })
  return { ...record, help }
}
