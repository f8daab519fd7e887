import { listUnknownAuthors } from '../../lib/changes/named-authors.ts'
import type { DesiredResult } from '../../lib/wire/desired.ts'
import type { Context } from '../../runtime/context.ts'

/** Those whom the commit of a wish names and nobody here is called, as the answer says them; nothing where there are none. */
export async function tellUnknownAuthors(
  { db }: Pick<Context, 'db'>,
  action: DesiredResult['action'],
  {
    commit_author: commitAuthor,
    commit_authors: commitAuthors,
  }: { commit_author: string; commit_authors: readonly string[] },
): Promise<Pick<DesiredResult, 'unknown_authors'>> {
  const unknown = await listUnknownAuthors(db, action, { commitAuthor, commitAuthors })
  return unknown.length === 0 ? {} : { unknown_authors: unknown }
}
