import { rolesWith } from '../model/permissions.ts'
import { grantsOf } from '../model/scopes.ts'
import {
  type HolderAccount,
  listAuthorsOfRequest,
  listChangersSince,
  listHolders,
} from '../store/approval-help.ts'
import type { AskedText } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import type { ApprovalHelp } from '../wire/approvals.ts'
import type { Covers } from './approval-case.ts'
import {
  type ApprovalCase,
  type ApprovalJudgement,
  type Discount,
  type JudgedApprovals,
  judgeApprovals,
  whyNotCounted,
  wroteText,
} from './judge-approvals.ts'
import { listUnknownOfText } from './named-authors.ts'

/** People who hold the right to approve and are looked at, by e-mail. Of those behind them nothing is known. */
const HOLDERS_MAX = 200
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
 * Who keeps the reader's own approval from counting, and who could approve: for a change that waits. A workload where
 * the same text was asked for is named only to those who are shown it.
 */
export async function readApprovalHelp(
  db: Db,
  change: HelpedChange,
  reader: HelpReader,
): Promise<ApprovalHelp> {
  const holders = await listHoldersFor(db, [change])
  const could = holders.filter((holder) => wouldCount(change, holder))
  const isStuck = areAll(holders) && could.length === 0
  const unknown = change.carried === null ? [] : await listUnknownOfText(db, change.carried)
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
  holders: readonly HolderAccount[],
  { userId }: HelpReader,
): Promise<NonNullable<ApprovalHelp['do_not_count']>> {
  const { asked, text } = change
  const wrote = [...asked.authors].filter((id) => wroteText(asked, id))
  const authors = await listAuthorsOfRequest(db, text, wrote, userId)
  const emails = new Map(authors.map(({ id, email }) => [id, email]))
  const uncounted = holders.flatMap((holder) => {
    const { id, email, changedBy, changedByKin, changed, changedKin, tiedIds } = holder
    const why = whyNot(change, holder)
    if (id === userId || why === 'no-right' || why === 'approved-already') return []
    const [by] =
      why === 'shaped-by-author'
        ? [...changedBy, ...changedByKin]
        : why === 'shaped-an-author'
          ? [...changed, ...changedKin]
          : tiedIds
    const who = by === undefined ? null : (emails.get(by) ?? null)
    return [
      {
        who: email,
        why: (why ?? 'same-person').replaceAll('-', '_'),
        ...(who === null ? {} : { by: who }),
      },
    ]
  })
  return uncounted.slice(0, NAMED_MAX)
}

/**
 * Of each of these changes, whether it is known to wait for nobody: no approval that was not given would count as things
 * stand.
 */
export async function areStuck(db: Db, changes: readonly WaitingChange[]): Promise<boolean[]> {
  if (changes.length === 0) return []
  const holders = await listHoldersFor(db, changes)
  return changes.map((change) => areAll(holders) && !holders.some((holder) => wouldCount(change, holder)))
}

const areAll = (holders: readonly HolderAccount[]): boolean => holders.length < HOLDERS_MAX

/** Who holds the right to approve somewhere, and stands how to the authors of these changes. */
const listHoldersFor = (db: Db, changes: readonly WaitingChange[]): Promise<HolderAccount[]> =>
  listHolders(
    db,
    rolesWith('config:approve'),
    {
      authors: [...new Set(changes.flatMap(({ asked }) => [...asked.authors]))],
      others: [...new Set(changes.flatMap(({ asked }) => asked.given.map(({ userId }) => userId)))],
    },
    HOLDERS_MAX,
  )

/** Who could approve beside those who have, with how this person stands to the authors. */
function withHolder({ asked, requestedAt, covers }: WaitingChange, holder: HolderAccount): ApprovalCase {
  const { id, roles, changedBy, changedByKin, changed, changedKin, changedAt, alsoIds, tiedIds } = holder
  const shapes = (other: string) => wroteText(asked, other)
  const asks = (other: string) => shapes(other) && asked.askers?.has(other) !== false
  const standing = {
    mayApprove: covers(grantsOf(roles)),
    isShapedByAuthor: changedBy.some(shapes) || changedByKin.some(asks),
    hasShapedAuthor: changed.some(shapes) || changedKin.some(asks),
    isShapedSinceRequest: changedAt !== null && changedAt > requestedAt,
    isAuthorToo: alsoIds.some((other) => asked.authors.has(other)),
    alsoIds,
    tiedIds,
  }
  return { ...asked, approvers: new Map([...asked.approvers, [id, standing]]) }
}

/** Why an approval by this person would not count by itself; null where it would. */
const whyNot = (change: WaitingChange, holder: HolderAccount) =>
  whyNotCounted({ asked: withHolder(change, holder), judgement: change.judgement }, holder.id)

/** Whether an approval by this person was not given, and would count now. */
const wouldCount = (change: WaitingChange, holder: HolderAccount): boolean =>
  whyNot(change, holder) === null && addsOne(withHolder(change, holder), change.judgement, holder.id)

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
    return changers
      .slice(0, NAMED_MAX)
      .map(({ email, at }) => ({ ...(email === null ? {} : { who: email }), account_at: at.toISOString() }))
  }
  const isMeant = why === null || why === 'approved-already' ? undefined : MEANT[why]
  if (isMeant === undefined) return []
  const { asked, text } = change
  const wrote = [...asked.authors].filter((id) => wroteText(asked, id))
  const authors = await listAuthorsOfRequest(db, text, wrote, userId)
  return authors
    .filter((author) => isMeant(author, userId))
    .slice(0, NAMED_MAX)
    .map(({ id, email, elsewhere, changedReaderAt, changedByReaderAt }) => {
      const isOwn = change.text.ownAuthors?.includes(id) ?? true
      const at = why === 'shaped-an-author' ? changedByReaderAt : changedReaderAt
      return {
        ...(email === null ? {} : { who: email }),
        ...(at === null ? {} : { account_at: at.toISOString() }),
        ...(elsewhere === null ? (isOwn ? {} : { of_text: true as const }) : { same_text: true as const }),
        ...(elsewhere !== null && sees(elsewhere.workloadId)
          ? { workload_id: elsewhere.workloadId, approval_id: elsewhere.approvalId }
          : {}),
      }
    })
}

type Author = Awaited<ReturnType<typeof listAuthorsOfRequest>>[number]

/** Which authors are the reason, by why an approval would not count. */
const MEANT: Partial<Record<Discount, (author: Author, readerId: string) => boolean>> = {
  author: ({ id }, readerId) => id === readerId,
  'shaped-an-author': ({ changedByReaderAt }) => changedByReaderAt !== null,
  'shaped-by-author': ({ changedReaderAt }) => changedReaderAt !== null,
}
