import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** Where a push stands: open, or decided. */
export type PushStatus = 'pending' | 'applied' | 'failed'
/** The finer state of a push. */
export type PushPhase =
  | 'submitted'
  | 'sent'
  | 'applying'
  | 'applied'
  | 'failed'
  | 'superseded'
  | 'no_status'
  | 'aborted'

/** An agent's error in words that may be shown; the raw text is never kept. */
export interface AgentError {
  cause: string
  title: string
  parameters: Readonly<Record<string, string | number>>
  /** Redacted and cut; only for those who may read configs. */
  text: string
}

/** A stored push of this workload's, as far as the fleet works with it. */
export interface Push {
  pushId: string
  workloadId: string
  seq: number
  hash: string
  kind: 'approval' | 'rollback' | 'auto-rollback'
  pushedBy: string
  generation: number
  status: PushStatus
  phase: PushPhase
  submittedAt: Date
  sentAt: Date | null
  appliedAt: Date | null
  failedAt: Date | null
  updatedAt: Date
  error: AgentError | null
  approvalId: string | null
  rollbackOfPushId: string | null
  failedHash: string | null
  rollbackTargetKind: string | null
  /** Instances that were left out at commit: how many, by reason. */
  excluded: Readonly<Record<string, number>>
  counts: {
    target: number
    applying: number
    applied: number
    failed: number
    straggler: number
    gone: number
    joined: number
  }
}

/** A push with its counts and its error as columns. */
interface Row extends Omit<Push, 'counts' | 'error'> {
  errorCause: string | null
  errorTitle: string | null
  errorParameters: AgentError['parameters'] | null
  errorText: string | null
  targetCount: number
  applyingCount: number
  appliedCount: number
  failedCount: number
  stragglerCount: number
  goneCount: number
  joinedCount: number
}

const PUSH = columns<keyof Row>({
  pushId: 'push_id',
  workloadId: 'workload_id',
  seq: 'seq',
  hash: 'config_hash',
  kind: 'kind',
  pushedBy: 'pushed_by',
  generation: 'generation',
  status: 'status',
  phase: 'phase',
  submittedAt: 'submitted_at',
  sentAt: 'sent_at',
  appliedAt: 'applied_at',
  failedAt: 'failed_at',
  updatedAt: 'updated_at',
  errorCause: 'error_cause',
  errorTitle: 'error_title',
  errorParameters: 'error_parameters',
  errorText: 'error_text',
  approvalId: 'approval_id',
  rollbackOfPushId: 'rollback_of_push_id',
  failedHash: 'failed_hash',
  rollbackTargetKind: 'rollback_target_kind',
  targetCount: 'target_count',
  applyingCount: 'applying_count',
  appliedCount: 'applied_count',
  failedCount: 'failed_count',
  stragglerCount: 'straggler_count',
  goneCount: 'gone_count',
  joinedCount: 'joined_count',
  excluded: 'excluded',
})
const COLUMNS = PUSH.select()

/** An error's four columns as one value. */
export function toAgentError(row: {
  cause: string | null
  title: string | null
  parameters: AgentError['parameters'] | null
  text: string | null
}): AgentError | null {
  if (row.cause === null) return null
  return { cause: row.cause, title: row.title ?? '', parameters: row.parameters ?? {}, text: row.text ?? '' }
}

function toPush(row: Row): Push {
  const { errorCause, errorTitle, errorParameters, errorText, ...rest } = row
  const { targetCount, applyingCount, appliedCount, failedCount, ...others } = rest
  const { stragglerCount, goneCount, joinedCount, ...push } = others
  return {
    ...push,
    error: toAgentError({
      cause: errorCause,
      title: errorTitle,
      parameters: errorParameters,
      text: errorText,
    }),
    counts: {
      ...{ target: targetCount, applying: applyingCount, applied: appliedCount, failed: failedCount },
      ...{ straggler: stragglerCount, gone: goneCount, joined: joinedCount },
    },
  }
}

const toRow = ({ error, counts, ...push }: Push): Row => ({
  ...push,
  errorCause: error?.cause ?? null,
  errorTitle: error?.title ?? null,
  errorParameters: error?.parameters ?? null,
  errorText: error?.text ?? null,
  targetCount: counts.target,
  applyingCount: counts.applying,
  appliedCount: counts.applied,
  failedCount: counts.failed,
  stragglerCount: counts.straggler,
  goneCount: counts.gone,
  joinedCount: counts.joined,
})

/** Add a push. */
export async function insertPush(tx: Db, push: Push): Promise<void> {
  await tx.execute(`insert into pushes (${PUSH.names}) values (${PUSH.places})`, PUSH.valuesOf(toRow(push)))
}

/**
 * Write where many pushes stand: counts, phase, times, and the step from pending to applied. A status that
 * has moved on in the database (failed, superseded) is never taken back.
 */
export async function updatePushProgress(tx: Db, pushes: readonly Push[]): Promise<void> {
  const records = pushes.map((p) => ({
    push_id: p.pushId,
    status: p.status,
    phase: p.phase,
    sent_at: p.sentAt,
    applied_at: p.appliedAt,
    updated_at: p.updatedAt,
    target_count: p.counts.target,
    applying_count: p.counts.applying,
    applied_count: p.counts.applied,
    failed_count: p.counts.failed,
    straggler_count: p.counts.straggler,
    gone_count: p.counts.gone,
    joined_count: p.counts.joined,
  }))
  await tx.execute(
    `update pushes p set
       status = case when p.status = 'pending' and p.phase not in ('superseded', 'aborted') then r.status else p.status end,
       phase = case when p.status = 'failed' or p.phase in ('superseded', 'aborted') then p.phase else r.phase end,
       sent_at = coalesce(p.sent_at, r.sent_at), applied_at = coalesce(p.applied_at, r.applied_at),
       updated_at = greatest(p.updated_at, r.updated_at), target_count = r.target_count,
       applying_count = r.applying_count, applied_count = r.applied_count, failed_count = r.failed_count,
       straggler_count = r.straggler_count, gone_count = r.gone_count, joined_count = r.joined_count
     from jsonb_to_recordset($1::jsonb) as r (push_id uuid, status text, phase text, sent_at timestamptz,
       applied_at timestamptz, updated_at timestamptz, target_count int, applying_count int, applied_count int,
       failed_count int, straggler_count int, gone_count int, joined_count int)
     where p.push_id = r.push_id`,
    [JSON.stringify(records)],
  )
}

/** Mark a push failed; false when it already was, or was superseded while pending. */
export async function failPush(tx: Db, pushId: string, error: AgentError, now: Date): Promise<boolean> {
  const touched = await tx.execute(
    `update pushes set status = 'failed', phase = 'failed', failed_at = $2, updated_at = $2, error_cause = $3,
       error_title = $4, error_parameters = $5::jsonb, error_text = $6
     where push_id = $1 and status <> 'failed' and phase <> 'superseded'`,
    [pushId, now, error.cause, error.title, JSON.stringify(error.parameters), error.text],
  )
  return touched === 1
}

/**
 * Close pushes that are assigned to nobody any more: those that are pending are superseded, and whoever had not
 * answered will not. How the others ended stays.
 */
export async function closePushes(tx: Db, pushIds: readonly string[], now: Date): Promise<void> {
  await tx.execute(
    `update pushes set updated_at = $2, applying_count = 0,
       phase = case when status = 'pending' and phase <> 'aborted' then 'superseded' else phase end
     where push_id = any($1::uuid[])`,
    [pushIds, now],
  )
  await tx.execute(
    `update push_targets set state = 'superseded', updated_at = $2
     where push_id = any($1::uuid[]) and state in ('offered', 'applying')`,
    [pushIds, now],
  )
}

/** Close the push of a rollout that an operator aborted: its status stays pending. */
export async function abortPush(tx: Db, pushId: string, now: Date): Promise<void> {
  await tx.execute(
    `update pushes set phase = 'aborted', updated_at = $2 where push_id = $1 and status = 'pending'`,
    [pushId, now],
  )
}

/** One push; null when there is none. */
export async function findPush(db: Db, pushId: string): Promise<Push | null> {
  const rows = await db.query<Row>(`select ${COLUMNS} from pushes where push_id = $1`, [pushId])
  return rows[0] === undefined ? null : toPush(rows[0])
}

/** The newest push of a hash on a workload; null when it was never pushed there. */
export async function findNewestPushOfHash(db: Db, workloadId: string, hash: string): Promise<Push | null> {
  const rows = await db.query<Row>(
    `select ${COLUMNS} from pushes where workload_id = $1 and config_hash = $2 order by seq desc limit 1`,
    [workloadId, hash],
  )
  return rows[0] === undefined ? null : toPush(rows[0])
}

/** A workload's pushes, newest first, below `beforeSeq`; all of them without a limit. */
export async function listPushes(
  db: Db,
  workloadId: string,
  page: { beforeSeq: number | null; limit: number | null },
): Promise<Push[]> {
  const rows = await db.query<Row>(
    `select ${COLUMNS} from pushes where workload_id = $1 and ($2::bigint is null or seq < $2)
     order by seq desc limit $3`,
    [workloadId, page.beforeSeq, page.limit],
  )
  return rows.map(toPush)
}

/** The newest push of every workload that has one, and every push that is assigned. */
export async function listFollowedPushes(db: Db): Promise<Push[]> {
  const rows = await db.query<Row>(
    `select ${PUSH.select('p')} from workloads w join pushes p on p.workload_id = w.id
     where p.seq = w.push_seq or p.push_id in (w.active_push_id, w.rollout_push_id) order by p.push_id`,
  )
  return rows.map(toPush)
}

/** A push, and another one of the same config to the same workload. */
export interface PushOfSameConfig {
  own: Pick<Push, 'pushId' | 'hash' | 'seq'>
  other: Pick<Push, 'hash' | 'seq' | 'kind'>
}

/** Each of these pushes with every other push of the same config to the same workload, earlier or later. */
export async function listPushesOfSameConfig(
  db: Db,
  pushIds: readonly string[],
): Promise<PushOfSameConfig[]> {
  if (pushIds.length === 0) return []
  const rows = await db.query<{
    push_id: string
    hash: string
    own_seq: number
    seq: number
    kind: Push['kind']
  }>(
    `select own.push_id, own.config_hash as hash, own.seq as own_seq, other.seq, other.kind
     from pushes own join pushes other on other.workload_id = own.workload_id
       and other.config_hash = own.config_hash and other.push_id <> own.push_id
     where own.push_id = any($1::uuid[])`,
    [pushIds],
  )
  return rows.map(({ push_id: pushId, hash, own_seq: ownSeq, seq, kind }) => ({
    own: { pushId, hash, seq: ownSeq },
    other: { hash, seq, kind },
  }))
}

/** Hashes that were applied on a workload, by their newest applied push first. */
export async function listAppliedHashes(db: Db, workloadId: string): Promise<string[]> {
  const rows = await db.query<{ config_hash: string }>(
    `select config_hash from pushes where workload_id = $1 and status = 'applied'
     group by config_hash order by max(seq) desc`,
    [workloadId],
  )
  return rows.map((row) => row.config_hash)
}

/** Was this hash ever applied on this workload, even if it failed later? */
export async function wasEverApplied(db: Db, workloadId: string, hash: string): Promise<boolean> {
  const rows = await db.query<{ found: boolean }>(
    `select exists (select from pushes where workload_id = $1 and config_hash = $2 and applied_at is not null) as found`,
    [workloadId, hash],
  )
  return rows[0]?.found ?? false
}

/** The push that rolled this one back; null when none did. */
export async function findRollbackOf(db: Db, pushId: string): Promise<Push | null> {
  const rows = await db.query<Row>(`select ${COLUMNS} from pushes where rollback_of_push_id = $1`, [pushId])
  return rows[0] === undefined ? null : toPush(rows[0])
}

/** These pushes, in no particular order. */
export async function listPushesById(db: Db, pushIds: readonly string[]): Promise<Push[]> {
  const rows = await db.query<Row>(`select ${COLUMNS} from pushes where push_id = any($1::uuid[])`, [pushIds])
  return rows.map(toPush)
}

/** The pushes that rolled these back, by the push that each took back. */
export async function listRollbacksOf(db: Db, pushIds: readonly string[]): Promise<Map<string, Push>> {
  const rows = await db.query<Row>(
    `select ${COLUMNS} from pushes where rollback_of_push_id = any($1::uuid[])`,
    [pushIds],
  )
  return new Map(rows.map((row) => [row.rollbackOfPushId!, toPush(row)]))
}

/** The newest applied push of a workload whose hash is another one; null when there is none. */
export async function findNewestAppliedExcept(
  db: Db,
  workloadId: string,
  hash: string,
): Promise<Push | null> {
  const rows = await db.query<Row>(
    `select ${COLUMNS} from pushes where workload_id = $1 and status = 'applied' and config_hash <> $2
     order by seq desc limit 1`,
    [workloadId, hash],
  )
  return rows[0] === undefined ? null : toPush(rows[0])
}
