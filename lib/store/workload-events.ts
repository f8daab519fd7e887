import type { WORKLOAD_EVENT_TYPES } from '../wire/values.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** What can happen to an instance that its workload's log keeps. */
export type EventType = (typeof WORKLOAD_EVENT_TYPES)[number]

/** One entry of a workload's lifecycle log. Empty texts stand for "not known". */
export interface WorkloadEvent {
  workloadId: string
  instanceUid: string
  podName: string
  eventType: EventType
  version: string
  prevVersion: string
  occurredAt: Date
}

/** An event with the id that it was stored under. */
export interface StoredWorkloadEvent extends WorkloadEvent {
  id: number
}

const COLUMNS = columns<keyof StoredWorkloadEvent>({
  id: 'id',
  workloadId: 'workload_id',
  instanceUid: 'instance_uid',
  podName: 'pod_name',
  eventType: 'event_type',
  version: 'version',
  prevVersion: 'prev_version',
  occurredAt: 'occurred_at',
}).select()

/**
 * Append many events in one statement, in order; those of workloads that are gone meanwhile are passed over.
 *
 * Thousands of events a second may come from a fleet that reconnects: they go in as one JSON text, and only what is
 * not known comes back.
 */
export async function insertEvents(tx: Db, events: readonly WorkloadEvent[]): Promise<StoredWorkloadEvent[]> {
  const [stored] = await tx.query<{ ids: number[] | null; workload_ids: string[] | null }>(
    `with stored as (
       insert into workload_events (workload_id, instance_uid, pod_name, event_type, version, prev_version, occurred_at)
       select w.id, e.uid, e.pod, e.type, e.version, e.prev, e.at
       from rows from (
           json_to_recordset($1) as (w text, u text, p text, t text, v text, f text, a timestamptz)
         ) with ordinality as e (workload_id, uid, pod, type, version, prev, at, n)
       join workloads w on w.id = e.workload_id
       order by e.n
       returning id, workload_id)
     select json_agg(id order by id) as ids, json_agg(distinct workload_id) as workload_ids from stored`,
    [JSON.stringify(events.map(toJson))],
  )
  // Ids are given in the order of the events, and a workload is there for all of its events or for none.
  const ids = stored?.ids ?? []
  const workloadIds = new Set(stored?.workload_ids)
  return events
    .filter(({ workloadId }) => workloadIds.has(workloadId))
    .map((event, n) => ({ ...event, id: ids[n]! }))
}

/** Texts of agents are cut somewhere, perhaps in the middle of a character, which is no JSON for PostgreSQL. */
const toJson = (event: WorkloadEvent) => ({
  w: event.workloadId,
  u: event.instanceUid,
  p: event.podName.toWellFormed(),
  t: event.eventType,
  v: event.version.toWellFormed(),
  f: event.prevVersion.toWellFormed(),
  a: event.occurredAt,
})

/** A workload's events, newest first: after `since` (exclusive), before `cursor` in that order. */
export async function listEvents(
  db: Db,
  workloadId: string,
  filter: { since: Date | null; before: { occurredAt: Date; id: number } | null; limit: number },
): Promise<StoredWorkloadEvent[]> {
  return db.query<StoredWorkloadEvent>(
    `select ${COLUMNS} from workload_events
     where workload_id = $1 and ($2::timestamptz is null or occurred_at > $2)
       and ($3::timestamptz is null or (occurred_at, id) < ($3, $4))
     order by occurred_at desc, id desc limit $5`,
    [workloadId, filter.since, filter.before?.occurredAt ?? null, filter.before?.id ?? null, filter.limit],
  )
}

/** Instances that were changed on their hosts and have not been put right since, the newest `limit`, oldest first. */
export async function listAltered(db: Db, limit: number): Promise<{ instanceUid: string; since: Date }[]> {
  return db.query<{ instanceUid: string; since: Date }>(
    `select instance_uid as "instanceUid", occurred_at as since from (
       select instance_uid, occurred_at from (
         select distinct on (instance_uid) instance_uid, occurred_at, event_type from workload_events
         where event_type in ('config_altered', 'config_restored')
         order by instance_uid, occurred_at desc, id desc) as last
       where event_type = 'config_altered' order by occurred_at desc limit $1) as newest
     order by occurred_at`,
    [limit],
  )
}

/** How many events of each type fell into each bucket since `since`. */
export async function countEvents(
  db: Db,
  workloadId: string,
  since: Date,
  bucketSeconds: number,
): Promise<{ bucket: number; eventType: EventType; count: number }[]> {
  return db.query<{ bucket: number; eventType: EventType; count: number }>(
    `select floor(extract(epoch from occurred_at - $2) / $3)::int as bucket, event_type as "eventType", count(*)::int as count
     from workload_events where workload_id = $1 and occurred_at > $2
     group by 1, 2 order by 1, 2`,
    [workloadId, since, bucketSeconds],
  )
}

/** How many events of each of these workloads fell into each bucket since `since`; those without any have no row. */
export async function countEventsOfEach(
  db: Db,
  workloadIds: readonly string[],
  since: Date,
  bucketSeconds: number,
): Promise<{ workloadId: string; bucket: number; count: number }[]> {
  return db.query<{ workloadId: string; bucket: number; count: number }>(
    `select workload_id as "workloadId", floor(extract(epoch from occurred_at - $2) / $3)::int as bucket,
       count(*)::int as count
     from workload_events where workload_id = any($1) and occurred_at > $2
     group by 1, 2`,
    [workloadIds, since, bucketSeconds],
  )
}

/**
 * When the oldest of the newest so many events happened; null where there are fewer. It goes by their ids, of which a few are
 * given to no event: so a few events fewer may be kept.
 */
export async function findAgeOfEvents(db: Db, most: number): Promise<Date | null> {
  const rows = await db.query<{ at: Date }>(
    `select occurred_at as at from workload_events
     where id <= (select max(id) from workload_events) - $1 + 1 order by id desc limit 1`,
    [most],
  )
  return rows[0]?.at ?? null
}

/** Remove at most `limit` events older than `before`, the oldest first; returns how many. */
export async function trimEvents(tx: Db, before: Date, limit: number): Promise<number> {
  return tx.execute(
    // Since when an instance that is known is changed on its host stands nowhere else.
    `delete from workload_events where id in (
       select e.id from workload_events e where e.occurred_at < $1 and not (e.event_type = 'config_altered'
         and exists (select from agent_workloads h where h.instance_uid = e.instance_uid)
         and not exists (select from workload_events later where later.instance_uid = e.instance_uid
           and later.event_type in ('config_altered', 'config_restored')
           and (later.occurred_at, later.id) > (e.occurred_at, e.id)))
       order by e.occurred_at limit $2)`,
    [before, limit],
  )
}
