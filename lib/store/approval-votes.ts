import type { ApprovalRule } from '../model/approval-policy.ts'
import { columns } from './columns.ts'
import type { Db } from './db.ts'

/** One person's approval of a request. */
export interface ApprovalVote {
  approvalId: string
  userId: string
  email: string
  comment: string
  at: Date
  rule: ApprovalRule | null
  /** Given while nobody else could approve anything. */
  soleApprover: boolean
}

/** One that was given, and whether something else has been pushed to its workload since. */
export interface GivenVote extends ApprovalVote {
  isOvertaken: boolean
}

const VOTE = columns<keyof ApprovalVote>({
  approvalId: 'approval_id',
  userId: 'user_id',
  email: 'email',
  comment: 'comment',
  at: 'approved_at',
  rule: 'rule',
  soleApprover: 'sole_approver',
})

/**
 * Add an approval, with the newest push that its workload has by now; a newer one of the same person takes the place of
 * an older. The request's row must be locked.
 */
export async function upsertApprovalVote(tx: Db, vote: ApprovalVote): Promise<void> {
  await tx.execute(
    `insert into approval_votes (${VOTE.names}, push_seq) values (${VOTE.places},
       (select coalesce(max(p.seq), 0) from approvals a join pushes p on p.workload_id = a.workload_id where a.id = $1))
     on conflict (approval_id, user_id) do update set push_seq = excluded.push_seq,
       ${VOTE.replaced('email', 'comment', 'at', 'rule', 'soleApprover')}`,
    VOTE.valuesOf({ ...vote, rule: JSON.stringify(vote.rule) }),
  )
}

/**
 * The approvals of these requests, the first one first. What overtakes one is what would have retired the request had it
 * been approved by then (`retireOvertaken`): whoever gave it saw its workload run something else. What came later is
 * told by the order of the pushes, since a clock may be put back.
 */
export async function listApprovalVotes(db: Db, approvalIds: readonly string[]): Promise<GivenVote[]> {
  return db.query<GivenVote>(
    `select ${VOTE.select('v')}, exists (
       select from approvals a join pushes p on p.workload_id = a.workload_id left join approvals n on n.id = p.approval_id
       where a.id = v.approval_id and p.kind <> 'auto-rollback'
         and case when v.push_seq is null then p.submitted_at > v.approved_at else p.seq > v.push_seq end
         and p.approval_id is distinct from a.id
         and (n.id is null or (a.created_at, a.id) < (n.created_at, n.id))) as "isOvertaken"
     from approval_votes v where v.approval_id = any($1::text[])
     order by v.approval_id, v.approved_at, v.user_id`,
    [approvalIds],
  )
}

/** SQL for the accounts that hold one of these roles, be it within a scope only, as `approvers`. */
const APPROVERS = `approvers as (
     select distinct u.id as uuid from users u join user_groups m on m.user_id = u.id join groups g on g.id = m.group_id
     where u.kind <> 'service' and g.role = any($1::text[]))`

/**
 * SQL for how many they are. Each account counts, whoever is known by the same name: people choose names at a provider, and
 * whoever took that of the next one would stay the only person who may approve.
 */
const APPROVERS_COUNT = `(select count(*)::int from approvers)`

/** How many accounts hold one of these roles, and whether two ever did at once: then nobody is counted any more. */
export async function readApprovers(
  db: Db,
  roles: readonly string[],
): Promise<{ count: number; hadTwo: boolean }> {
  const rows = await db.query<{ count: number; hadTwo: boolean }>(
    `with ${APPROVERS}, history as (select coalesce((select had_two from approver_history), false) as had_two)
     select had_two as "hadTwo", case when had_two then 2 else ${APPROVERS_COUNT} end as count from history`,
    [roles],
  )
  return rows[0]!
}

/** Remember for ever that two accounts hold one of these roles, where two do. */
export async function noteApprovers(tx: Db, roles: readonly string[]): Promise<void> {
  await tx.execute(
    `with ${APPROVERS}
     update approver_history set had_two = true where not had_two and 2 <= ${APPROVERS_COUNT}`,
    [roles],
  )
}
