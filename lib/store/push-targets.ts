import { compareText } from '../model/text-order.ts'
import { inTurns, sortInTurns } from '../turns.ts'
import { columns, toList } from './columns.ts'
import type { Db } from './db.ts'
import { type AgentError, toAgentError } from './pushes.ts'

/** How far one instance is with a push, or how it ended. */
export type TargetState =
  | 'offered'
  | 'applying'
  | 'applied'
  | 'failed'
  | 'straggler'
  | 'gone'
  | 'cannot_report'
  | 'superseded'

/** What one instance did with a push; a row of `push_targets`. */
export interface PushTarget {
  instanceUid: string
  podName: string
  isTarget: boolean
  isJoiner: boolean
  state: TargetState
  generation: number
  offeredAt: Date
  applyingAt: Date | null
  endedAt: Date | null
  error: AgentError | null
  /** Whether the instance had failed the same config before it was offered this push. */
  hadFailedBefore: boolean
  /** Nothing of the push had been sent to it when that ended: a failure that it reports is from before. */
  wasUnsent: boolean
  /** How often it was lost after the offer: its connection ended without a goodbye, and not by muster. */
  losses: number
  updatedAt: Date
}

/** A target with its push, and its error as columns. */
interface Row extends Omit<PushTarget, 'error'> {
  pushId: string
  cause: string | null
  title: string | null
  parameters: AgentError['parameters'] | null
  errorText: string | null
}

const TARGET = columns<keyof Row>({
  pushId: 'push_id uuid',
  instanceUid: 'instance_uid text',
  podName: 'pod_name text',
  isTarget: 'is_target boolean',
  isJoiner: 'is_joiner boolean',
  state: 'state text',
  generation: 'generation bigint',
  offeredAt: 'offered_at timestamptz',
  applyingAt: 'applying_at timestamptz',
  endedAt: 'ended_at timestamptz',
  cause: 'cause text',
  title: 'title text',
  parameters: 'parameters jsonb',
  errorText: 'error_text text',
  hadFailedBefore: 'had_failed_before boolean',
  wasUnsent: 'was_unsent boolean',
  losses: 'losses int',
  updatedAt: 'updated_at timestamptz',
})

/** A target with the push it belongs to. */
export interface TargetOfPush {
  pushId: string
  target: PushTarget
}

function toTarget({ pushId, cause, title, parameters, errorText, ...target }: Row): TargetOfPush {
  return { pushId, target: { ...target, error: toAgentError({ cause, title, parameters, text: errorText }) } }
}

/** Targets as a list for each column. */
const toLists = (targets: readonly TargetOfPush[]): string[] =>
  TARGET.listsOf(targets, {
    pushId: ({ pushId }) => pushId,
    instanceUid: ({ target }) => target.instanceUid,
    podName: ({ target }) => target.podName,
    isTarget: ({ target }) => target.isTarget,
    isJoiner: ({ target }) => target.isJoiner,
    state: ({ target }) => target.state,
    generation: ({ target }) => target.generation,
    offeredAt: ({ target }) => target.offeredAt,
    applyingAt: ({ target }) => target.applyingAt,
    endedAt: ({ target }) => target.endedAt,
    cause: ({ target }) => target.error?.cause ?? null,
    title: ({ target }) => target.error?.title ?? null,
    parameters: ({ target }) => target.error?.parameters ?? null,
    errorText: ({ target }) => target.error?.text ?? null,
    hadFailedBefore: ({ target }) => target.hadFailedBefore,
    wasUnsent: ({ target }) => target.wasUnsent,
    losses: ({ target }) => target.losses,
    updatedAt: ({ target }) => target.updatedAt,
  })

/** Rows added by one statement. An operator waits for them, and one statement is enough for most pushes. */
const INSERT_CHUNK = 10_000

interface PushOfTargets {
  pushId: string
  generation: number
  offeredAt: Date
}

/** Add targets that are offered a push by this transaction, or run its config already. */
export async function insertTargets(
  tx: Db,
  push: PushOfTargets,
  targets: readonly PushTarget[],
): Promise<void> {
  // Every transaction locks rows in the order of uids: where there are several statements, they must keep that order.
  const inOrder =
    targets.length <= INSERT_CHUNK
      ? targets
      : await sortInTurns(targets, INSERT_CHUNK, (a, b) => compareText(a.instanceUid, b.instanceUid))
  for await (const some of inTurns(inOrder, INSERT_CHUNK)) await insertSomeTargets(tx, push, some)
}

/** Add targets of several pushes, as `insertTargets` adds those of one. */
export async function insertTargetsOfPushes(tx: Db, targets: readonly TargetOfPush[]): Promise<void> {
  for await (const some of inTurns(targets, INSERT_CHUNK))
    await tx.execute(
      `insert into push_targets (${TARGET.names}) select ${TARGET.namesOf('r')} from ${TARGET.unnested('r')}`,
      toLists(some),
    )
}

/** What all targets share is passed once, the rest as a list for each column: parsed faster than JSON records. */
async function insertSomeTargets(tx: Db, push: PushOfTargets, targets: readonly PushTarget[]): Promise<void> {
  await tx.execute(
    `insert into push_targets (push_id, generation, offered_at, updated_at, losses, instance_uid, pod_name, is_target,
       is_joiner, state, had_failed_before, ended_at)
     select $1, $2, $3, $3, 0, r.uid, r.pod, r.is_target, r.is_joiner, r.state, r.had_failed_before,
       case when r.state = 'applied' then $3::timestamptz end
     from unnest($4::text[], $5::text[], $6::boolean[], $7::boolean[], $8::text[], $9::boolean[])
       as r (uid, pod, is_target, is_joiner, state, had_failed_before)
     order by r.uid collate "C"`,
    [
      push.pushId,
      push.generation,
      push.offeredAt,
      toList(targets, (target) => target.instanceUid),
      toList(targets, (target) => target.podName),
      toList(targets, (target) => target.isTarget),
      toList(targets, (target) => target.isJoiner),
      toList(targets, (target) => target.state),
      toList(targets, (target) => target.hadFailedBefore),
    ],
  )
}

/**
 * Store offers to instances that may have no row yet, such as those that came after the push's commit; one that has a
 * row counts as stored, an offer of a push that is not assigned any more is left out. Workloads are locked by id, as by
 * every statement that locks several. Returns the stored ones as `push_id/uid`.
 */
export async function insertOffers(tx: Db, targets: readonly TargetOfPush[]): Promise<Set<string>> {
  const rows = await tx.query<{ push_id: string; instance_uid: string }>(
    `with assigned as (
       select p.push_id from pushes p
       join workloads w on w.id = p.workload_id and p.push_id in (w.active_push_id, w.rollout_push_id)
       where p.push_id = any($1::uuid[]) order by w.id for share of w)
     insert into push_targets (${TARGET.names})
     select ${TARGET.namesOf('r')}
     from ${TARGET.unnested('r')} join assigned a on a.push_id = r.push_id
     order by r.push_id, r.instance_uid
     on conflict (push_id, instance_uid) do update set updated_at = excluded.updated_at
     returning push_id, instance_uid`,
    toLists(targets),
  )
  return new Set(rows.map((row) => `${row.push_id}/${row.instance_uid}`))
}

/** What an instance does changes these; the rest is as it was when it was offered the push. */
const CHANGING = TARGET.replaced(
  'state',
  'isTarget',
  'applyingAt',
  'endedAt',
  'losses',
  'podName',
  'updatedAt',
  'cause',
  'title',
  'parameters',
  'errorText',
)

/** Rows made into one statement before others get their turn. */
const UPDATE_CHUNK = 1_000

const inLockOrder = (a: TargetOfPush, b: TargetOfPush): number =>
  compareText(a.pushId, b.pushId) || compareText(a.target.instanceUid, b.target.instanceUid)

/**
 * Write what many instances did. A superseded row keeps its state unless the instance had said how it ended while its
 * push was being closed; and a push that is being deleted gets no rows any more. Rows are locked by push and uid, over
 * all statements, so that no two transactions wait for each other.
 */
export async function updateTargets(tx: Db, targets: readonly TargetOfPush[]): Promise<void> {
  const inOrder =
    targets.length <= UPDATE_CHUNK ? targets : await sortInTurns(targets, UPDATE_CHUNK, inLockOrder)
  for await (const some of inTurns(inOrder, UPDATE_CHUNK)) await updateSomeTargets(tx, some)
}

async function updateSomeTargets(tx: Db, targets: readonly TargetOfPush[]): Promise<void> {
  await tx.execute(
    `insert into push_targets (${TARGET.names})
     select ${TARGET.namesOf('r')}
     from ${TARGET.unnested('r')} join pushes p on p.push_id = r.push_id
     order by r.push_id, r.instance_uid
     for key share of p
     on conflict (push_id, instance_uid) do update set
       ${CHANGING}
     where push_targets.state <> 'superseded' or excluded.state in ('applied', 'failed')`,
    toLists(targets),
  )
}

/** Note of targets of a push that ended, which this transaction has closed, that nothing had been sent to them. */
export async function noteUnsentTargets(tx: Db, pushId: string, uids: readonly string[]): Promise<void> {
  if (uids.length === 0) return
  await tx.execute(
    `update push_targets set was_unsent = true
     where push_id = $1 and instance_uid = any($2::text[]) and state = 'superseded'`,
    [pushId, uids],
  )
}

/** An instance that joined a push, and is here no more; `at` is when its row was written last. */
export interface ForgottenTarget {
  pushId: string
  instanceUid: string
  at: Date
}

/** Remove the rows of joiners that are here no more; one that came back meanwhile keeps its row. */
export async function removeTargets(tx: Db, targets: readonly ForgottenTarget[]): Promise<void> {
  await tx.execute(
    `with gone as (
       select t.push_id, t.instance_uid from push_targets t
       join unnest($1::uuid[], $2::text[], $3::timestamptz[]) as g (push_id, uid, at)
         on t.push_id = g.push_id and t.instance_uid = g.uid
       where t.is_joiner and t.updated_at <= g.at
       order by t.push_id, t.instance_uid for update of t)
     delete from push_targets t using gone g where t.push_id = g.push_id and t.instance_uid = g.instance_uid`,
    [targets.map((t) => t.pushId), targets.map((t) => t.instanceUid), targets.map((t) => t.at)],
  )
}

/** All targets of some pushes. */
export async function listTargets(db: Db, pushIds: readonly string[]): Promise<TargetOfPush[]> {
  const rows = await db.query<Row>(
    `select ${TARGET.select()} from push_targets where push_id = any($1::uuid[]) order by push_id, instance_uid`,
    [pushIds],
  )
  return rows.map(toTarget)
}

/** Failed instances of one push that share a cause. */
export interface StoredErrorGroup {
  pushId: string
  cause: string
  title: string
  count: number
  firstAt: Date
  lastAt: Date
  /** Some of them, sorted. */
  instanceUids: readonly string[]
  sample: string
  /** Empty unless they are the same for all of them. */
  parameters: Readonly<Record<string, string | number>>
}

/** The failed instances of some pushes, grouped by cause. */
export async function listErrorGroups(
  db: Db,
  pushIds: readonly string[],
  instancesMax: number,
): Promise<StoredErrorGroup[]> {
  const rows = await db.query<{
    push_id: string
    cause: string
    title: string
    count: number
    first_at: Date
    last_at: Date
    uids: string[]
    sample: string
    parameters: Record<string, string | number> | null
  }>(
    `select push_id, coalesce(cause, 'unknown') as cause, coalesce(min(title), 'Remote config error') as title,
       count(*)::int as count, min(coalesce(ended_at, updated_at)) as first_at,
       max(coalesce(ended_at, updated_at)) as last_at,
       (array_agg(instance_uid order by instance_uid))[1:$2::int] as uids, coalesce(min(error_text), '') as sample,
       case when count(distinct coalesce(parameters, '{}')) = 1 then (array_agg(parameters))[1] end as parameters
     from push_targets where push_id = any($1::uuid[]) and state = 'failed'
     group by push_id, coalesce(cause, 'unknown') order by push_id, 2`,
    [pushIds, instancesMax],
  )
  return rows.map((row) => ({
    pushId: row.push_id,
    cause: row.cause,
    title: row.title,
    count: row.count,
    firstAt: row.first_at,
    lastAt: row.last_at,
    instanceUids: row.uids,
    sample: row.sample,
    parameters: row.parameters ?? {},
  }))
}
