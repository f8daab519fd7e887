import { type ApprovalClass, LOWERING_WAIT_MS } from '../model/approval-policy.ts'
import type { REVIEW_KINDS } from '../wire/values.ts'
import type { StoredCampaign } from './campaigns.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'
import { authorsOf } from './text-authors.ts'

/** What was done that a second person has to look at. */
export type ReviewKind = (typeof REVIEW_KINDS)[number]

/** Something that was done past an approval, and whether somebody has looked at it since. */
export interface Review {
  id: string
  kind: ReviewKind
  /** Empty where it is a label rule or a campaign. */
  workloadId: string
  /** The campaign that was taken back, and what it could reach; null where it is none. */
  campaignId: string | null
  campaignScope: StoredCampaign['scope'] | null
  configHash: string | null
  pushId: string | null
  approvalId: string | null
  /** Of labels: the classes that the workload had before; of a label rule: those that newcomers would have had. */
  keptClasses: ApprovalClass[]
  reason: string
  doneBy: string
  /** Whoever did it, by id, and the owner of the service account that did. */
  authorIds: string[]
  doneAt: Date
  /** Null until somebody has looked at it, as all that follows. */
  reviewedBy: string | null
  reviewedAt: Date | null
  comment: string | null
  accepted: boolean | null
}

const REVIEW = columns<Exclude<keyof Review, 'campaignScope'>>({
  id: 'id',
  kind: 'kind',
  workloadId: `coalesce(workload_id,'')`,
  campaignId: 'campaign_id',
  configHash: 'config_hash',
  pushId: 'push_id',
  approvalId: 'approval_id',
  keptClasses: 'kept_classes',
  reason: 'reason',
  doneBy: 'done_by',
  authorIds: 'author_ids',
  doneAt: 'done_at',
  reviewedBy: 'reviewed_by',
  reviewedAt: 'reviewed_at',
  comment: 'comment',
  accepted: 'accepted',
})
const COLUMNS = `${REVIEW.select()},
  (select c.scope from campaigns c where c.id = campaign_id) as "campaignScope"`

/** Something that waits for a second person from now on. */
export interface NewReview
  extends Pick<
    Review,
    'id' | 'kind' | 'workloadId' | 'campaignId' | 'configHash' | 'pushId' | 'approvalId' | 'reason'
  > {
  keptClasses: readonly ApprovalClass[]
  doneBy: string
  doneById: string
  doneAt: Date
  /** Of a label rule: who came later is a newcomer to it, by `readLastComing`; null of anything else. */
  newcomersAfter: number | null
}

/** Whether a review, as `r`, keeps its classes still where nobody has looked at it; by the database's clock alone. */
const IS_WAITING = `r.kept_since > now() - interval '${LOWERING_WAIT_MS} milliseconds'`

/** The number of the last workload that came, in the order in which their rows are written. */
export async function readLastComing(db: Db): Promise<number> {
  const rows = await db.query<{ last: number }>(
    'select case when is_called then last_value else 0 end as last from workload_comings',
  )
  return rows[0]!.last
}

/**
 * Add what waits for a second person. A review of a rollback, a pin or labels takes the place of an open one of the same
 * kind and workload, under a new id: so nobody accepts what he has not seen. For labels and rollbacks, the authors of the
 * open review count as authors of the new one. The classes that labels kept are kept while the open review is younger than
 * `LOWERING_WAIT_MS`; a rollback is as old as the first that nobody looked at, and names whoever did one since.
 */
export async function insertReview(tx: Db, review: NewReview): Promise<Review> {
  const rows = await tx.query<Review>(
    `insert into reviews as r (id, kind, workload_id, config_hash, push_id, approval_id, kept_classes, reason, done_by,
       author_ids, done_at, campaign_id, newcomers_after)
     values ($1, $2, nullif($3, ''), $4, $5, $6, $7::text[], $8, $9, ${authorsOf('$10')}, $11, $12, $13)
     on conflict (workload_id, kind) where reviewed_at is null and kind in ('known_good', 'labels', 'rollback') do update
       set id = excluded.id, config_hash = excluded.config_hash, push_id = excluded.push_id,
         approval_id = excluded.approval_id, reason = excluded.reason,
         kept_classes = case when ${IS_WAITING}
           then array(select distinct unnest(r.kept_classes || excluded.kept_classes) order by 1)
           else excluded.kept_classes end,
         done_by = case when r.kind <> 'rollback' then excluded.done_by
           else array_to_string(array_remove(string_to_array(r.done_by, ', '), excluded.done_by) || excluded.done_by, ', ') end,
         done_at = case when r.kind = 'rollback' then least(r.done_at, excluded.done_at) else excluded.done_at end,
         kept_since = excluded.kept_since,
         author_ids = case when r.kind in ('labels', 'rollback')
           then array(select distinct unnest(r.author_ids || excluded.author_ids)) else excluded.author_ids end
     returning ${COLUMNS}`,
    [
      review.id,
      review.kind,
      review.workloadId,
      review.configHash,
      review.pushId,
      review.approvalId,
      review.keptClasses,
      review.reason,
      review.doneBy,
      review.doneById,
      review.doneAt,
      review.campaignId,
      review.newcomersAfter,
    ],
  )
  return rows[0]!
}

/** A review, whose row is locked until the transaction ends; null when there is none. */
export async function lockReview(tx: Db, id: string): Promise<Review | null> {
  const rows = await tx.query<Review>(`select ${COLUMNS} from reviews where id = $1 for update`, [id])
  return rows[0] ?? null
}

/** Note who has looked at a review, and whether that person found it in order. Its row must be locked. */
export async function markReviewed(
  tx: Db,
  review: { id: string; by: string; byId: string; at: Date; comment: string; accepted: boolean },
): Promise<Review> {
  const rows = await tx.query<Review>(
    `update reviews set reviewed_by = $2, reviewed_by_id = $3, reviewed_at = $4, comment = $5, accepted = $6
     where id = $1 returning ${COLUMNS}`,
    [review.id, review.by, review.byId, review.at, review.comment, review.accepted],
  )
  return rows[0]!
}

interface Page {
  after: { at: Date; id: string } | null
  limit: number
}

/** The open reviews, the oldest first. Those of labels and label rules that keep no class any more are left out. */
export async function listOpenReviews(db: Db, page: Page): Promise<Review[]> {
  return db.query<Review>(
    `select ${COLUMNS} from reviews r
     where reviewed_at is null and (kind not in ('labels', 'label_rule') or ${IS_WAITING})
       and ($1::timestamptz is null or (done_at, id) > ($1, $2))
     order by done_at, id limit $3`,
    [page.after?.at ?? null, page.after?.id ?? null, page.limit],
  )
}

/** The reviews that somebody has done, the last first. */
export async function listDoneReviews(db: Db, page: Page): Promise<Review[]> {
  return db.query<Review>(
    `select ${COLUMNS} from reviews
     where reviewed_at is not null and ($1::timestamptz is null or (reviewed_at, id) < ($1, $2))
     order by reviewed_at desc, id desc limit $3`,
    [page.after?.at ?? null, page.after?.id ?? null, page.limit],
  )
}

/** Whether the glass was broken for a workload, and nobody has looked at it yet. */
export async function hasUnseenGlass(db: Db, workloadId: string): Promise<boolean> {
  const rows = await db.query<{ found: boolean }>(
    `select exists (select from reviews
       where workload_id = $1 and kind = 'break_glass' and reviewed_at is null) as found`,
    [workloadId],
  )
  return rows[0]!.found
}

/**
 * Classes that are kept beside those that labels make, as `workload_id`, `kept` and `done_at`, of changes that nobody has accepted
 * and that wait still: those that a workload had before its labels were changed, and those that a newcomer would have
 * had before the rules were.
 */
const KEPT = `
  select r.workload_id, kept, r.done_at from reviews r, unnest(r.kept_classes) as kept
  where r.kind = 'labels' and ${IS_WAITING} and r.accepted is not true
  union all
  select w.id, kept, r.done_at from reviews r join workloads w
    on case when r.newcomers_after is null then w.created_at >= r.done_at else w.coming > r.newcomers_after end,
    unnest(r.kept_classes) as kept
  where r.kind = 'label_rule' and ${IS_WAITING} and r.accepted is not true`

/** How many changes of label rules have kept classes for newcomers within the last `LOWERING_WAIT_MS`. */
export async function countKeepingRules(db: Db): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*)::int as count from reviews r where r.kind = 'label_rule' and ${IS_WAITING}`,
  )
  return rows[0]!.count
}

/** Remove at most `limit` reviews of label rules that are older than so many days; returns how many went. */
export async function trimRuleReviews(tx: Db, days: number, limit: number): Promise<number> {
  return tx.execute(
    `delete from reviews where id in (
       select id from reviews where kind = 'label_rule' and kept_since < now() - make_interval(days => $1) limit $2)`,
    [days, limit],
  )
}

/** The classes that these workloads keep after changes of labels and of label rules that nobody has accepted. */
export async function listKeptClasses(
  db: Db,
  workloadIds: readonly string[],
): Promise<Map<string, ApprovalClass[]>> {
  const rows = await db.query<{ workloadId: string; classes: ApprovalClass[] }>(
    `select workload_id as "workloadId", array_agg(distinct kept) as classes from (${KEPT}) k
     where workload_id = any($1::text[]) group by workload_id`,
    [workloadIds],
  )
  return new Map(rows.map(({ workloadId, classes }) => [workloadId, classes]))
}

/** When the newest of the changes was made for which a workload keeps a class; null where it keeps none. */
export async function findKeptSince(db: Db, workloadId: string): Promise<Date | null> {
  const rows = await db.query<{ since: Date | null }>(
    `select max(done_at) as since from (${KEPT}) k where workload_id = $1`,
    [workloadId],
  )
  return rows[0]!.since
}

/** The ids of those of some workloads that keep being production after changes of labels that nobody has accepted. */
export async function listKeptProduction(db: Db, workloadIds: readonly string[]): Promise<Set<string>> {
  const kept = await listKeptClasses(db, workloadIds)
  return new Set([...kept].flatMap(([id, classes]) => (classes.includes('production') ? [id] : [])))
}

/** Whether a target of a campaign keeps being production after changes of labels that nobody has accepted. */
export async function keepsProduction(db: Db, campaignId: string): Promise<boolean> {
  const rows = await db.query<{ found: boolean }>(
    `select exists (select from (${KEPT}) k join campaign_targets t on t.workload_id = k.workload_id
       where t.campaign_id = $1 and k.kept = 'production') as found`,
    [campaignId],
  )
  return rows[0]?.found ?? false
}
