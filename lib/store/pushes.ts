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

/** Why something failed, in words that everybody may see. */
export type FailureCause = Omit<AgentError, 'text'>

/** The same with what the agent itself said, where that was kept. */
export type ToldFailure = FailureCause & Partial<Pick<AgentError, 'text'>>

/** A stored push, as far as the fleet works with it. */
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
  /** Why `failedHash` failed, where an automatic rollback took it back. */
  failedError: ToldFailure | null
  rollbackTargetKind: string | null
  /** The campaign that made it, by its start or its roll-back. */
  campaignId: string | null
  /** The version that applied by itself and made it. */
  autoApplyId: string | null
  /** The most instances that were unhealthy at once while they ran it; 0 where none was seen so. */
  unhealthyCount: number
  /** How many instances ran it then, and when that was. */
  unhealthyOf: number
  unhealthyAt: Date | null
  /** Every live instance was healthy when it was made; false also where that is not known. */
  startedWell: boolean
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
export interface PushRow extends Omit<Push, 'counts' | 'error'> {
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

/** The columns of pushes. */
export const PUSH = columns<keyof PushRow>({
  pushId: 'push_id uuid',
  workloadId: 'workload_id text',
  seq: 'seq bigint',
  hash: 'config_hash text',
  kind: 'kind text',
  pushedBy: 'pushed_by text',
  generation: 'generation bigint',
  status: 'status text',
  phase: 'phase text',
  submittedAt: 'submitted_at timestamptz',
  sentAt: 'sent_at timestamptz',
  appliedAt: 'applied_at timestamptz',
  failedAt: 'failed_at timestamptz',
  updatedAt: 'updated_at timestamptz',
  errorCause: 'error_cause text',
  errorTitle: 'error_title text',
  errorParameters: 'error_parameters jsonb',
  errorText: 'error_text text',
  approvalId: 'approval_id text',
  rollbackOfPushId: 'rollback_of_push_id uuid',
  failedHash: 'failed_hash text',
  failedError: 'failed_error jsonb',
  rollbackTargetKind: 'rollback_target_kind text',
  campaignId: 'campaign_id text',
  autoApplyId: 'auto_apply_id text',
  unhealthyCount: 'unhealthy_count int',
  unhealthyOf: 'unhealthy_of int',
  unhealthyAt: 'unhealthy_at timestamptz',
  startedWell: 'started_well boolean',
  targetCount: 'target_count int',
  applyingCount: 'applying_count int',
  appliedCount: 'applied_count int',
  failedCount: 'failed_count int',
  stragglerCount: 'straggler_count int',
  goneCount: 'gone_count int',
  joinedCount: 'joined_count int',
  excluded: 'excluded jsonb',
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

function toPush(row: PushRow): Push {
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
      target: targetCount,
      applying: applyingCount,
      applied: appliedCount,
      failed: failedCount,
      straggler: stragglerCount,
      gone: goneCount,
      joined: joinedCount,
    },
  }
}

/** One push; null when there is none. */
export async function findPush(db: Db, pushId: string): Promise<Push | null> {
  const rows = await db.query<PushRow>(`select ${COLUMNS} from pushes where push_id = $1`, [pushId])
  return rows[0] === undefined ? null : toPush(rows[0])
}

/** The newest push of a hash on a workload; null when it was never pushed there. */
export async function findNewestPushOfHash(db: Db, workloadId: string, hash: string): Promise<Push | null> {
  const rows = await db.query<PushRow>(
    `select ${COLUMNS} from pushes where workload_id = $1 and config_hash = $2 order by seq desc limit 1`,
    [workloadId, hash],
  )
  return rows[0] === undefined ? null : toPush(rows[0])
}

/** The push of a hash under which the most instances of a workload were unhealthy at once; null where none was seen so. */
export async function findSickestPushOfHash(db: Db, workloadId: string, hash: string): Promise<Push | null> {
  const rows = await db.query<PushRow>(
    `select ${COLUMNS} from pushes where workload_id = $1 and config_hash = $2 and unhealthy_count > 0
     order by unhealthy_count desc, seq desc limit 1`,
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
  const rows = await db.query<PushRow>(
    `select ${COLUMNS} from pushes where workload_id = $1 and ($2::bigint is null or seq < $2)
     order by seq desc limit $3`,
    [workloadId, page.beforeSeq, page.limit],
  )
  return rows.map(toPush)
}

/** The newest push of every workload that has one, and every push that is assigned. */
export async function listFollowedPushes(db: Db): Promise<Push[]> {
  const rows = await db.query<PushRow>(
    `select ${PUSH.select('p')} from workloads w join pushes p on p.workload_id = w.id
     where p.seq = w.push_seq or p.push_id in (w.active_push_id, w.rollout_push_id) order by p.push_id`,
  )
  return rows.map(toPush)
}

/** A push, and another one of the same config to the same workload. */
export interface PushOfSameConfig {
  own: Pick<Push, 'pushId' | 'hash' | 'seq'>
  other: Pick<Push, 'pushId' | 'hash' | 'seq' | 'kind'>
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
    other_id: string
    seq: number
    kind: Push['kind']
  }>(
    `select own.push_id, own.config_hash as hash, own.seq as own_seq, other.push_id as other_id, other.seq, other.kind
     from pushes own join pushes other on other.workload_id = own.workload_id
       and other.config_hash = own.config_hash and other.push_id <> own.push_id
     where own.push_id = any($1::uuid[])`,
    [pushIds],
  )
  return rows.map(({ push_id: pushId, hash, own_seq: ownSeq, other_id: otherId, seq, kind }) => ({
    own: { pushId, hash, seq: ownSeq },
    other: { pushId: otherId, hash, seq, kind },
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

/**
 * SQL for whether nobody approved a push: the glass was broken for it, and no second person has found that in order
 * since. It expects a row of pushes as `p`.
 */
const BROKEN_GLASS = `exists (select from approvals a where a.id = p.approval_id and a.break_glass
  and not exists (select from reviews r where r.approval_id = a.id and r.accepted))`

/** SQL for whether a push was approved. It expects a row of pushes as `p`. */
export const APPROVED = `p.kind = 'approval' and not ${BROKEN_GLASS}`

/**
 * SQL for the hashes of a workload of which no push was ever approved: the glass was broken for all of them, or they
 * are rollbacks to such a hash. `workloadId` is SQL too, such as `$1`.
 */
export const unapprovedHashesOf = (workloadId: string): string =>
  `select p.config_hash from pushes p where p.workload_id = ${workloadId}
   group by p.config_hash having not bool_or(${APPROVED})`

/** The hashes of a workload of which no push was ever approved. */
export async function listUnapprovedHashes(db: Db, workloadId: string): Promise<string[]> {
  const rows = await db.query<{ config_hash: string }>(unapprovedHashesOf('$1'), [workloadId])
  return rows.map((row) => row.config_hash)
}

/** Which of these workloads are to run a config of ours that nobody ever approved there. */
export async function listOnUnapproved(db: Db, workloadIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    `select w.id from workloads w where w.id = any($1::text[]) and w.active_config_hash is not null
       and not exists (select from pushes p where p.workload_id = w.id and p.config_hash = w.active_config_hash
         and ${APPROVED})`,
    [workloadIds],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * SQL for whether a config only ever failed on a workload. `workloadId` and `hash` are SQL too, such as `w.id`. What
 * failed as the first config stays assigned, since there was nothing before it.
 */
export const onlyFailed = (workloadId: string, hash: string): string =>
  `(exists (select from quarantines q where q.workload_id = ${workloadId} and q.config_hash = ${hash} and q.instance_uid = '')
    and not exists (select from pushes p where p.workload_id = ${workloadId} and p.config_hash = ${hash}
      and p.applied_at is not null))`

/** Which of these workloads are to run a config that only ever failed there. */
export async function listOnFailed(db: Db, workloadIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    `select w.id from workloads w where w.id = any($1::text[]) and w.active_config_hash is not null
       and ${onlyFailed('w.id', 'w.active_config_hash')}`,
    [workloadIds],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Was a push of this hash on this workload ever approved? */
export async function wasEverApproved(db: Db, workloadId: string, hash: string): Promise<boolean> {
  const rows = await db.query<{ found: boolean }>(
    `select exists (select from pushes p where p.workload_id = $1 and p.config_hash = $2
       and ${APPROVED}) as found`,
    [workloadId, hash],
  )
  return rows[0]?.found ?? false
}

/** What approved a push: a request, a campaign, or a version that applies by itself; null for the others. */
export interface BroughtBy {
  approvalId: string | null
  campaignId: string | null
  autoApplyId: string | null
  /** The glass was broken for it, and a second person has found that in order since. */
  isBrokenGlass: boolean
}

/** What approved the pushes of each of these hashes on its workload, the last first; in the order of what is asked. */
export async function listWhatBrought(
  db: Db,
  asked: readonly { workloadId: string; hash: string }[],
): Promise<BroughtBy[][]> {
  const rows = await db.query<BroughtBy & { nth: number; seq: unknown }>(
    `select asked.nth::int as nth, brought.*
     from unnest($1::text[], $2::text[]) with ordinality as asked (workload_id, hash, nth), lateral (
       select p.approval_id as "approvalId", p.campaign_id as "campaignId", p.auto_apply_id as "autoApplyId",
         coalesce((select a.break_glass from approvals a where a.id = p.approval_id), false) as "isBrokenGlass",
         max(p.seq) as seq
       from pushes p where p.workload_id = asked.workload_id and p.config_hash = asked.hash and ${APPROVED}
       group by p.approval_id, p.campaign_id, p.auto_apply_id order by seq desc limit 100) as brought
     order by asked.nth, brought.seq desc`,
    [asked.map(({ workloadId }) => workloadId), asked.map(({ hash }) => hash)],
  )
  const found: BroughtBy[][] = asked.map(() => [])
  for (const { nth, seq, ...brought } of rows) found[nth - 1]!.push(brought)
  return found
}

/** The push that rolled this one back; null when none did. */
export async function findRollbackOf(db: Db, pushId: string): Promise<Push | null> {
  const rows = await db.query<PushRow>(`select ${COLUMNS} from pushes where rollback_of_push_id = $1`, [
    pushId,
  ])
  return rows[0] === undefined ? null : toPush(rows[0])
}

/** These pushes, in no particular order. */
export async function listPushesById(db: Db, pushIds: readonly string[]): Promise<Push[]> {
  const rows = await db.query<PushRow>(`select ${COLUMNS} from pushes where push_id = any($1::uuid[])`, [
    pushIds,
  ])
  return rows.map(toPush)
}

/** The pushes that rolled these back, by the push that each took back. */
export async function listRollbacksOf(db: Db, pushIds: readonly string[]): Promise<Map<string, Push>> {
  const rows = await db.query<PushRow>(
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
  const rows = await db.query<PushRow>(
    `select ${COLUMNS} from pushes where workload_id = $1 and status = 'applied' and config_hash <> $2
     order by seq desc limit 1`,
    [workloadId, hash],
  )
  return rows[0] === undefined ? null : toPush(rows[0])
}
