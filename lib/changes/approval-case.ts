import type { ApprovalRule } from '../model/approval-policy.ts'
import { rolesWith } from '../model/permissions.ts'
import { type Grant, grantsOf } from '../model/scopes.ts'
import { listApproverStandings, readApprovers } from '../store/approval-votes.ts'
import type { Db } from '../store/db.ts'
import type { ApprovalCase, GivenApproval } from './judge-approvals.ts'

/** Whether whoever has these rights may approve a change, where it is to be made. */
export type Covers = (grants: readonly Grant[]) => boolean

/** How these users stand as approvers of what `authors` asked for at `requestedAt`, by id. */
export async function readApproverStandings(
  db: Db,
  userIds: readonly string[],
  request: { authors: readonly string[]; requestedAt: Date; covers: Covers },
): Promise<ApprovalCase['approvers']> {
  const standings = await listApproverStandings(db, userIds, request)
  return new Map(
    standings.map(({ id, roles, ...shaped }) => [
      id,
      { ...shaped, mayApprove: request.covers(grantsOf(roles)) },
    ]),
  )
}

/**
 * Read everything that decides whether a change is approved by a rule, at `now`. `alsoAsking` are users who have not
 * approved and want to.
 */
export async function readApprovalCase(
  tx: Db,
  change: {
    rule: ApprovalRule
    authors: readonly string[]
    requestedAt: Date
    given: readonly GivenApproval[]
    alsoAsking: readonly string[]
    covers: Covers
  },
  now: Date,
): Promise<ApprovalCase> {
  const { rule, authors, requestedAt, given, covers } = change
  const ids = [...given.map(({ userId }) => userId), ...change.alsoAsking]
  const approvers = await readApproverStandings(tx, ids, { authors, requestedAt, covers })
  const { count, hadTwo } = await readApprovers(tx, rolesWith('config:approve'))
  return { rule, given, authors: new Set(authors), approvers, isSoleApprover: count < 2 && !hadTwo, now }
}
