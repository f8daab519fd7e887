import type { Clock } from '../clock.ts'
import { type CommitAuthor, noteCommitAuthors } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import { type AskedInGit, listUnseenAuthors, noteUnseen } from '../store/unseen-texts.ts'

/**
 * Note whom the commit of a wish names, and who made what Git asked for before it and nobody has brought to run, or that was
 * rolled back: what they changed comes with the next one, whose last commit may be of anybody. `isAnew`: not what was asked
 * for last already.
 */
export async function noteAuthors(
  { clock }: { clock: Pick<Clock, 'now'> },
  tx: Db,
  asked: AskedInGit,
  { authors, isAnew }: { authors: readonly CommitAuthor[]; isAnew: boolean },
): Promise<void> {
  const former = await listUnseenAuthors(tx, asked)
  await noteCommitAuthors(tx, asked, [...authors, ...former], clock)
  await noteUnseen(tx, asked, isAnew, clock.now())
}
