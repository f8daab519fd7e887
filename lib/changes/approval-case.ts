import type { ApprovalRule } from '../model/approval-policy.ts'
import { rolesWith } from '../model/permissions.ts'
import { listAccountStandings, listHolders } from '../store/account-ties.ts'
import { readApprovers } from '../store/approval-votes.ts'
import type { Db } from '../store/db.ts'
import { listGroups } from '../store/groups.ts'
import { type Covers, isUntied, readApproverStandings } from './approver-standing.ts'
import type { ApprovalCase, GivenApproval } from './judge-approvals.ts'

/** Whether at most one person may approve, and there never were two: the approval of an author counts then. */
export async function hasSoleApprover(db: Db): Promise<boolean> {
  const { count, hadTwo } = await readApprovers(db, rolesWith('config:approve'))
  return count < 2 && !hadTwo
}

/**
 * The groups whose next member ends, for good, the exception of the only person who may approve, by name; none where
 * nobody has it.
 */
export async function listGroupsThatEndIt(db: Db): Promise<string[]> {
  const approving = rolesWith('config:approve')
  const { count, hadTwo } = await readApprovers(db, approving)
  if (count !== 1 || hadTwo) return []
  return (await listGroups(db))
    .filter(({ role }) => approving.some((one) => one === role))
    .map(({ name }) => name)
}

/** People who hold the right to approve and are looked at, by e-mail. Of those behind them nothing is known. */
export const HOLDERS_MAX = 200

/**
 * Whether somebody else than the author has to approve and none can: nobody's approval would count for what any other one
 * asks for.
 */
export async function lacksSecondPerson(db: Db): Promise<boolean> {
  if (await hasSoleApprover(db)) return false
  const ids = await listHolders(db, rolesWith('config:approve'), HOLDERS_MAX)
  if (ids.length >= HOLDERS_MAX) return false
  const accounts = await listAccountStandings(db, ids, ids)
  return !accounts.some((account) => ids.some((author) => isUntied(account, author)))
}

/** A change whose approvals are to be judged. */
export interface ApprovedChange {
  rule: ApprovalRule
  authors: readonly string[]
  /**
   * Everybody who only set or chose a value; they are authors as well. Whose accounts they made, or who made theirs,
   * does not matter: whoever makes accounts and chooses labels, as an administrator does, would keep everybody from
   * approving, and could have made a requester and an approver without it. Absent for none.
   */
  valueAuthors?: readonly string[]
  /** Those of the authors who asked for this very change or wrote it. */
  askers: readonly string[]
  requestedAt: Date
  given: readonly GivenApproval[]
  /** Users who have not approved and want to. */
  alsoAsking: readonly string[]
  covers: Covers
}

/** Read everything that decides whether each of these changes is approved by its rule, at `now`; in their order. */
export async function readApprovalCases(
  tx: Db,
  changes: readonly ApprovedChange[],
  now: Date,
): Promise<ApprovalCase[]> {
  const asked = changes.map(({ rule, given, alsoAsking, authors, valueAuthors = [], ...change }) => ({
    rule,
    given,
    userIds: [...given.map(({ userId }) => userId), ...alsoAsking],
    authors: new Set([...authors, ...valueAuthors]),
    valueAuthors: new Set(valueAuthors.filter((id) => !authors.includes(id))),
    askers: new Set(change.askers),
    requestedAt: change.requestedAt,
    covers: change.covers,
  }))
  const approvers = await readApproverStandings(tx, asked)
  const isSoleApprover = await hasSoleApprover(tx)
  return asked.map(({ userIds: _, requestedAt: _at, covers: _covers, ...one }, at) => ({
    ...one,
    approvers: approvers[at]!,
    isSoleApprover,
    now,
  }))
}

/** Read the same of one change. */
export async function readApprovalCase(tx: Db, change: ApprovedChange, now: Date): Promise<ApprovalCase> {
  const [asked] = await readApprovalCases(tx, [change], now)
  return asked!
}
