import type { PushedRisk } from '../wire/approvals.ts'
import type { APPROVAL_STATUSES } from '../wire/values.ts'
import { DRAFT_OF_A } from './approval-drafts.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'
import type { Push } from './pushes.ts'
import { authorsOf } from './text-authors.ts'

/** Where a request stands, as it is stored. */
export type StoredApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/**
 * A request to run a draft on a workload, with what became of it; without the draft's text, which may be a mebibyte.
 */
export interface Approval {
  id: string
  workloadId: string
  /** SHA-256 of the draft's bytes, lower-case hex. */
  draftHash: string
  /** The active config when it was requested; null when none was. */
  baseConfigHash: string | null
  targetGroup: string
  targetEnv: string
  requester: string
  requesterId: string
  requestComment: string
  /** `retired`: something that whoever approved it had not seen took its place. */
  status: StoredApprovalStatus
  approver: string | null
  approverId: string | null
  approvalComment: string | null
  approvedAt: Date | null
  pushComment: string | null
  pushId: string | null
  configHash: string | null
  prodTarget: boolean
  prodConfirmation: boolean
  prodDoubleConfirmed: boolean
  breakGlass: boolean
  breakGlassReason: string | null
  /** Whoever rejected or withdrew it, or decided what took its place. */
  closedBy: string | null
  closedAt: Date | null
  closeComment: string | null
  createdAt: Date
  updatedAt: Date
  pushedAt: Date | null
  /** How risky it was when it was pushed; null of one that was not, and where nobody could tell. */
  risk: PushedRisk | null
}

/** A request with the text of its draft, '' where that was forgotten. */
export interface ApprovalWithDraft extends Approval {
  draftYaml: string
}

const OF = columns<keyof Approval>({
  id: 'id',
  workloadId: 'workload_id',
  draftHash: 'draft_hash',
  baseConfigHash: 'base_config_hash',
  targetGroup: 'target_group',
  targetEnv: 'target_env',
  requester: 'requester',
  requesterId: 'requester_id',
  requestComment: 'request_comment',
  status: 'status',
  approver: 'approver',
  approverId: 'approver_id',
  approvalComment: 'approval_comment',
  approvedAt: 'approved_at',
  pushComment: 'push_comment',
  pushId: 'push_id',
  configHash: 'config_hash',
  prodTarget: 'prod_target',
  prodConfirmation: 'prod_confirmation',
  prodDoubleConfirmed: 'prod_double_confirmed',
  breakGlass: 'break_glass',
  breakGlassReason: 'break_glass_reason',
  closedBy: 'closed_by',
  closedAt: 'closed_at',
  closeComment: 'close_comment',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  pushedAt: 'pushed_at',
  risk: 'risk',
})
const COLUMNS = OF.select()
const COLUMNS_OF_A = OF.select('a')
const WITH_DRAFT = `${COLUMNS_OF_A}, ${DRAFT_OF_A} as "draftYaml"`

/** Whoever retires requests, by what he decided, and when. */
export interface Retirer {
  actor: string
  /** Null for the service itself. */
  actorId: string | null
  now: Date
}

/** Sets a request retired, of a retirer as `$1` to `$3`. */
const RETIRED = `status = 'retired', updated_at = $1, closed_at = $1, closed_by = $2, closed_by_id = $3`

/** A new request, as it is stored. */
export type NewApproval = Pick<
  ApprovalWithDraft,
  | 'id'
  | 'workloadId'
  | 'draftYaml'
  | 'draftHash'
  | 'baseConfigHash'
  | 'targetGroup'
  | 'targetEnv'
  | 'requester'
  | 'requesterId'
  | 'requestComment'
  | 'prodTarget'
  | 'prodConfirmation'
  | 'createdAt'
>

/** Add a pending request. The workload's row must be locked and the pending one of its group retired. */
export async function insertApproval(tx: Db, request: NewApproval): Promise<Approval> {
  const rows = await tx.query<Approval>(
    `insert into approvals (id, workload_id, draft_yaml, draft_hash, base_config_hash, target_group, target_env,
       requester, requester_id, request_comment, status, prod_target, prod_confirmation, prod_double_confirmed,
       break_glass, created_at, updated_at, author_ids)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'pending', $11, $12, false, false, $13, $13, ${authorsOf('$9')})
     returning ${COLUMNS}`,
    [
      request.id,
      request.workloadId,
      request.draftYaml,
      request.draftHash,
      request.baseConfigHash,
      request.targetGroup,
      request.targetEnv,
      request.requester,
      request.requesterId,
      request.requestComment,
      request.prodTarget,
      request.prodConfirmation,
      request.createdAt,
    ],
  )
  return rows[0]!
}

/**
 * The id of the request of a workload and group that is pending and that another person asked for, who is there; null where
 * there is none.
 */
export async function findPendingOfAnother(
  db: Db,
  { workloadId, targetGroup, requesterId }: Pick<NewApproval, 'workloadId' | 'targetGroup' | 'requesterId'>,
): Promise<string | null> {
  const rows = await db.query<{ id: string }>(
    `select a.id from approvals a join users u on u.id::text = a.requester_id and u.kind <> 'service'
     where a.workload_id = $1 and a.target_group = $2 and a.status = 'pending' and a.requester_id <> $3`,
    [workloadId, targetGroup, requesterId],
  )
  return rows[0]?.id ?? null
}

/** Retire the pending request of a workload and group for a newer one; returns it when there was one. */
export async function retirePendingApproval(
  tx: Db,
  newer: Pick<Approval, 'id' | 'workloadId' | 'targetGroup'>,
  by: Retirer,
): Promise<Approval | null> {
  const rows = await tx.query<Approval>(
    `update approvals set ${RETIRED}, retired_by_request = $6
     where workload_id = $4 and target_group = $5 and status = 'pending' returning ${COLUMNS}`,
    [by.now, by.actor, by.actorId, newer.workloadId, newer.targetGroup, newer.id],
  )
  return rows[0] ?? null
}

/**
 * Retire the approved requests of a request's group and workload that are older than it, now that it is approved. Its row
 * must be locked; of the others the newest is locked first.
 */
export async function retireOlderApproved(
  tx: Db,
  newer: Pick<Approval, 'id'>,
  by: Retirer,
): Promise<Approval[]> {
  return tx.query<Approval>(
    `with older as (
       select o.id from approvals o join approvals n on n.id = $4 and o.workload_id = n.workload_id
       where o.status = 'approved' and (o.created_at, o.id) < (n.created_at, n.id)
         and o.target_group = n.target_group
       order by o.created_at desc, o.id desc for update of o)
     update approvals set ${RETIRED}, retired_by_request = $4 where id in (select id from older) returning ${COLUMNS}`,
    [by.now, by.actor, by.actorId, newer.id],
  )
}

/**
 * Retire the approved requests of workloads that these pushes overtake: those that are older than the request that a
 * push comes from, or all where it comes from none. The workloads' rows must be locked, and so must that request; of the
 * others the newest of a workload is locked first.
 */
export async function retireOvertaken(
  tx: Db,
  pushes: readonly { workloadId: string; pushId: string; approvalId: string | null }[],
  by: Retirer,
): Promise<Approval[]> {
  return tx.query<Approval>(
    `with overtaken as (
       select o.id, p.push_id
       from unnest($4::text[], $5::uuid[], $6::text[]) as p (workload_id, push_id, approval_id)
       join approvals o on o.workload_id = p.workload_id and o.status = 'approved'
         and o.id is distinct from p.approval_id
       left join approvals n on n.id = p.approval_id
       where n.id is null or (o.created_at, o.id) < (n.created_at, n.id)
       order by o.created_at desc, o.id desc for update of o)
     update approvals a set ${RETIRED}, retired_by_push = o.push_id from overtaken o where a.id = o.id
     returning ${COLUMNS_OF_A}`,
    [
      by.now,
      by.actor,
      by.actorId,
      pushes.map(({ workloadId }) => workloadId),
      pushes.map(({ pushId }) => pushId),
      pushes.map(({ approvalId }) => approvalId),
    ],
  )
}

/** What took the place of a request that was retired, from the rows of what did. */
export interface Retirement {
  id: string
  /** The newer request. */
  newerId: string | null
  push: Pick<Push, 'pushId' | 'kind' | 'approvalId' | 'campaignId' | 'autoApplyId'> | null
  campaignName: string | null
  fleetConfigId: string | null
  fleetConfigName: string | null
  versionNumber: number | null
}

/** What took the place of these requests; of those that were retired before it was noted, nothing is known. */
export async function listRetirements(db: Db, approvalIds: readonly string[]): Promise<Retirement[]> {
  const rows = await db.query<Omit<Retirement, 'push'> & NonNullable<Retirement['push']>>(
    `select a.id, a.retired_by_request as "newerId", p.push_id::text as "pushId", p.kind,
       p.approval_id as "approvalId", p.campaign_id as "campaignId", p.auto_apply_id as "autoApplyId",
       c.name as "campaignName", v.fleet_config_id as "fleetConfigId", v.fleet_config_name as "fleetConfigName",
       v.number as "versionNumber"
     from approvals a left join pushes p on p.push_id = a.retired_by_push
     left join campaigns c on c.id = p.campaign_id left join auto_applies v on v.id = p.auto_apply_id
     where a.id = any($1::text[]) and (a.retired_by_request is not null or p.push_id is not null)`,
    [approvalIds],
  )
  return rows.map(({ pushId, kind, approvalId, campaignId, autoApplyId, ...row }) => ({
    ...row,
    push: pushId === null ? null : { pushId, kind, approvalId, campaignId, autoApplyId },
  }))
}

/** End a request that nobody pushed; null when it had an end already. */
export async function closeApproval(
  tx: Db,
  end: {
    id: string
    status: 'rejected' | 'withdrawn'
    actor: string
    /** Null for the service itself. */
    actorId: string | null
    comment: string | null
    now: Date
  },
): Promise<Approval | null> {
  const rows = await tx.query<Approval>(
    `update approvals set status = $2, closed_by = $3, closed_by_id = $4, close_comment = $5, closed_at = $6,
       updated_at = $6
     where id = $1 and status in ('pending', 'approved') returning ${COLUMNS}`,
    [end.id, end.status, end.actor, end.actorId, end.comment, end.now],
  )
  return rows[0] ?? null
}

/** One request of a workload with its draft; null when there is none. */
export async function findApproval(
  db: Db,
  workloadId: string,
  id: string,
): Promise<ApprovalWithDraft | null> {
  const rows = await db.query<ApprovalWithDraft>(
    `select ${WITH_DRAFT} from approvals a where id = $1 and workload_id = $2`,
    [id, workloadId],
  )
  return rows[0] ?? null
}

/** The draft's text of a request, '' where it was forgotten; null when the request is gone. */
export async function findDraft(db: Db, id: string): Promise<string | null> {
  const rows = await db.query<{ draft: string }>(
    `select ${DRAFT_OF_A} as draft from approvals a where id = $1`,
    [id],
  )
  return rows[0]?.draft ?? null
}

/**
 * The request to run exactly this text on a workload: an approved one where there is, else the one changed last. One
 * that was retired, rejected or withdrawn does not count.
 */
export async function findNewestApprovalOfDraft(
  db: Db,
  workloadId: string,
  draftHash: string,
): Promise<Approval | null> {
  const rows = await db.query<Approval>(
    `select ${COLUMNS} from approvals
     where workload_id = $1 and draft_hash = $2 and status in ('pending', 'approved', 'pushed')
     order by (status = 'approved') desc, updated_at desc, id desc limit 1`,
    [workloadId, draftHash],
  )
  return rows[0] ?? null
}

/**
 * The newest request of a group for exactly this text, whatever became of it; null when there was none. Of two of the
 * same millisecond it is the open one.
 */
export async function findNewestApprovalFromGit(
  db: Db,
  workloadId: string,
  targetGroup: string,
  draftHash: string,
): Promise<Approval | null> {
  const rows = await db.query<Approval>(
    `select ${COLUMNS} from approvals where workload_id = $1 and target_group = $2 and draft_hash = $3
     order by created_at desc, (status in ('pending', 'approved')) desc, id desc limit 1`,
    [workloadId, targetGroup, draftHash],
  )
  return rows[0] ?? null
}

/**
 * The requests of a group that nobody has pushed or ended, the newest first: whoever locks several locks them in this
 * order.
 */
export async function listOpenApprovalsOfGroup(
  db: Db,
  workloadId: string,
  targetGroup: string,
): Promise<Approval[]> {
  return db.query<Approval>(
    `select ${COLUMNS} from approvals
     where workload_id = $1 and target_group = $2 and status in ('pending', 'approved')
     order by created_at desc, id desc`,
    [workloadId, targetGroup],
  )
}

/**
 * The requests that nobody has pushed or ended, nor changed since `unchangedSince`, by id; `after` is the last of the
 * page before, and empty for the first.
 */
export async function listForgottenApprovals(
  db: Db,
  unchangedSince: Date,
  { after, limit }: { after: string; limit: number },
): Promise<Approval[]> {
  return db.query<Approval>(
    `select ${COLUMNS} from approvals
     where status in ('pending', 'approved') and updated_at <= $1 and id > $2 order by id limit $3`,
    [unchangedSince, after, limit],
  )
}

/** A request, whose row is locked until the transaction ends; null when it is gone. */
export async function lockApproval(tx: Db, id: string): Promise<Approval | null> {
  const rows = await tx.query<Approval>(`select ${COLUMNS} from approvals where id = $1 for update`, [id])
  return rows[0] ?? null
}

/** Note that something happened to a request, whose row must be locked. */
export async function touchApproval(tx: Db, id: string, now: Date): Promise<Approval> {
  const rows = await tx.query<Approval>(
    `update approvals set updated_at = $2 where id = $1 returning ${COLUMNS}`,
    [id, now],
  )
  return rows[0]!
}

/** Mark a request approved, and with it (migration 0110) what was claimed of it in Git; its row must be locked, and nobody pushed or closed it. */
export async function markApproved(
  tx: Db,
  approval: { id: string; approver: string; approverId: string; comment: string; now: Date },
): Promise<Approval> {
  const { id, approver, approverId, now, comment } = approval
  const rows = await tx.query<Approval>(
    `update approvals set status = 'approved', approver = $2, approver_id = $3, approved_at = $4,
       approval_comment = $5, updated_at = $4
     where id = $1 returning ${COLUMNS}`,
    [id, approver, approverId, now, comment],
  )
  return rows[0]!
}

/** Note that the glass was broken for the further stages of a pushed request. Its row must be locked. */
export async function markGlassBroken(
  tx: Db,
  { id, reason, now }: { id: string; reason: string; now: Date },
): Promise<Approval> {
  const rows = await tx.query<Approval>(
    `update approvals set break_glass = true, break_glass_reason = $2, updated_at = $3
     where id = $1 returning ${COLUMNS}`,
    [id, reason, now],
  )
  return rows[0]!
}

/** Mark a request pushed. Its row must be locked and its status checked. */
export async function markPushed(
  tx: Db,
  push: {
    id: string
    pushId: string
    configHash: string
    comment: string
    prodTarget: boolean
    prodDoubleConfirmed: boolean
    breakGlass: boolean
    breakGlassReason: string | null
    risk: PushedRisk | null
    now: Date
  },
): Promise<Approval> {
  const rows = await tx.query<Approval>(
    `update approvals set status = 'pushed', pushed_at = $2, updated_at = $2, push_id = $3, config_hash = $4,
       push_comment = $5, prod_target = $6, prod_double_confirmed = $7, break_glass = $8, break_glass_reason = $9,
       risk = $10
     where id = $1 returning ${COLUMNS}`,
    [
      push.id,
      push.now,
      push.pushId,
      push.configHash,
      push.comment,
      push.prodTarget,
      push.prodDoubleConfirmed,
      push.breakGlass,
      push.breakGlassReason,
      push.risk === null ? null : JSON.stringify(push.risk),
    ],
  )
  return rows[0]!
}

/** Whose requests are listed. */
export interface ApprovalFilter {
  /** The workloads whose requests are meant; null for all. */
  workloadIds: readonly string[] | null
  statuses: readonly StoredApprovalStatus[]
}

/** Which requests of a list are read at one time. */
export interface ApprovalPage {
  after: { updatedAt: Date; id: string } | null
  limit: number
  /** No further request is read once those read take as many bytes, by what was said about them and their drafts. */
  bytesMax: number
}

/** Requests of a list, and whether the list ends with them. */
export interface FoundApprovals<Of extends Approval> {
  approvals: Of[]
  isEnd: boolean
}

/** Requests of these statuses without their drafts, the last changed first. */
export const listApprovals = (
  db: Db,
  filter: ApprovalFilter,
  page: ApprovalPage,
): Promise<FoundApprovals<Approval>> => listWeighed<Approval>(db, COLUMNS_OF_A, SAID_BYTES, filter, page)

/** The same with their drafts. */
export const listApprovalsWithDrafts = (
  db: Db,
  filter: ApprovalFilter,
  page: ApprovalPage,
): Promise<FoundApprovals<ApprovalWithDraft>> =>
  listWeighed<ApprovalWithDraft>(db, WITH_DRAFT, `octet_length(${DRAFT_OF_A}) + ${SAID_BYTES}`, filter, page)

/** SQL for how many bytes were said about a request `a`. */
const SAID_BYTES = `(select coalesce(sum(octet_length(body)), 0) from approval_comments where approval_id = a.id)`

async function listWeighed<Of extends Approval>(
  db: Db,
  read: string,
  bytes: string,
  { workloadIds, statuses }: ApprovalFilter,
  { after, limit, bytesMax }: ApprovalPage,
): Promise<FoundApprovals<Of>> {
  const rows = await db.query<Of & { found: number }>(
    `with page as (
       select id, updated_at, ${bytes} as bytes from approvals a
       where status = any($2::text[]) and ($1::text[] is null or workload_id = any($1))
         and ($3::timestamptz is null or (updated_at, id) < ($3, $4))
       order by updated_at desc, id desc limit $5),
     weighed as (
       select id as "pageId", sum(bytes) over (order by updated_at desc, id desc) - bytes as before,
         count(*) over () as found from page)
     select ${read}, found from weighed join approvals a on a.id = "pageId"
     where before < $6 order by a.updated_at desc, a.id desc`,
    [workloadIds, statuses, after?.updatedAt ?? null, after?.id ?? null, limit, bytesMax],
  )
  const found = rows[0]?.found ?? 0
  const approvals = rows.map(({ found: _, ...approval }) => approval as unknown as Of)
  return { approvals, isEnd: found < limit && rows.length === found }
}

/** How many requests of these statuses are of other workloads than these. */
export async function countApprovalsOutside(
  db: Db,
  workloadIds: readonly string[],
  statuses: readonly StoredApprovalStatus[],
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*) as count from approvals where status = any($2::text[]) and workload_id <> all($1::text[])`,
    [workloadIds, statuses],
  )
  return rows[0]!.count
}
