import type { Db } from './db.ts'
import { unapprovedHashesOf } from './pushes.ts'
import type { AlertRow, WorkloadRow } from './report-material.ts'

/** What a report's dated sections are bounded by, both ends included; null for no bound. */
export interface ReportPeriod {
  since: Date | null
  until: Date | null
}

/** Some of a report's workloads, in its order, and how many of each one's newest rows to read; null for all. */
export interface ReportSlice {
  workloadIds: readonly string[]
  perWorkload: number | null
}

/** SQL for the ids in `$1` (of workloads, or of campaigns and the like) as a table that keeps their order. */
export const REPORT_SCOPE = 'unnest($1::text[]) with ordinality as scope (id, n)'
/** SQL for the condition that a column lies in the period, which is `$2` and `$3`. */
export const withinPeriod = (column: string) =>
  `($2::timestamptz is null or ${column} >= $2) and ($3::timestamptz is null or ${column} <= $3)`

/** `$1` to `$4` of a statement over a slice. */
export const sliceParameters = (slice: ReportSlice, period: ReportPeriod): unknown[] => [
  slice.workloadIds,
  period.since,
  period.until,
  slice.perWorkload,
]

const toMs = (date: Date | null): number | null => date?.getTime() ?? null

const COUNTED = {
  config_history: { table: 'pushes', at: 'submitted_at', more: 'true' },
  // A request that a newer one replaced is listed nowhere.
  config_plan: { table: 'approvals', at: 'created_at', more: `status <> 'retired'` },
  alerts: { table: 'alerts', at: 'fired_at', more: 'true' },
  workload_events: { table: 'workload_events', at: 'occurred_at', more: 'true' },
} as const

/** How many rows each workload has in a dated section; those without any are not in the map. */
export async function countReportRows(
  section: keyof typeof COUNTED,
  db: Db,
  workloadIds: readonly string[],
  period: ReportPeriod,
): Promise<Map<string, number>> {
  const { table, at, more } = COUNTED[section]
  const rows = await db.query<{ workload_id: string; count: number }>(
    `select workload_id, count(*)::int as count from ${table}
     where workload_id = any($1::text[]) and ${withinPeriod(at)} and ${more} group by workload_id`,
    [workloadIds, period.since, period.until],
  )
  return new Map(rows.map((row) => [row.workload_id, row.count]))
}

/** Workloads in the slice's order. Of what agents report as labels only the number is read. */
export async function listReportWorkloads(db: Db, workloadIds: readonly string[]): Promise<WorkloadRow[]> {
  const rows = await db.query<{
    id: string
    display_name: string
    type: string
    version: string
    status: string
    last_seen_at: Date
    archived_at: Date | null
    accepts_remote_config: boolean
    active_config_hash: string | null
    trusted_labels: Record<string, string>
    label_count: number
    remote_status: string | null
    remote_hash: string | null
    altered_count: number | null
    altered_since: Date | null
  }>(
    `with altered as (
       select workload_id, count(*)::int as count, min(occurred_at) as since from (
         select distinct on (instance_uid) instance_uid, workload_id, event_type, occurred_at from workload_events
         where event_type in ('config_altered', 'config_restored')
         order by instance_uid, occurred_at desc, id desc) last
       where event_type = 'config_altered' and exists (select from agent_workloads h
         where h.instance_uid = last.instance_uid and h.workload_id = last.workload_id)
       group by workload_id)
     select w.id, w.display_name, w.type, w.version, w.status, w.last_seen_at, w.archived_at,
       w.accepts_remote_config, w.active_config_hash, w.rule_labels || w.trusted_labels as trusted_labels,
       (select count(*)::int from jsonb_object_keys(w.labels)) as label_count,
       w.remote_config_status ->> 'status' as remote_status,
       w.remote_config_status ->> 'configHash' as remote_hash, a.count as altered_count, a.since as altered_since
     from ${REPORT_SCOPE} join workloads w on w.id = scope.id left join altered a on a.workload_id = w.id
     order by scope.n`,
    [workloadIds],
  )
  return rows.map((row) => ({
    id: row.id,
    displayName: row.display_name,
    type: row.type,
    version: row.version,
    status: row.status,
    lastSeenAt: row.last_seen_at.getTime(),
    archivedAt: toMs(row.archived_at),
    acceptsRemoteConfig: row.accepts_remote_config,
    activeHash: row.active_config_hash,
    trustedLabels: row.trusted_labels,
    agentLabelCount: row.label_count,
    remoteStatus: row.remote_status,
    remoteHash: row.remote_hash,
    alteredCount: row.altered_count ?? 0,
    alteredSince: toMs(row.altered_since),
  }))
}

/** Alerts that fired in the period, newest first. */
export async function listReportAlerts(
  db: Db,
  slice: ReportSlice,
  period: ReportPeriod,
): Promise<AlertRow[]> {
  const rows = await db.query<{
    id: string
    workload_id: string
    rule: string
    severity: string
    message: string
    fired_at: Date
    resolved_at: Date | null
  }>(
    `select a.* from ${REPORT_SCOPE} cross join lateral (
       select id, workload_id, rule, severity, message, fired_at, resolved_at from alerts
       where workload_id = scope.id and ${withinPeriod('fired_at')} order by fired_at desc, id limit $4) as a
     order by scope.n, a.fired_at desc, a.id`,
    sliceParameters(slice, period),
  )
  return rows.map((row) => ({
    id: row.id,
    workloadId: row.workload_id,
    rule: row.rule,
    severity: row.severity,
    message: row.message,
    firedAt: row.fired_at.getTime(),
    resolvedAt: toMs(row.resolved_at),
  }))
}

/**
 * Lifecycle events, newest first, as the JSON text of `EventRow`s: by far the most rows of a report, which are only
 * handed on.
 */
export async function readReportEvents(db: Db, slice: ReportSlice, period: ReportPeriod): Promise<string> {
  const [row] = await db.query<{ events: string }>(
    `select coalesce(json_agg(json_build_object(
         'id', e.id, 'workloadId', e.workload_id, 'eventType', e.event_type, 'instanceUid', e.instance_uid,
         'podName', e.pod_name, 'version', e.version, 'prevVersion', e.prev_version,
         'occurredAt', floor(extract(epoch from e.occurred_at) * 1000)::bigint)
       order by scope.n, e.occurred_at desc, e.id desc), '[]')::text as events
     from ${REPORT_SCOPE} cross join lateral (
       select id, workload_id, event_type, instance_uid, pod_name, version, prev_version, occurred_at
       from workload_events where workload_id = scope.id and ${withinPeriod('occurred_at')}
       order by occurred_at desc, id desc limit $4) as e`,
    sliceParameters(slice, period),
  )
  return row!.events
}

/** What a person could take a workload back to, from which the rule of rollbacks chooses. */
export interface RollbackCandidates {
  workloadId: string
  activeHash: string | null
  pinned: { hash: string; appliedAt: number | null } | null
  /** Hashes that were applied, the newest first, without those that nobody approved; nor is such a one `pinned`. */
  applied: readonly { hash: string; appliedAt: number | null }[]
  quarantinedHashes: string[]
}

/** What each workload could go back to. */
export async function listRollbackCandidates(
  db: Db,
  workloadIds: readonly string[],
): Promise<RollbackCandidates[]> {
  const rows = await db.query<{
    id: string
    active_config_hash: string | null
    pinned: string | null
    pinned_at: Date | null
    applied: { hash: string; at: string | null }[]
    quarantined: string[]
  }>(
    `select w.id, w.active_config_hash, k.config_hash as pinned,
       (select max(p.applied_at) from pushes p
         where p.workload_id = w.id and p.config_hash = k.config_hash) as pinned_at,
       (select coalesce(jsonb_agg(jsonb_build_object('hash', a.config_hash, 'at', a.applied_at) order by a.seq desc), '[]')
         from (select p.config_hash, max(p.seq) as seq, max(p.applied_at) as applied_at from pushes p
           where p.workload_id = w.id and p.status = 'applied' group by p.config_hash) as a
         where a.config_hash <> all(unapproved.hashes)) as applied,
       array(select q.config_hash from quarantines q where q.workload_id = w.id and q.instance_uid = ''
         order by q.config_hash) as quarantined
     from ${REPORT_SCOPE} join workloads w on w.id = scope.id
     cross join lateral (select array(${unapprovedHashesOf('w.id')}) as hashes) as unapproved
     left join known_good_configs k on k.workload_id = w.id and k.config_hash <> all(unapproved.hashes)
     order by scope.n`,
    [workloadIds],
  )
  return rows.map((row) => ({
    workloadId: row.id,
    activeHash: row.active_config_hash,
    pinned: row.pinned === null ? null : { hash: row.pinned, appliedAt: toMs(row.pinned_at) },
    applied: row.applied.map(({ hash, at }) => ({ hash, appliedAt: at === null ? null : Date.parse(at) })),
    quarantinedHashes: row.quarantined,
  }))
}

/** How many audit records of each action are about the workloads in the period. */
export async function countReportActions(
  db: Db,
  workloadIds: readonly string[],
  period: ReportPeriod,
): Promise<Record<string, number>> {
  const rows = await db.query<{ action: string; count: number }>(
    `select action, count(*)::int as count from audit_events
     where workload_id = any($1::text[]) and ${withinPeriod('occurred_at')} group by action order by action`,
    [workloadIds, period.since, period.until],
  )
  return Object.fromEntries(rows.map((row) => [row.action, row.count]))
}

/** E-mail addresses with their users' ids: those who acted on the workloads, then everybody who is a user now. */
export async function listReportUsers(
  db: Db,
  workloadIds: readonly string[],
): Promise<[email: string, id: string][]> {
  const former = await db.query<{ email: string; user_id: string }>(
    `select distinct on (email) email, user_id from audit_events
     where workload_id = any($1::text[]) and email <> '' and user_id <> '' order by email, seq desc`,
    [workloadIds],
  )
  const present = await db.query<{ id: string; email: string }>('select id, email from users order by id')
  const ids = new Map(former.map((row) => [row.email.trim().toLowerCase(), row.user_id]))
  for (const row of present) ids.set(row.email.trim().toLowerCase(), row.id)
  return [...ids]
}
