import type { AlertRule, AlertSeverity, TopicAlertRule } from '../wire/alerts.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** The values in an alert's message, for a reader that puts them into words of its own. */
export type AlertDetails = Readonly<Record<string, string | number>>

/**
 * The stored alert that counts for one workload and rule: open, or resolved by an operator while its cause
 * was there (`quiet`). There is at most one.
 */
export interface CurrentAlert {
  id: string
  workloadId: string
  rule: AlertRule
  state: 'open' | 'quiet'
  /** What it is about; '' where the rule says nothing of it. */
  subject: string
  message: string
}

/** A stored alert; `resolvedAt` is null while it is active. */
export interface Alert {
  id: string
  /** Empty where it is about none. */
  workloadId: string
  rule: AlertRule
  severity: AlertSeverity
  message: string
  /** What it is about; '' where the rule says nothing of it. */
  subject: string
  /** The values in the message. */
  details: AlertDetails
  firedAt: Date
  resolvedAt: Date | null
  /** Why an operator resolved it; '' where nobody said. */
  resolveReason: string
  /** An operator resolved it, and its cause has been there ever since. */
  isQuiet: boolean
}

/** An alert that is to be opened. */
export type NewAlert = Omit<Alert, 'resolvedAt' | 'resolveReason' | 'isQuiet'>

const ALERT = columns<keyof Alert>({
  id: 'id',
  workloadId: `coalesce(workload_id,'')`,
  rule: 'rule',
  severity: 'severity',
  message: 'message',
  subject: 'subject',
  details: 'details',
  firedAt: 'fired_at',
  resolvedAt: 'resolved_at',
  resolveReason: 'resolve_reason',
  isQuiet: 'quiet',
})
const COLUMNS = ALERT.select()

/** What is given of an alert that is to be opened, beside what it is about. */
const OPENED = {
  id: 'id text',
  rule: 'rule text',
  severity: 'severity text',
  message: 'message text',
  firedAt: 'fired_at timestamptz',
  subject: 'subject text',
  details: 'details jsonb',
}
const OF_WORKLOADS = columns<keyof NewAlert>({ ...OPENED, workloadId: 'workload_id text' })
const RESTATED = columns<'alertId' | 'message' | 'subject' | 'details' | 'severity'>({
  alertId: 'id text',
  message: 'message text',
  subject: 'subject text',
  details: 'details jsonb',
  severity: 'severity text',
})
const OF_TOPICS = columns<keyof typeof OPENED | 'topic'>({ ...OPENED, topic: 'topic text' })

/** The place of an alert in the list's order: fired_at descending, then id. */
export interface AlertPosition {
  firedAt: Date
  id: string
}

/** Alerts, newest first; `after` is exclusive. */
export async function listAlerts(
  db: Db,
  filter: {
    includeResolved: boolean
    /** Null for all. */
    workloadId: string | null
    after: AlertPosition | null
    limit: number | null
  },
): Promise<Alert[]> {
  // A part of the statement and not a parameter, so that the index of open alerts serves the list of those.
  const which = filter.includeResolved ? '' : 'resolved_at is null and'
  const whose = filter.workloadId === null ? '' : 'workload_id = $4 and'
  return db.query<Alert>(
    `select ${COLUMNS} from alerts
     where ${which} ${whose} ($1::timestamptz is null or fired_at < $1 or (fired_at = $1 and id > $2))
     order by fired_at desc, id limit $3`,
    [
      filter.after?.firedAt ?? null,
      filter.after?.id ?? null,
      filter.limit,
      ...(filter.workloadId === null ? [] : [filter.workloadId]),
    ],
  )
}

/** Of an open alert, what says which others have its cause and how pressing it is. */
export type PressingFacts = Pick<Alert, 'id' | 'workloadId' | 'rule' | 'severity' | 'firedAt'> & {
  /** The hash of a config, and the cause with its title; each absent where the alert has none. */
  details: AlertDetails
}

/** Open alerts to look at first: the critical ones, then what waits for a decision, old versions last; the newest of each. */
export async function listPressingAlerts(db: Db, limit: number): Promise<PressingFacts[]> {
  return db.query<PressingFacts>(
    `select id, coalesce(workload_id, '') as "workloadId", rule, severity, fired_at as "firedAt",
       case when details ?| array['config_hash', 'cause'] then jsonb_strip_nulls(jsonb_build_object('config_hash',
         details->'config_hash', 'cause', details->'cause', 'cause_title', details->'cause_title')) else '{}' end as details
     from alerts where resolved_at is null
     order by (severity = 'critical') desc, (rule in ('campaign_halted', 'rollout_halted', 'auto_apply_held')) desc,
       (rule = 'version_outdated'), fired_at desc, id limit $1`,
    [limit],
  )
}

/** These alerts, in no order; those that are gone are left out. */
export async function listAlertsByIds(db: Db, ids: readonly string[]): Promise<Alert[]> {
  return db.query<Alert>(`select ${COLUMNS} from alerts where id = any($1::text[])`, [ids])
}

/**
 * How many alerts are open, how many of these are over, and how many critical ones are not. Those of an old version are
 * over for the workloads of `currentIds`, all others for those of `calmIds`.
 */
export async function sumOpenAlerts(
  db: Db,
  calmIds: readonly string[],
  currentIds: readonly string[],
): Promise<{ open: number; over: number; critical: number }> {
  const rows = await db.query<{ open: number; over: number; critical: number }>(
    `select count(*)::int as open, (count(*) filter (where is_over))::int as over,
       (count(*) filter (where severity = 'critical' and not is_over))::int as critical
     from (select severity, coalesce(case when rule = 'version_outdated' then workload_id = any($2::text[])
         else workload_id = any($1::text[]) end, false) as is_over
       from alerts where resolved_at is null) a`,
    [calmIds, currentIds],
  )
  return rows[0]!
}

/** How many alerts are open. */
export async function countOpenAlerts(db: Db): Promise<number> {
  const rows = await db.query<{ count: number }>(
    'select count(*)::int as count from alerts where resolved_at is null',
  )
  return rows[0]!.count
}

/** One alert; null when there is none. */
export async function findAlert(db: Db, id: string): Promise<Alert | null> {
  const rows = await db.query<Alert>(`select ${COLUMNS} from alerts where id = $1`, [id])
  return rows[0] ?? null
}

/** What an alert is about: `workloadId` is '' where it is no workload, `topic` where it is one. */
export type AlertSubject = Pick<Alert, 'workloadId' | 'rule'> & { topic: string }

/** What these alerts are about. */
export async function listAlertSubjects(db: Db, ids: readonly string[]): Promise<AlertSubject[]> {
  return db.query<AlertSubject>(
    `select distinct coalesce(workload_id, '') as "workloadId", rule, topic from alerts where id = any($1::text[])`,
    [ids],
  )
}

/** The alerts that count now, open or quiet: one at most for each workload and rule. */
export async function listCurrentAlerts(db: Db): Promise<CurrentAlert[]> {
  return db.query<CurrentAlert>(
    `select id, workload_id as "workloadId", rule, case when quiet then 'quiet' else 'open' end as state, subject, message
     from alerts where workload_id is not null and (resolved_at is null or quiet)`,
  )
}

/** An alert that counts now and is about no workload. */
export interface CurrentTopicAlert extends Pick<CurrentAlert, 'id' | 'state' | 'subject' | 'message'> {
  rule: TopicAlertRule
  topic: string
}

/** The alerts that count now and are about no workload: one at most for each topic and rule. */
export async function listCurrentTopicAlerts(db: Db): Promise<CurrentTopicAlert[]> {
  return db.query<CurrentTopicAlert>(
    `select id, topic, rule, case when quiet then 'quiet' else 'open' end as state, subject, message
     from alerts where workload_id is null and (resolved_at is null or quiet)`,
  )
}

/**
 * Add alerts that are about no workload, and return those that were added. One is left out when its topic and rule have
 * an open or quiet alert already.
 */
export async function insertTopicAlerts(
  tx: Db,
  alerts: readonly (NewAlert & { topic: string })[],
): Promise<Alert[]> {
  return tx.query<Alert>(
    `insert into alerts (id, workload_id, topic, rule, severity, message, fired_at, quiet, subject, details)
     select a.id, null, a.topic, a.rule, a.severity, a.message, a.fired_at, false, a.subject, a.details
     from ${OF_TOPICS.unnested('a')}
     on conflict (topic, rule) where workload_id is null and (resolved_at is null or quiet) do nothing
     returning ${COLUMNS}`,
    OF_TOPICS.listsOfRows(alerts),
  )
}

/** The open alerts of one workload. */
export async function listOpenAlertsOf(db: Db, workloadId: string): Promise<Alert[]> {
  return db.query<Alert>(
    `select ${COLUMNS} from alerts where workload_id = $1 and resolved_at is null order by id`,
    [workloadId],
  )
}

/**
 * Add alerts about workloads, and return those that were added. One is left out when its workload is gone or archived,
 * or has an open or quiet alert of the same rule already.
 */
export async function insertAlerts(tx: Db, alerts: readonly NewAlert[]): Promise<Alert[]> {
  return tx.query<Alert>(
    `insert into alerts (id, workload_id, rule, severity, message, fired_at, quiet, subject, details)
     select a.id, w.id, a.rule, a.severity, a.message, a.fired_at, false, a.subject, a.details
     from ${OF_WORKLOADS.unnested('a')}
     join workloads w on w.id = a.workload_id and w.archived_at is null
     order by a.workload_id, a.rule
     on conflict (workload_id, rule) where resolved_at is null or quiet do nothing
     returning ${COLUMNS}`,
    OF_WORKLOADS.listsOfRows(alerts),
  )
}

/** Resolve open alerts whose cause has gone; returns those that were open. */
export async function resolveAlerts(tx: Db, ids: readonly string[], now: Date): Promise<Alert[]> {
  return tx.query<Alert>(
    `update alerts set resolved_at = $2 where id = any($1::text[]) and resolved_at is null returning ${COLUMNS}`,
    [ids, now],
  )
}

/** Put right what open alerts say; returns those that are open. */
export async function restateAlerts(
  tx: Db,
  alerts: readonly ({ alertId: string } & Pick<Alert, 'message' | 'subject' | 'details' | 'severity'>)[],
): Promise<Alert[]> {
  if (alerts.length === 0) return []
  return tx.query<Alert>(
    `update alerts set (message, subject, details, severity) = (
       select a.message, a.subject, a.details, a.severity from ${RESTATED.unnested('a')} where a.id = alerts.id)
     where id = any($1::text[]) and (resolved_at is null or quiet) returning ${COLUMNS}`,
    RESTATED.listsOfRows(alerts),
  )
}

/** End the quiet of alerts whose cause has gone since an operator resolved them: their rules may fire again. */
export async function endQuiet(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.execute(`update alerts set quiet = false where id = any($1::text[]) and quiet`, [ids])
}

/**
 * Remove at most `limit` alerts that were resolved before `before`, the oldest first; returns how many. One that keeps
 * its rule quiet stays: its cause is still there.
 */
export async function trimAlerts(tx: Db, before: Date, limit: number): Promise<number> {
  return tx.execute(
    `delete from alerts where id in (
       select id from alerts where resolved_at < $1 and not quiet order by resolved_at limit $2)`,
    [before, limit],
  )
}

/** Resolve one alert by an operator's word and keep its rule quiet; null when it was not open. */
export async function resolveByOperator(tx: Db, id: string, now: Date, reason = ''): Promise<Alert | null> {
  const rows = await tx.query<Alert>(
    `update alerts set resolved_at = $2, quiet = true, resolve_reason = $3
     where id = $1 and resolved_at is null returning ${COLUMNS}`,
    [id, now, reason],
  )
  return rows[0] ?? null
}

/**
 * Take back what an operator resolved at `resolvedSince` or later, where its cause was there all the time; null when
 * there is nothing to take back.
 */
export async function reopenAlert(tx: Db, id: string, resolvedSince: Date): Promise<Alert | null> {
  const rows = await tx.query<Alert>(
    `update alerts set resolved_at = null, quiet = false, resolve_reason = ''
     where id = $1 and quiet and resolved_at >= $2 returning ${COLUMNS}`,
    [id, resolvedSince],
  )
  return rows[0] ?? null
}

/** Resolve what is open of workloads that leave the inventory, and end every quiet; returns what was open. */
export async function resolveAlertsOfWorkloads(
  tx: Db,
  workloadIds: readonly string[],
  now: Date,
): Promise<Alert[]> {
  await tx.execute(`update alerts set quiet = false where workload_id = any($1::text[]) and quiet`, [
    workloadIds,
  ])
  return tx.query<Alert>(
    `update alerts set resolved_at = $2 where workload_id = any($1::text[]) and resolved_at is null
     returning ${COLUMNS}`,
    [workloadIds, now],
  )
}
