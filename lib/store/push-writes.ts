import type { Db } from './db.ts'
import { type AgentError, PUSH, type Push, type PushRow } from './pushes.ts'

const toRow = ({ error, counts, ...push }: Push): PushRow => ({
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

/** Add pushes. */
export async function insertPushes(tx: Db, pushes: readonly Push[]): Promise<void> {
  await tx.execute(
    `insert into pushes (${PUSH.names}) select ${PUSH.namesOf('r')} from ${PUSH.unnested('r')}`,
    PUSH.listsOfRows(pushes.map(toRow)),
  )
}

/**
 * Lock pushes before several of them, or their targets, are written. All transactions lock them by id, after workloads
 * and before targets, so that no two wait for each other.
 */
export async function lockPushes(tx: Db, pushIds: readonly string[]): Promise<void> {
  await tx.execute('select from pushes where push_id = any($1::uuid[]) order by push_id for no key update', [
    pushIds,
  ])
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
    unhealthy_count: p.unhealthyCount,
    unhealthy_of: p.unhealthyOf,
    unhealthy_at: p.unhealthyAt,
  }))
  await tx.execute(
    `update pushes p set
       status = case when p.status = 'pending' and p.phase not in ('superseded', 'aborted') then r.status else p.status end,
       phase = case when p.status = 'failed' or p.phase in ('superseded', 'aborted') then p.phase else r.phase end,
       sent_at = coalesce(p.sent_at, r.sent_at), applied_at = coalesce(p.applied_at, r.applied_at),
       updated_at = greatest(p.updated_at, r.updated_at), target_count = r.target_count,
       applying_count = r.applying_count, applied_count = r.applied_count, failed_count = r.failed_count,
       straggler_count = r.straggler_count, gone_count = r.gone_count, joined_count = r.joined_count,
       unhealthy_of = case when r.unhealthy_count > p.unhealthy_count then r.unhealthy_of else p.unhealthy_of end,
       unhealthy_at = case when r.unhealthy_count > p.unhealthy_count then r.unhealthy_at else p.unhealthy_at end,
       unhealthy_count = greatest(p.unhealthy_count, r.unhealthy_count)
     from jsonb_to_recordset($1::jsonb) as r (push_id uuid, status text, phase text, sent_at timestamptz,
       applied_at timestamptz, updated_at timestamptz, target_count int, applying_count int, applied_count int,
       failed_count int, straggler_count int, gone_count int, joined_count int,
       unhealthy_count int, unhealthy_of int, unhealthy_at timestamptz)
     where p.push_id = r.push_id and p.push_id = any($2::uuid[])`,
    // The ids beside the records have the server look these rows up: it takes a set of records for a long one, and
    // would read the whole table.
    [JSON.stringify(records), pushes.map(({ pushId }) => pushId)],
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
 * Close pushes that are no instance's assignment any more: pending ones are superseded, and so are targets that had not
 * ended. Pushes and targets that had ended stay as they are. Several must be locked already (`lockPushes`).
 */
export async function closePushes(tx: Db, pushIds: readonly string[], now: Date): Promise<void> {
  if (pushIds.length === 0) return
  await tx.execute(
    `update pushes set updated_at = $2, applying_count = 0,
       phase = case when status = 'pending' and phase <> 'aborted' then 'superseded' else phase end
     where push_id = any($1::uuid[])`,
    [pushIds, now],
  )
  if (pushIds.length > 1)
    // Targets of several pushes are locked by push and uid, as whoever writes what agents said locks them.
    await tx.execute(
      `select from push_targets where push_id = any($1::uuid[]) and state in ('offered', 'applying')
       order by push_id, instance_uid collate "C" for no key update`,
      [pushIds],
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
