import { isStatusThat } from './campaign-status.ts'
import type { Db } from './db.ts'
import { REPORT_SCOPE, type ReportPeriod, type ReportSlice, sliceParameters } from './report-data.ts'
import type { AutoApplyReportRow, CampaignReportRow, CampaignTargetRow } from './report-material.ts'

const ASKED_BY_THEN = (asked: string) => `($3::timestamptz is null or ${asked} <= $3)`
/** A campaign counts from its request on. Drafts and plans that nobody asked for are no evidence. */
const CAMPAIGN_ASKED = `not ${isStatusThat('c.status', 'unasked')} and ${ASKED_BY_THEN('coalesce(c.requested_at, c.created_at)')}`
/** Not over when the period began. A campaign that was rolled back after its end shows that by `updated_at` only. */
const CAMPAIGN_OPEN =
  '($2::timestamptz is null or c.ended_at is null or greatest(c.ended_at, c.updated_at) >= $2)'
/** A campaign that is done still catches up with workloads that were away. */
const TARGET_LATER = 'coalesce(t.ended_at, t.started_at) >= $2'
const CAMPAIGN_TARGET = `${CAMPAIGN_ASKED} and (${CAMPAIGN_OPEN} or ${TARGET_LATER})`
/** A version may apply by itself for years: of its pushes only those that were under way in the period count. */
const AUTO_APPLY_TARGET = `${ASKED_BY_THEN('t.started_at')} and ($2::timestamptz is null or t.ended_at is null or t.ended_at >= $2)`

/** Every workload that a campaign or an automatic push of the period is about, those that are gone included. */
export async function listTargetedWorkloads(db: Db, period: ReportPeriod): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `select t.workload_id as id from campaign_targets t join campaigns c on c.id = t.campaign_id
     where $1::text is null and ${CAMPAIGN_TARGET}
     union select t.workload_id from auto_apply_targets t where ${AUTO_APPLY_TARGET} order by 1`,
    [null, period.since, period.until],
  )
  return rows.map(({ id }) => id)
}

/** How many rows `listCampaignRows` has of each workload; workloads without any are not in the map. */
export async function countCampaignRows(
  db: Db,
  workloadIds: readonly string[],
  period: ReportPeriod,
): Promise<Map<string, number>> {
  const rows = await db.query<{ workload_id: string; count: number }>(
    `select workload_id, count(*)::int as count from (
       select t.workload_id from campaign_targets t join campaigns c on c.id = t.campaign_id
       where t.workload_id = any($1::text[]) and ${CAMPAIGN_TARGET}
       union all select t.workload_id from auto_apply_targets t
       where t.workload_id = any($1::text[]) and ${AUTO_APPLY_TARGET}) as r
     group by workload_id`,
    [workloadIds, period.since, period.until],
  )
  return new Map(rows.map((row) => [row.workload_id, row.count]))
}

/** A row as the database gives it: its times are dates, which the report has in milliseconds. */
type Stored<Row> = {
  [Key in keyof Row]: Key extends `${string}At` ? Date | Extract<Row[Key], null> : Row[Key]
}

const toMs = (date: Date | null): number | null => date?.getTime() ?? null

/** What campaigns and versions that apply by themselves did with each workload, newest first. */
export async function listCampaignRows(
  db: Db,
  slice: ReportSlice,
  period: ReportPeriod,
): Promise<CampaignTargetRow[]> {
  const rows = await db.query<Stored<CampaignTargetRow> & { at: Date }>(
    `select r.* from ${REPORT_SCOPE} cross join lateral (
       select 'campaign' as "kind", t.campaign_id as "parentId", c.name as "parentName",
         t.workload_id as "workloadId", t.workload_name as "workloadName", t.wave, t.verdict, t.reason,
         null::boolean as "isNewcomer", t.is_production as "isProduction", t.instance_count as "instanceCount",
         t.base_hash as "baseHash", t.result_hash as "resultHash", t.state, t.push_id as "pushId",
         t.rollback_push_id as "rollbackPushId", t.cause, t.title, t.started_at as "startedAt",
         t.ended_at as "endedAt", coalesce(t.started_at, c.requested_at, c.created_at) as at
       from campaign_targets t join campaigns c on c.id = t.campaign_id
       where t.workload_id = scope.id and ${CAMPAIGN_TARGET}
       union all
       select 'auto_apply', t.auto_apply_id, a.fleet_config_name || ' ' || a.number, t.workload_id, t.workload_name,
         null, null, null, t.is_newcomer, t.is_production, null, t.base_hash, t.result_hash, t.state, t.push_id, null,
         t.cause, t.title, t.started_at, t.ended_at, t.started_at
       from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id
       where t.workload_id = scope.id and ${AUTO_APPLY_TARGET}
       order by at desc, "parentId" limit $4) as r
     order by scope.n, r.at desc, r."parentId"`,
    sliceParameters(slice, period),
  )
  return rows.map(({ at: _, ...row }) => ({
    ...row,
    startedAt: toMs(row.startedAt),
    endedAt: toMs(row.endedAt),
  }))
}

/** The ids of the newest of some, and how many there are in all. */
export interface NewestIds {
  ids: string[]
  total: number
}

const toNewest = (rows: readonly { id: string; total: number }[]): NewestIds => ({
  ids: rows.map(({ id }) => id),
  total: rows[0]?.total ?? 0,
})

/** Campaigns of the period that are about these workloads; about any where `workloadIds` is null. */
export async function listReportCampaignIds(
  db: Db,
  workloadIds: readonly string[] | null,
  period: ReportPeriod,
  limit: number,
): Promise<NewestIds> {
  const rows = await db.query<{ id: string; total: number }>(
    `select c.id, count(*) over ()::int as total from campaigns c
     where ${CAMPAIGN_ASKED} and (${CAMPAIGN_OPEN} or exists (
         select from campaign_targets t where t.campaign_id = c.id and ${TARGET_LATER}
           and ($1::text[] is null or t.workload_id = any($1))))
       and ($1::text[] is null or exists (
         select from campaign_targets t where t.campaign_id = c.id and t.workload_id = any($1)))
     order by coalesce(c.requested_at, c.created_at) desc, c.id desc limit $4`,
    [workloadIds, period.since, period.until, limit],
  )
  return toNewest(rows)
}

/**
 * Versions that applied by themselves in the period to these workloads; where `workloadIds` is null to any, and also
 * those that have reached none.
 */
export async function listReportAutoApplyIds(
  db: Db,
  workloadIds: readonly string[] | null,
  period: ReportPeriod,
  limit: number,
): Promise<NewestIds> {
  const rows = await db.query<{ id: string; total: number }>(
    `select a.id, count(*) over ()::int as total from auto_applies a
     where ${ASKED_BY_THEN('a.requested_at')} and (exists (
         select from auto_apply_targets t where t.auto_apply_id = a.id and ${AUTO_APPLY_TARGET}
           and ($1::text[] is null or t.workload_id = any($1)))
       or ($1::text[] is null and ($2::timestamptz is null or a.ended_at is null or a.ended_at >= $2)))
     order by a.requested_at desc, a.id desc limit $4`,
    [workloadIds, period.since, period.until, limit],
  )
  return toNewest(rows)
}

// A target that was rolled back ended twice. Its wave ended with the first end, for which its push has the time.
const WAVES = `(select coalesce(jsonb_agg(jsonb_build_object('wave', w.wave, 'state', w.state, 'count', w.count,
    'began', floor(extract(epoch from w.began) * 1000)::bigint, 'ended', floor(extract(epoch from w.ended) * 1000)::bigint)
    order by w.wave, w.state), '[]')
  from (select t.wave, t.state, count(*)::int as count, min(t.started_at) as began,
      max(case when t.rollback_push_id is null then t.ended_at else coalesce(p.applied_at, p.failed_at) end) as ended
    from campaign_targets t left join pushes p on p.push_id = t.push_id and t.rollback_push_id is not null
    where t.campaign_id = c.id and t.wave is not null group by 1, 2) as w)`

/** Campaigns in the order of their ids' list. Of what they change only the hash is read. */
export async function listReportCampaigns(db: Db, ids: readonly string[]): Promise<CampaignReportRow[]> {
  const rows = await db.query<Stored<CampaignReportRow>>(
    `select c.id, c.name, c.status, c.change ->> 'kind' as "changeKind", c.change ->> 'hash' as "changeHash",
       c.change ->> 'fleet_config_id' as "fleetConfigId", (c.change ->> 'number')::int as "versionNumber",
       c.plan_hash as "planHash", c.plan - 'groups' as plan, c.rules, c.raised, c.halt,
       c.requested_by_id as "requestedById", c.requested_at as "requestedAt", c.request_comment as "requestComment",
       c.approvals, c.started_by_id as "startedById", c.started_at as "startedAt", c.closed_by_id as "closedById",
       c.closed_by = 'muster' as "isClosedByItself", c.close_comment as "closeComment", c.ended_at as "endedAt",
       coalesce(c.requested_at, c.created_at) as "askedAt", ${WAVES} as "waveStates"
     from ${REPORT_SCOPE} join campaigns c on c.id = scope.id order by scope.n`,
    [ids],
  )
  return rows.map((row) => ({
    ...row,
    requestedAt: toMs(row.requestedAt),
    startedAt: toMs(row.startedAt),
    endedAt: toMs(row.endedAt),
    askedAt: row.askedAt.getTime(),
  }))
}

/** Versions that apply by themselves, in the order of their ids' list. */
export async function listReportAutoApplies(db: Db, ids: readonly string[]): Promise<AutoApplyReportRow[]> {
  const rows = await db.query<Stored<AutoApplyReportRow>>(
    `select a.id, a.fleet_config_id as "fleetConfigId", a.fleet_config_name as "fleetConfigName", a.status, a.number,
       a.version_hash as "versionHash", a.selector, a.priority, a.reaches_production as "reachesProduction",
       a.plan_hash as "planHash", a.requested_by_id as "requestedById", a.requested_at as "requestedAt",
       a.request_comment as "requestComment", a.approvals, a.active_since as "activeAt", a.hold,
       a.closed_by as "closedBy", a.close_comment as "closeComment", a.end_cause as "endCause", a.ended_at as "endedAt",
       (select coalesce(jsonb_object_agg(s.state, s.count), '{}') from (
         select t.state, count(*)::int as count from auto_apply_targets t where t.auto_apply_id = a.id group by 1) as s)
         as outcomes
     from ${REPORT_SCOPE} join auto_applies a on a.id = scope.id order by scope.n`,
    [ids],
  )
  return rows.map((row) => ({
    ...row,
    requestedAt: row.requestedAt.getTime(),
    activeAt: toMs(row.activeAt),
    endedAt: toMs(row.endedAt),
  }))
}
