import type { AutoApplyTargetState } from '../wire/auto-apply.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** What a version brought to one workload by itself; a row of `auto_apply_targets`. */
export interface StoredAutoApplyTarget {
  autoApplyId: string
  workloadId: string
  workloadName: string
  /** What tells it apart from others of its name (`placeOf`). */
  workloadPlace: string
  isNewcomer: boolean
  isProduction: boolean
  baseHash: string | null
  resultHash: string
  state: AutoApplyTargetState
  pushId: string
  /** The push by which it was taken back. */
  rollbackPushId: string | null
  /** The campaign whose roll-back takes it back. */
  rolledBackBy: string | null
  cause: string | null
  title: string | null
  startedAt: Date
  endedAt: Date | null
}

const ROW = columns<keyof StoredAutoApplyTarget>({
  autoApplyId: 'auto_apply_id',
  workloadId: 'workload_id',
  workloadName: 'workload_name',
  workloadPlace: 'workload_place',
  isNewcomer: 'is_newcomer',
  isProduction: 'is_production',
  baseHash: 'base_hash',
  resultHash: 'result_hash',
  state: 'state',
  pushId: 'push_id',
  rollbackPushId: 'rollback_push_id',
  rolledBackBy: 'rolled_back_by',
  cause: 'cause',
  title: 'title',
  startedAt: 'started_at',
  endedAt: 'ended_at',
})
const COLUMNS = ROW.select()
/** What is written anew of a target that was removed and came back: all but its key. */
const ANEW = ROW.replaced(
  ...([
    'workloadName',
    'workloadPlace',
    'isNewcomer',
    'isProduction',
    'baseHash',
    'resultHash',
    'state',
  ] as const),
  ...(['pushId', 'rollbackPushId', 'rolledBackBy', 'cause', 'title', 'startedAt', 'endedAt'] as const),
)
/** The columns of a target, as a statement selects them. */
export const AUTO_APPLY_TARGET_COLUMNS = COLUMNS

/**
 * Add targets in the transaction of their pushes; false when this auto-apply pushed to one of the workloads before. What
 * it brought to one that was removed since, and came back, is replaced.
 */
export async function insertAutoApplyTargets(
  tx: Db,
  targets: readonly StoredAutoApplyTarget[],
): Promise<boolean> {
  const records = targets.map((t) => ({
    auto_apply_id: t.autoApplyId,
    workload_id: t.workloadId,
    workload_name: t.workloadName,
    workload_place: t.workloadPlace,
    is_newcomer: t.isNewcomer,
    is_production: t.isProduction,
    base_hash: t.baseHash,
    result_hash: t.resultHash,
    push_id: t.pushId,
    started_at: t.startedAt,
  }))
  const touched = await tx.execute(
    `insert into auto_apply_targets (auto_apply_id, workload_id, workload_name, workload_place, is_newcomer, is_production,
       base_hash, result_hash, state, push_id, started_at)
     select auto_apply_id, workload_id, workload_name, workload_place, is_newcomer, is_production, base_hash, result_hash, 'started',
       push_id, started_at
     from json_to_recordset($1::json) as r (auto_apply_id text, workload_id text, workload_name text, workload_place text,
       is_newcomer boolean, is_production boolean, base_hash text, result_hash text, push_id uuid,
       started_at timestamptz)
     on conflict (auto_apply_id, workload_id) do update set ${ANEW}
     where auto_apply_targets.state <> 'started'
       and auto_apply_targets.started_at < (select w.created_at from workloads w where w.id = excluded.workload_id)`,
    [JSON.stringify(records)],
  )
  return touched === targets.length
}

/** What a version may bring by itself to the workload of one of its pushes. */
export interface PushedAutoApplyTarget extends Pick<StoredAutoApplyTarget, 'baseHash'> {
  fleetConfigId: string
  number: number
  /** Whether its approval covers a production workload there. */
  isProduction: boolean
}

/** The target that a version reached with a push by itself; null where there is none. */
export async function findPushedAutoApplyTarget(
  tx: Db,
  autoApplyId: string,
  { workloadId, pushId }: { workloadId: string; pushId: string },
): Promise<PushedAutoApplyTarget | null> {
  const rows = await tx.query<PushedAutoApplyTarget>(
    `select t.base_hash as "baseHash", a.fleet_config_id as "fleetConfigId", a.number,
       a.reaches_production as "isProduction"
     from auto_apply_targets t join auto_applies a on a.id = t.auto_apply_id
     where t.auto_apply_id = $1 and t.workload_id = $2 and t.push_id = $3`,
    [autoApplyId, workloadId, pushId],
  )
  return rows[0] ?? null
}

/** How a push ended. */
export interface AutoApplyTargetEnd {
  workloadId: string
  state: AutoApplyTargetState
  cause?: string | null
  title?: string | null
}

/**
 * Write how targets ended that were in the state `from`; the others stay as they are. Statements that lock several of these rows lock
 * them by auto-apply and workload, so that no two wait for each other.
 */
export async function endAutoApplyTargets(
  tx: Db,
  autoApplyId: string,
  from: 'started' | 'applied',
  ends: readonly AutoApplyTargetEnd[],
  now: Date,
): Promise<void> {
  await tx.execute(
    `with e as (
       select t.workload_id, e.state, e.cause, e.title from auto_apply_targets t
         join unnest($3::text[], $4::text[], $5::text[], $6::text[]) as e (workload_id, state, cause, title)
           on t.workload_id = e.workload_id
       where t.auto_apply_id = $1 and t.state = $7
       order by t.auto_apply_id, t.workload_id for no key update of t)
     update auto_apply_targets t set state = e.state, cause = e.cause, title = e.title, ended_at = $2 from e
     where t.auto_apply_id = $1 and t.workload_id = e.workload_id and t.state = $7`,
    [
      autoApplyId,
      now,
      ends.map(({ workloadId }) => workloadId),
      ends.map(({ state }) => state),
      ends.map(({ cause }) => cause ?? null),
      ends.map(({ title }) => title ?? null),
      from,
    ],
  )
}

/** The targets that are said to have applied the version and of which the push has failed since, with its cause. */
export async function listAutoApplyFailedSince(db: Db, autoApplyId: string): Promise<AutoApplyTargetEnd[]> {
  return db.query<AutoApplyTargetEnd>(
    `select t.workload_id as "workloadId", 'failed' as state, p.error_cause as cause, p.error_title as title
     from pushes p join auto_apply_targets t
       on t.auto_apply_id = $1 and t.workload_id = p.workload_id and t.push_id = p.push_id
     where p.auto_apply_id = $1 and p.status = 'failed' and t.state = 'applied'`,
    [autoApplyId],
  )
}

/** The targets whose pushes have not ended. */
export async function listStartedAutoApplyTargets(
  db: Db,
  autoApplyId: string,
): Promise<StoredAutoApplyTarget[]> {
  return db.query<StoredAutoApplyTarget>(
    `select ${COLUMNS} from auto_apply_targets where auto_apply_id = $1 and state = 'started'`,
    [autoApplyId],
  )
}

/** The targets that were started since a moment and have ended, the last ended first. */
export async function listEndedAutoApplyTargets(
  db: Db,
  autoApplyId: string,
  { since, limit }: { since: Date; limit: number },
): Promise<StoredAutoApplyTarget[]> {
  return db.query<StoredAutoApplyTarget>(
    `select ${COLUMNS} from auto_apply_targets
     where auto_apply_id = $1 and state in ('applied', 'failed', 'no_answer', 'overtaken') and started_at >= $2
     order by ended_at desc, workload_id limit $3`,
    [autoApplyId, since, limit],
  )
}

/** How many targets that were started since one moment failed, or gave no answer, since another. */
export async function countAutoApplyFailures(
  db: Db,
  autoApplyId: string,
  { startedSince, endedSince }: { startedSince: Date; endedSince: Date },
): Promise<number> {
  const rows = await db.query<{ count: number }>(
    `select count(*)::int as count from auto_apply_targets
     where auto_apply_id = $1 and state in ('failed', 'no_answer') and started_at >= $2 and ended_at >= $3`,
    [autoApplyId, startedSince, endedSince],
  )
  return rows[0]!.count
}

/** How many targets are in each state. */
export async function countAutoApplyTargets(
  db: Db,
  autoApplyId: string,
): Promise<Partial<Record<AutoApplyTargetState, number>>> {
  const rows = await db.query<{ state: AutoApplyTargetState; count: number }>(
    'select state, count(*)::int as count from auto_apply_targets where auto_apply_id = $1 group by 1',
    [autoApplyId],
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** All targets, the last started first. */
export async function listAutoApplyTargets(
  db: Db,
  autoApplyId: string,
  { after, limit }: { after: { startedAt: Date; workloadId: string } | null; limit: number },
): Promise<StoredAutoApplyTarget[]> {
  return db.query<StoredAutoApplyTarget>(
    `select ${COLUMNS} from auto_apply_targets
     where auto_apply_id = $1
       and ($2::timestamptz is null or started_at < $2 or (started_at = $2 and workload_id > $3))
     order by started_at desc, workload_id limit $4`,
    [autoApplyId, after?.startedAt ?? null, after?.workloadId ?? null, limit],
  )
}
