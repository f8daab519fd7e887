import type { Db } from './db.ts'

/** SQL for whether a request, `a` being its row, ended and nobody pushed it: what it asked for nothing refers to. */
export const HAS_ENDED_UNPUSHED = `a.status in ('rejected', 'withdrawn', 'retired')`

const FORGETTABLE = `${HAS_ENDED_UNPUSHED} and not a.draft_forgotten`

/** Those of them about which nobody but whoever asked has said anything. */
const UNSEEN = `${FORGETTABLE} and (a.status <> 'rejected' or a.closed_by_id = a.requester_id)
  and coalesce(a.approver_id, a.requester_id) = a.requester_id
  and not exists (select from approval_votes v where v.approval_id = a.id and v.user_id <> a.requester_id)`

/**
 * SQL for the text of a request's draft, `a` being its row; '' where it was forgotten, and no revision has it.
 */
export const DRAFT_OF_A = `case when a.draft_forgotten
  then coalesce((select c.body from config_contents c where c.hash = a.draft_hash), '') else a.draft_yaml end`

/** The bytes that the drafts of somebody's open requests take as they are stored. */
export async function measureOpenDrafts(tx: Db, requesterId: string): Promise<number> {
  const rows = await tx.query<{ bytes: number }>(
    `select coalesce(sum(pg_column_size(draft_yaml)), 0)::float8 as bytes from approvals
     where requester_id = $1 and status in ('pending', 'approved')`,
    [requesterId],
  )
  return rows[0]!.bytes
}

/**
 * Forget the drafts of somebody's requests that were withdrawn or replaced and that nobody else approved, but for those of
 * the `kept` that ended last. What somebody else rejected or approved stays until its time: whoever asked does not decide
 * when its evidence goes.
 */
export async function forgetOwnDrafts(tx: Db, requesterId: string, kept: number): Promise<void> {
  await tx.execute(
    `update approvals set draft_yaml = '', draft_forgotten = true where id in (
       select a.id from approvals a where a.requester_id = $1 and ${UNSEEN}
       order by a.updated_at desc, a.id desc offset $2 limit 100
       for update of a skip locked)`,
    [requesterId, kept],
  )
}

/** Forget those of everybody that ended before a time, `limit` at most; returns how many. */
export async function forgetOldDrafts(tx: Db, before: Date, limit: number): Promise<number> {
  return tx.execute(
    `update approvals set draft_yaml = '', draft_forgotten = true where id in (
       select a.id from approvals a where a.updated_at < $1 and ${FORGETTABLE} order by a.updated_at limit $2)`,
    [before, limit],
  )
}
