import { columns } from './columns.ts'
import type { Db } from './db.ts'
import type { SeenTable } from './seen-rows.ts'

/** The table of agents' homes; a row is last seen when its agent last described itself. */
export const AGENT_HOMES: SeenTable = { name: 'agent_workloads', key: 'instance_uid' }

/** The workload that an agent belonged to when it last described itself. */
export interface AgentHome {
  instanceUid: string
  workloadId: string
  seenAt: Date
  /** The time between its polls, where it is so long that a start must wait longer than usual for it; else null. */
  pollIntervalMs: number | null
  /** When it said goodbye, where it has not described itself since. */
  departedAt: Date | null
}

/** An agent that was remembered. */
export interface KnownAgent extends AgentHome {
  /** Since when it is unhealthy; null where its workload did not show it as that. */
  unhealthySince: Date | null
}

/** Since when an agent is unhealthy; null for one that is not any more. */
export type UnhealthySince = Pick<KnownAgent, 'instanceUid' | 'unhealthySince'>

const HOME = columns<keyof AgentHome>({
  instanceUid: 'instance_uid',
  workloadId: 'workload_id',
  seenAt: 'seen_at',
  pollIntervalMs: 'poll_interval_ms',
  departedAt: 'departed_at',
})

/** The agents that described themselves last, `limit` at most, the oldest of them first. */
export async function listAgentHomes(db: Db, limit: number): Promise<KnownAgent[]> {
  return db.query<KnownAgent>(
    `select ${HOME.select()}, unhealthy_since as "unhealthySince" from (
       select ${HOME.names}, unhealthy_since from agent_workloads order by seen_at desc limit $1) h
     order by seen_at, instance_uid`,
    [limit],
  )
}

/** Those of these agents that are remembered, once whoever deletes some of them has done so or not. */
export async function listKnownAgents(db: Db, uids: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ uid: string }>(
    `select instance_uid as uid from agent_workloads where instance_uid = any($1::text[]) for key share`,
    [uids],
  )
  return new Set(rows.map(({ uid }) => uid))
}

/** How many agents are remembered of each of these workloads; one without any is missing. */
export async function countAgentHomes(
  db: Db,
  workloadIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ id: string; count: number }>(
    `select workload_id as id, count(*)::int as count from agent_workloads where workload_id = any($1::text[]) group by 1`,
    [workloadIds],
  )
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** Remember many agents in one statement; those of workloads that are gone meanwhile are passed over. */
export async function rememberAgentHomes(tx: Db, homes: readonly AgentHome[]): Promise<void> {
  await tx.execute(
    `insert into agent_workloads (${HOME.names})
     select h.uid, w.id, h.seen, h.interval_ms, h.departed
     from unnest($1::text[], $2::text[], $3::timestamptz[], $4::int[], $5::timestamptz[])
       as h (uid, workload_id, seen, interval_ms, departed)
     join workloads w on w.id = h.workload_id
     order by h.uid
     on conflict (instance_uid) do update set ${HOME.replaced('workloadId', 'seenAt', 'pollIntervalMs', 'departedAt')}`,
    [
      homes.map((h) => h.instanceUid),
      homes.map((h) => h.workloadId),
      homes.map((h) => h.seenAt),
      homes.map((h) => h.pollIntervalMs),
      homes.map((h) => h.departedAt),
    ],
  )
}

/** Note since when these agents are unhealthy; those that are not remembered are passed over. */
export async function noteUnhealthySince(tx: Db, noted: readonly UnhealthySince[]): Promise<void> {
  await tx.execute(
    `update agent_workloads a set unhealthy_since = n.since
     from (select l.instance_uid, u.since
           from unnest($1::text[], $2::timestamptz[]) as u (uid, since)
           join agent_workloads l on l.instance_uid = u.uid
           order by l.instance_uid for update of l) n
     where a.instance_uid = n.instance_uid`,
    [noted.map((n) => n.instanceUid), noted.map((n) => n.unhealthySince)],
  )
}

/**
 * Forget agents that have not described themselves since `before`, and with each the quarantines of its instance alone
 * and its rows as a joiner of pushes. Returns those that were forgotten.
 */
export async function forgetAgentHomes(
  tx: Db,
  uids: readonly string[],
  before: Date,
): Promise<{ instanceUid: string; workloadId: string }[]> {
  const rows = await tx.query<{ instanceUid: string; workloadId: string }>(
    `delete from agent_workloads where instance_uid = any($1::text[]) and seen_at < $2
     returning instance_uid as "instanceUid", workload_id as "workloadId"`,
    [uids, before],
  )
  const forgotten = [rows.map((row) => row.instanceUid), rows.map((row) => row.workloadId)]
  await tx.execute(
    `delete from quarantines q using unnest($1::text[], $2::text[]) as f (uid, workload_id)
     where q.workload_id = f.workload_id and q.instance_uid = f.uid`,
    forgotten,
  )
  await tx.execute(
    `delete from push_targets t using unnest($1::text[], $2::text[]) as f (uid, workload_id)
       join pushes p on p.workload_id = f.workload_id
     where t.push_id = p.push_id and t.instance_uid = f.uid and t.is_joiner and not t.is_target`,
    forgotten,
  )
  return rows
}
