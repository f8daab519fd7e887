import { rolesWith } from '../model/permissions.ts'
import { underscored } from '../model/underscored.ts'
import {
  type AccountStanding,
  type AccountTie,
  listAccountStandings,
  listChangersSince,
  listHolders,
} from '../store/account-ties.ts'
import { type AuthorOfRequest, listAuthorsOfRequest } from '../store/approval-help.ts'
import type { AskedText } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import type { ApprovalHelp } from '../wire/approvals.ts'
import { HOLDERS_MAX } from './approval-case.ts'
import { type Covers, standAs, tiesToAuthors } from './approver-standing.ts'
import {
  type ApprovalCase,
  type ApprovalJudgement,
  type JudgedApprovals,
  judgeApprovals,
  whyNotCounted,
  wroteText,
} from './judge-approvals.ts'
import { listUnknownOfText } from './named-authors.ts'

/** People who are named; how many more there are is said. */
const NAMED_MAX = 10

/** Who reads a request, and which workloads are shown to them. */
export interface HelpReader {
  userId: string
  sees: (workloadId: string) => boolean
}

/** A change that waits for approval, and what decides who could give it. */
export interface WaitingChange extends JudgedApprovals {
  requestedAt: Date
  /** Whether whoever has these rights may approve all that it reaches. */
  covers: Covers
}

/** A change that waits for approval: a request, a campaign, or a version that is to apply by itself. */
export interface HelpedChange extends WaitingChange {
  /**
   * What finds who asked for the same text elsewhere: its hash, and the request that it is; '' for what is none. Those in
   * `ownAuthors` wrote or requested this very change, so it is not for another one that they count.
   */
  text: { id: string; draftHash: string; ownAuthors?: readonly string[] }
  /** The text or version that it is; null for a patch, which has none of its own. */
  carried: Omit<AskedText, 'key'> | null
}

/**
 * Who keeps the reader's own approval from counting, and who could approve: for a change that waits. Where and when the
 * same text was asked for elsewhere is said only to those who are shown that workload.
 */
export async function readApprovalHelp(
  db: Db,
  change: HelpedChange,
  reader: HelpReader,
): Promise<ApprovalHelp> {
  const holders = await listHoldersFor(db, [change])
  const could = listCould(change, holders)
  const isStuck = areAll(holders) && could.length === 0
  const unknown = change.carried === null ? [] : await listUnknownOfText(db, change.carried, reader.sees(''))
  return {
    because: await listBecause(db, change, reader),
    could_approve: could.slice(0, NAMED_MAX).map(({ email }) => email),
    ...(areAll(holders) ? { could_approve_count: could.length } : {}),
    ...(unknown.length === 0 ? {} : { unknown_authors: unknown }),
    ...(isStuck ? { do_not_count: await listUncounted(db, change, holders, reader) } : {}),
  }
}

/** Where nobody could approve: who else may approve all that it reaches, and why that would not count. */
async function listUncounted(
  db: Db,
  change: HelpedChange,
  holders: readonly AccountStanding[],
  { userId, sees }: HelpReader,
): Promise<NonNullable<ApprovalHelp['do_not_count']>> {
  const { asked, text } = change
  const wrote = [...asked.authors].filter((id) => wroteText(asked, id))
  const authors = await listAuthorsOfRequest(db, text, wrote)
  const authorOf = new Map(authors.map((author) => [author.id, author]))
  const uncounted = holders.flatMap((holder) => {
    const { id, email } = holder
    const why = whyNot(change, holder)
    if (id === userId || why === 'no-right' || why === 'approved-already') return []
    const [by] = tiesBehind(asked, holder, why)
    const author = authorOf.get(by?.otherId ?? id)
    return [
      {
        who: email,
        why: underscored(why ?? (wouldCount(change, holder) ? 'counts' : 'same-person')),
        ...(by === undefined || author?.email == null || !isShown(author, sees) ? {} : { by: author.email }),
        ...toEarlier(author, sees),
      },
    ]
  })
  return uncounted.slice(0, NAMED_MAX)
}

/** Of each of these changes the e-mails of those who could approve it now, but for these accounts; the first ten. */
export async function listWhoCould(
  db: Db,
  changes: readonly WaitingChange[],
  butIds: readonly string[] = [],
): Promise<string[][]> {
  if (changes.length === 0) return []
  const holders = (await listHoldersFor(db, changes)).filter(({ id }) => !butIds.includes(id))
  return changes.map((change) => {
    const could = listCould(change, holders)
    return could.slice(0, NAMED_MAX).map(({ email }) => email)
  })
}

/**
 * Of each of these changes, whether it is known to wait for nobody: no approval that was not given would count as things
 * stand, or not enough of them.
 */
export async function areStuck(db: Db, changes: readonly WaitingChange[]): Promise<boolean[]> {
  if (changes.length === 0) return []
  const holders = await listHoldersFor(db, changes)
  return changes.map((change) => areAll(holders) && listCould(change, holders).length === 0)
}

const areAll = (holders: readonly AccountStanding[]): boolean => holders.length < HOLDERS_MAX

/** Who holds the right to approve somewhere, and how they stand to the authors and approvers of these changes. */
async function listHoldersFor(db: Db, changes: readonly WaitingChange[]): Promise<AccountStanding[]> {
  const ids = await listHolders(db, rolesWith('config:approve'), HOLDERS_MAX)
  const others = changes.flatMap(({ asked }) => [
    ...asked.authors,
    ...asked.given.map(({ userId }) => userId),
    // Of two who have to approve it matters whether the one made or changed the account of the other.
    ...(asked.rule.approvals > 1 ? ids : []),
  ])
  return listAccountStandings(db, ids, [...new Set(others)])
}

/**
 * Those whose approval would count now, or, where none would by itself, those whose would together; nobody where it is known
 * that all of theirs would not be enough.
 */
function listCould(change: WaitingChange, holders: readonly AccountStanding[]): AccountStanding[] {
  const could = holders.filter((holder) => wouldCount(change, holder))
  if (could.length > 0) return judgeWithAll(change, could).isEnough || !areAll(holders) ? could : []
  const open = holders.filter((holder) => whyNot(change, holder) === null)
  if (!judgeWithAll(change, open).isEnough) return []
  const isEnoughWith = (one: AccountStanding) => (other: AccountStanding) =>
    other !== one && judgeWithAll(change, [one, other]).isEnough
  return open.filter((one) => open.some(isEnoughWith(one)))
}

/** What the approvals would come to if all of these approved as well. */
function judgeWithAll(change: WaitingChange, holders: readonly AccountStanding[]): ApprovalJudgement {
  const asked = withHolders(change, holders)
  const given = holders.map(({ id }) => ({ userId: id, at: asked.now, rule: null }))
  return judgeApprovals({ ...asked, given: [...asked.given, ...given] })
}

/** Who could approve beside those who have, with how these people stand to the authors. */
function withHolders(
  { asked, requestedAt, covers }: WaitingChange,
  holders: readonly AccountStanding[],
): ApprovalCase {
  const standings = holders.map(
    (holder) => [holder.id, standAs(holder, { ...asked, requestedAt, covers })] as const,
  )
  return { ...asked, approvers: new Map([...asked.approvers, ...standings]) }
}

/** Why an approval by this person would not count by itself; null where it would. */
const whyNot = (change: WaitingChange, holder: AccountStanding) =>
  whyNotCounted({ asked: withHolders(change, [holder]), judgement: change.judgement }, holder.id)

/** Whether an approval by this person was not given, and would count now. */
const wouldCount = (change: WaitingChange, holder: AccountStanding): boolean =>
  whyNot(change, holder) === null && addsOne(withHolders(change, [holder]), change.judgement, holder.id)

/** Whether one more approval would count beside those that do: of accounts that made or changed each other one does. */
const addsOne = (asked: ApprovalCase, { counted }: ApprovalJudgement, userId: string): boolean =>
  judgeApprovals({ ...asked, given: [...asked.given, { userId, at: asked.now, rule: null }] }).counted
    .length > counted.length

/** The people because of whom the reader's own approval would not count, each with how. */
export async function listBecause(
  db: Db,
  change: Pick<HelpedChange, 'asked' | 'judgement' | 'requestedAt' | 'text'>,
  { userId, sees }: HelpReader,
): Promise<ApprovalHelp['because']> {
  const why = whyNotCounted(change, userId)
  if (why === 'shaped-since-request') {
    const changers = await listChangersSince(db, userId, change.requestedAt)
    return changers.slice(0, NAMED_MAX).map(({ email, at, isByProvider, isNew }) => ({
      ...(email === null ? {} : { who: email }),
      account_at: at.toISOString(),
      ...(isByProvider ? { by_provider: true as const } : {}),
      ...(isByProvider && isNew ? { is_new: true as const } : {}),
    }))
  }
  if (why !== 'author' && why !== 'shaped-an-author' && why !== 'shaped-by-author') return []
  const { asked, text } = change
  const wrote = [...asked.authors].filter((id) => wroteText(asked, id))
  const authors = await listAuthorsOfRequest(db, text, wrote)
  const [reader] = await listAccountStandings(db, [userId], wrote)
  const ties = reader === undefined ? [] : tiesBehind(asked, reader, why)
  return authors
    .filter(({ id }) => (why === 'author' ? id === userId : ties.some(({ otherId }) => otherId === id)))
    .slice(0, NAMED_MAX)
    .map(({ id, email, elsewhere }) => {
      const isOwn = change.text.ownAuthors?.includes(id) ?? true
      const at = ties
        .flatMap((tie) => (tie.otherId === id ? new Date(tie.at) : []))
        .sort(byTime)
        .at(-1)
      return {
        ...(email === null ? {} : { who: email }),
        ...(at === undefined ? {} : { account_at: at.toISOString() }),
        ...(elsewhere === null ? (isOwn ? {} : { of_text: true as const }) : { same_text: true as const }),
        ...toEarlier({ elsewhere }, sees),
        ...(elsewhere !== null && sees(elsewhere.workloadId)
          ? { workload_id: elsewhere.workloadId, approval_id: elsewhere.approvalId }
          : {}),
      }
    })
}

type Earlier = Pick<AuthorOfRequest, 'elsewhere'>

/** Whether the reader may know where somebody became an author of a change. */
const isShown = ({ elsewhere }: Earlier, sees: HelpReader['sees']): boolean =>
  elsewhere === null || sees(elsewhere.workloadId)

/** When somebody asked for the same text before, and that they took it back, to whoever is shown where. */
function toEarlier(author: Earlier | undefined, sees: HelpReader['sees']) {
  if (author === undefined || author.elsewhere === null || !isShown(author, sees)) return {}
  const { askedAt, isWithdrawn } = author.elsewhere
  return {
    asked_at: new Date(askedAt).toISOString(),
    ...(isWithdrawn ? { withdrawn: true as const } : {}),
  }
}

const byTime = (one: Date, other: Date): number => one.getTime() - other.getTime()

/** By what an account is tied to the authors where its approval does not count for that, their own accounts first. */
const tiesBehind = (asked: ApprovalCase, account: AccountStanding, why: string | null): AccountTie[] =>
  tiesToAuthors(asked, account)
    .filter(({ way }) => why === (way === 'changed' ? 'shaped-an-author' : 'shaped-by-author'))
    .sort((one, other) => Number(other.isOthersOwn) - Number(one.isOthersOwn))
