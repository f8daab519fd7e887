import { rolesWith } from '../model/permissions.ts'
import { listAuthorsOfRequest, listChangersSince, listHolders } from '../store/approval-help.ts'
import type { Db } from '../store/db.ts'
import type { ApprovalHelp } from '../wire/approvals.ts'
import { type Covers, readApproverStandings } from './approval-case.ts'
import { type Discount, discountOf, type JudgedApprovals, whyNotCounted } from './judge-approvals.ts'

/** People who hold the right to approve and are looked at, in the order of their e-mails. */
const HOLDERS_MAX = 200
/** People who are named; how many more there are is said. */
const NAMED_MAX = 10

/** Who reads a request, and which workloads are shown to them. */
export interface HelpReader {
  userId: string
  sees: (workloadId: string) => boolean
}

/** A change that waits for approval: a request, a campaign, or a version that is to apply by itself. */
export interface HelpedChange extends JudgedApprovals {
  requestedAt: Date
  /** Whether whoever has these rights may approve all that it reaches. */
  covers: Covers
  /**
   * What finds who asked for the same text elsewhere: its hash, and the request that it is; '' for what is none. Those in
   * `ownAuthors` wrote or requested this very change, so it is not for another one that they count.
   */
  text: { id: string; draftHash: string; ownAuthors?: readonly string[] }
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
  const could = await listWhoCould(db, change)
  return {
    because: await listBecause(db, change, reader),
    could_approve: could.slice(0, NAMED_MAX),
    could_approve_count: could.length,
  }
}

/** The e-mails of everybody whose approval would count now and was not given. */
async function listWhoCould(
  db: Db,
  { asked, judgement, requestedAt, covers }: HelpedChange,
): Promise<string[]> {
  const holders = await listHolders(db, rolesWith('config:approve'), HOLDERS_MAX)
  const [approvers] = await readApproverStandings(db, [
    {
      userIds: holders.map(({ id }) => id),
      authors: [...asked.authors],
      requestedAt,
      covers,
    },
  ])
  const counts = ({ id }: { id: string }) =>
    !judgement.counted.includes(id) &&
    discountOf({ ...asked, approvers: approvers! }, judgement.rule, { userId: id, at: asked.now }) === null
  return holders.filter(counts).map(({ email }) => email)
}

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
  const authors = await listAuthorsOfRequest(db, change.text, [...change.asked.authors], userId)
  return authors
    .filter((author) => isMeant(author, userId))
    .slice(0, NAMED_MAX)
    .map(({ email, elsewhere, changedReaderAt, changedByReaderAt }) => {
      const at = why === 'shaped-an-author' ? changedByReaderAt : changedReaderAt
      return {
        ...(email === null ? {} : { who: email }),
        ...(at === null ? {} : { account_at: at.toISOString() }),
        ...(elsewhere === null ? {} : { same_text: true as const }),
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
