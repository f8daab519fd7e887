import type { ApprovalRule } from '../model/approval-policy.ts'
import { rolesWith } from '../model/permissions.ts'
import { type Grant, grantsOf } from '../model/scopes.ts'
import {
  type AskedApprovers,
  hasIndependentApprovers,
  listApproverStandings,
  readApprovers,
} from '../store/approval-votes.ts'
import type { Db } from '../store/db.ts'
import { listGroups } from '../store/groups.ts'
import type { ApprovalCase, GivenApproval } from './judge-approvals.ts'

/** Whether whoever has these rights may approve a change, where it is to be made. */
export type Covers = (grants: readonly Grant[]) => boolean

/**
 * How users stand as approvers of what `authors` asked for at `requestedAt`, by id; for each request, in their order.
 */
export async function readApproverStandings(
  db: Db,
  requests: readonly (AskedApprovers & { covers: Covers })[],
): Promise<ApprovalCase['approvers'][]> {
  const asked = requests.map(({ covers: _, ...request }) => request)
  const lists = await listApproverStandings(db, asked)
  return lists.map((standings, at) => {
    const { covers } = requests[at]!
    return new Map(
      standings.map(({ id, roles, ...shaped }) => [id, { ...shaped, mayApprove: covers(grantsOf(roles)) }]),
    )
  })
}

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

/**
 * Whether somebody else than the author has to approve and none can: everybody who may approve has made or changed the
 * account of each other one, or was made or changed by it.
 */
export async function lacksSecondPerson(db: Db): Promise<boolean> {
  if (await hasSoleApprover(db)) return false
  return !(await hasIndependentApprovers(db, rolesWith('config:approve')))
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
  const requests = changes.map(
    ({ given, alsoAsking, authors, valueAuthors = [], askers, requestedAt, covers }) => ({
      userIds: [...given.map(({ userId }) => userId), ...alsoAsking],
      authors,
      valueAuthors,
      askers,
      requestedAt,
      covers,
    }),
  )
  const approvers = await readApproverStandings(tx, requests)
  const isSoleApprover = await hasSoleApprover(tx)
  return changes.map(({ rule, given, authors, valueAuthors = [], askers }, at) => ({
    rule,
    given,
    authors: new Set([...authors, ...valueAuthors]),
    valueAuthors: new Set(valueAuthors.filter((id) => !authors.includes(id))),
    askers: new Set(askers),
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
