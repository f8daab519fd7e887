import type { AutoApplyEndCause, AutoApplyHold, AutoApplyPlan, AutoApplyStatus } from '../wire/auto-apply.ts'
import type { Selector } from '../wire/selectors.ts'
import { assignmentsOf, type MovedColumns } from './assignments.ts'
import type { StoredCampaignApproval } from './campaigns.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'
import { SAYS_THE_SAME } from './fleet-configs.ts'
import { authorsOf } from './text-authors.ts'

/** A version of a fleet config for newcomers, as it was asked for and as it stands; a row of `auto_applies`. */
export interface StoredAutoApply {
  id: string
  fleetConfigId: string
  fleetConfigName: string
  status: AutoApplyStatus
  number: number
  versionHash: string
  selector: Selector
  priority: number
  /** Of the config policy (`MUSTER_POLICY_*`) that held when it was asked for. */
  policyHash: string
  reachesProduction: boolean
  plan: AutoApplyPlan
  planHash: string
  /** An e-mail. */
  requestedBy: string
  requestedById: string
  requestedAt: Date
  requestComment: string
  approvals: readonly StoredCampaignApproval[]
  /** Newcomers are those first seen since; null before it was approved. */
  activeSince: Date | null
  /** Failures from before do not stop it any more. */
  countedSince: Date | null
  hold: AutoApplyHold | null
  closedBy: string | null
  closeComment: string | null
  endCause: AutoApplyEndCause | null
  endedAt: Date | null
  updatedAt: Date
}

const ROW = columns<keyof StoredAutoApply>({
  id: 'id',
  fleetConfigId: 'fleet_config_id',
  fleetConfigName: 'fleet_config_name',
  status: 'status',
  number: 'number',
  versionHash: 'version_hash',
  selector: 'selector',
  priority: 'priority',
  policyHash: 'policy_hash',
  reachesProduction: 'reaches_production',
  plan: 'plan',
  planHash: 'plan_hash',
  requestedBy: 'requested_by',
  requestedById: 'requested_by_id',
  requestedAt: 'requested_at',
  requestComment: 'request_comment',
  approvals: 'approvals',
  activeSince: 'active_since',
  countedSince: 'counted_since',
  hold: 'hold',
  closedBy: 'closed_by',
  closeComment: 'close_comment',
  endCause: 'end_cause',
  endedAt: 'ended_at',
  updatedAt: 'updated_at',
})
const COLUMNS = ROW.select()

/** The statuses of a version in force: it applies by itself, or is stopped and may go on. */
export const IN_FORCE = ['active', 'paused', 'held'] as const satisfies AutoApplyStatus[]
const OPEN = ['requested', ...IN_FORCE] as const

/** Write down a request; false where another one of the fleet config waits already. */
export async function insertAutoApply(tx: Db, asked: StoredAutoApply): Promise<boolean> {
  const touched = await tx.execute(
    `insert into auto_applies (id, fleet_config_id, fleet_config_name, status, number, version_hash, selector,
       priority, policy_hash, reaches_production, plan, plan_hash, author_ids, requested_by, requested_by_id,
       requested_at, request_comment, approvals, updated_at)
     values ($1, $2, $3, 'requested', $4, $5, $6::jsonb, $7, $8, $9, $10::jsonb, $11, ${authorsOf('$13')}, $12, $13,
       $14, $15, '[]', $14)
     on conflict (fleet_config_id) where status = 'requested' do nothing`,
    [
      asked.id,
      asked.fleetConfigId,
      asked.fleetConfigName,
      asked.number,
      asked.versionHash,
      JSON.stringify(asked.selector),
      asked.priority,
      asked.policyHash,
      asked.reachesProduction,
      JSON.stringify(asked.plan),
      asked.planHash,
      asked.requestedBy,
      asked.requestedById,
      asked.requestedAt,
      asked.requestComment,
    ],
  )
  return touched === 1
}

/**
 * Remove what somebody asked for that ended before it was in force and that nobody else approved or rejected, but for the
 * `kept` that ended last: of any fleet config. Nothing was brought by it, and the audit trail tells of it.
 */
export async function removeOwnUnstarted(tx: Db, requestedById: string, kept: number): Promise<void> {
  await tx.execute(
    `with ended as materialized (
       select a.id from auto_applies a where a.requested_by_id = $1 and a.active_since is null
         and (a.status in ('withdrawn', 'expired', 'ended') or a.status = 'rejected' and a.closed_by = a.requested_by)
         and not exists (select from jsonb_array_elements(a.approvals) p where p->>'byId' is distinct from $1)
       order by a.ended_at desc, a.id desc offset $2)
     delete from auto_applies where id in (
       select a.id from auto_applies a join ended on ended.id = a.id for update of a skip locked)`,
    [requestedById, kept],
  )
}

/** What of a fleet config is asked for or in force: one of each at most. */
export async function listOpenAutoApplies(db: Db, fleetConfigId: string): Promise<StoredAutoApply[]> {
  return db.query<StoredAutoApply>(
    `select ${COLUMNS} from auto_applies where fleet_config_id = $1 and status = any($2::text[])`,
    [fleetConfigId, OPEN],
  )
}

/** What is in force, or has ended while pushes or stages of it have not. */
export interface AutoApplyInForce extends StoredAutoApply {
  /** Whether a push has failed of which its target is said to have applied the version. */
  hasFailedSince: boolean
}

/**
 * Of all fleet configs, what is in force, and what has ended while pushes of it have not, or is one of `amidStages`:
 * those of which a workload is in the middle of its stages.
 */
export async function listAutoAppliesInForce(
  db: Db,
  amidStages: readonly string[],
): Promise<AutoApplyInForce[]> {
  return db.query<AutoApplyInForce>(
    `select ${COLUMNS}, exists (
       select from pushes p join auto_apply_targets t
         on t.auto_apply_id = p.auto_apply_id and t.workload_id = p.workload_id and t.push_id = p.push_id
       where p.auto_apply_id = auto_applies.id and p.status = 'failed' and t.state = 'applied') as "hasFailedSince"
     from auto_applies
     where status = any($1::text[]) or (status = 'ended' and (id = any($2::text[]) or exists (
       select from auto_apply_targets t where t.auto_apply_id = auto_applies.id and t.state = 'started')))
     order by requested_at, id`,
    [IN_FORCE, amidStages],
  )
}

/** What of a fleet config is asked for or in force, locked until the transaction ends. */
export async function lockOpenAutoApplies(tx: Db, fleetConfigId: string): Promise<StoredAutoApply[]> {
  return tx.query<StoredAutoApply>(
    `select ${COLUMNS} from auto_applies where fleet_config_id = $1 and status = any($2::text[])
     order by id for update`,
    [fleetConfigId, OPEN],
  )
}

/** The status, held until the transaction ends so that nobody changes it; null when there is none. */
export async function shareAutoApply(tx: Db, id: string): Promise<AutoApplyStatus | null> {
  const rows = await tx.query<{ status: AutoApplyStatus }>(
    'select status from auto_applies where id = $1 for share',
    [id],
  )
  return rows[0]?.status ?? null
}

/** What a decision, or its own course, changes; what is absent stays. */
export type AutoApplyMove = Pick<StoredAutoApply, 'status'> &
  Partial<
    Pick<
      StoredAutoApply,
      | 'approvals'
      | 'activeSince'
      | 'countedSince'
      | 'hold'
      | 'closedBy'
      | 'closeComment'
      | 'endCause'
      | 'endedAt'
    >
  >

const MOVED: MovedColumns<AutoApplyMove> = {
  status: { column: 'status' },
  approvals: { column: 'approvals', isJson: true },
  activeSince: { column: 'active_since' },
  countedSince: { column: 'counted_since' },
  hold: { column: 'hold', isJson: true },
  closedBy: { column: 'closed_by' },
  closeComment: { column: 'close_comment' },
  endCause: { column: 'end_cause' },
  endedAt: { column: 'ended_at' },
}

/** Move it on from one of these statuses; null when it is in none of them. */
export async function moveAutoApply(
  tx: Db,
  id: string,
  from: readonly AutoApplyStatus[],
  move: AutoApplyMove,
  now: Date,
): Promise<StoredAutoApply | null> {
  const params: unknown[] = [id, from, now]
  const rows = await tx.query<StoredAutoApply>(
    `update auto_applies set ${assignmentsOf(MOVED, move, params)}, updated_at = $3
     where id = $1 and status = any($2::text[]) returning ${COLUMNS}`,
    params,
  )
  return rows[0] ?? null
}

/** What is asked for or in force of a fleet config that says the same as a version, locked until the transaction ends. */
export async function lockAutoAppliesOf(
  tx: Db,
  { fleetConfigId, number }: { fleetConfigId: string; number: number },
): Promise<StoredAutoApply[]> {
  return tx.query<StoredAutoApply>(
    `select ${COLUMNS} from auto_applies where fleet_config_id = $1::uuid and status = any($2::text[])
       and number in (select same.number from fleet_config_versions v join fleet_config_versions same on ${SAYS_THE_SAME}
         where v.fleet_config_id = $1::uuid and v.number = $3)
     order by id for update`,
    [fleetConfigId, OPEN, number],
  )
}

/** End what is asked for or in force of a fleet config: all of it or, with `ids`, these. Returns the ids. */
export async function endAutoApplies(
  tx: Db,
  ended: {
    fleetConfigId: string
    ids: readonly string[] | null
    cause: AutoApplyEndCause
    by: string
    now: Date
  },
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `update auto_applies a set status = 'ended', end_cause = $3, closed_by = $4, ended_at = $5, updated_at = $5
     where fleet_config_id = $1::uuid and status = any($6::text[]) and ($2::text[] is null or id = any($2::text[]))
     returning id`,
    [ended.fleetConfigId, ended.ids, ended.cause, ended.by, ended.now, OPEN],
  )
  return rows.map(({ id }) => id)
}

/** End what was paused, or stopped by itself, and has not changed since `since`: nobody continued it. */
export async function endStoppedAutoApplies(tx: Db, since: Date, now: Date): Promise<StoredAutoApply[]> {
  return tx.query<StoredAutoApply>(
    `update auto_applies set status = 'ended', end_cause = 'not_continued', ended_at = $2, updated_at = $2
     where id in (select id from auto_applies where status in ('paused', 'held') and updated_at < $1 order by id for update)
     returning ${COLUMNS}`,
    [since, now],
  )
}

/** One of them; null when there is none. */
export async function findAutoApply(db: Db, id: string): Promise<StoredAutoApply | null> {
  const rows = await db.query<StoredAutoApply>(`select ${COLUMNS} from auto_applies where id = $1`, [id])
  return rows[0] ?? null
}

/** What ended last for a fleet config; null where nothing ever applied by itself. */
export async function findLastEnded(db: Db, fleetConfigId: string): Promise<StoredAutoApply | null> {
  const rows = await db.query<StoredAutoApply>(
    `select ${COLUMNS} from auto_applies where fleet_config_id = $1 and status = 'ended' and active_since is not null
     order by ended_at desc, id desc limit 1`,
    [fleetConfigId],
  )
  return rows[0] ?? null
}

/** End the requests that have not changed since `since`: nobody decides them. */
export async function expireAutoApplyRequests(tx: Db, since: Date, now: Date): Promise<StoredAutoApply[]> {
  return tx.query<StoredAutoApply>(
    `update auto_applies set status = 'expired', ended_at = $2, updated_at = $2
     where status = 'requested' and updated_at < $1 returning ${COLUMNS}`,
    [since, now],
  )
}
