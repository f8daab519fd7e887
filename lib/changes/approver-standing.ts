import { type Grant, grantsOf } from '../model/scopes.ts'
import { type AccountStanding, type AccountTie, listAccountStandings } from '../store/account-ties.ts'
import type { Db } from '../store/db.ts'
import { type ApprovalCase, type ApproverStanding, wroteText } from './judge-approvals.ts'

/** Whether whoever has these rights may approve a change, where it is to be made. */
export type Covers = (grants: readonly Grant[]) => boolean

/**
 * Whose accounts matter to a change. Of those who asked for this very change, or wrote it (`askers`), all accounts of the
 * person do; others asked for the same text elsewhere, and one of them who takes the name of whoever made everybody's
 * account would keep everybody from approving. So it is with a name that is his own choice, and whoever has it.
 */
type Authors = Pick<ApprovalCase, 'authors' | 'valueAuthors' | 'askers'>

/** How an account is tied to those who asked for a change or wrote its text. */
export const tiesToAuthors = (asked: Authors, { ties }: AccountStanding): AccountTie[] =>
  ties.filter(
    ({ otherId, isOthersOwn }) =>
      wroteText(asked, otherId) && (isOthersOwn || asked.askers?.has(otherId) !== false),
  )

/** Whether nothing ties an account to another one: its approval would count for what that one asks for. */
export const isUntied = ({ id, alsoIds, ties }: AccountStanding, otherId: string): boolean =>
  id !== otherId && !alsoIds.includes(otherId) && ties.every((tie) => tie.otherId !== otherId)

/** How an account stands as an approver of a change. */
export function standAs(
  account: AccountStanding,
  asked: Authors & { requestedAt: Date; covers: Covers },
): ApproverStanding {
  const { roles, changedAt, alsoIds, vouchedIds, ties } = account
  const shaping = tiesToAuthors(asked, account)
  return {
    mayApprove: asked.covers(grantsOf(roles)),
    isShapedByAuthor: shaping.some(({ way }) => way === 'was-changed'),
    hasShapedAuthor: shaping.some(({ way }) => way === 'changed'),
    isShapedSinceRequest: changedAt !== null && changedAt > asked.requestedAt,
    isAuthorToo: alsoIds.some(
      (id) => asked.authors.has(id) && (asked.askers?.has(id) !== false || vouchedIds.includes(id)),
    ),
    alsoIds,
    tiedIds: ties.filter(({ isOwn }) => isOwn).map(({ otherId }) => otherId),
  }
}

/** A change, and the accounts that approved it or want to. */
export interface AskedApprovers extends Authors {
  userIds: readonly string[]
  requestedAt: Date
  covers: Covers
}

/** How users stand as approvers of changes, by id; for each change, in their order. */
export async function readApproverStandings(
  db: Db,
  changes: readonly AskedApprovers[],
): Promise<ApprovalCase['approvers'][]> {
  const ids = unique(changes.flatMap(({ userIds }) => userIds))
  const authors = changes.flatMap((asked) => [...asked.authors])
  const accounts = ids.length === 0 ? [] : await listAccountStandings(db, ids, unique([...authors, ...ids]))
  return changes.map((asked) => {
    const own = accounts.filter(({ id }) => asked.userIds.includes(id))
    return new Map(own.map((account) => [account.id, standAs(account, asked)]))
  })
}

const unique = (ids: readonly string[]): string[] => [...new Set(ids)]
