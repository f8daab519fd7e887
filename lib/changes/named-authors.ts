import { toEmailKey } from '../model/emails.ts'
import { type AskedText, type CommitAuthor, listNamed, listNamesOfSomebody } from '../store/commit-authors.ts'
import type { Db } from '../store/db.ts'
import type { DesiredResult } from '../wire/desired.ts'

const NAMED = /^([^<]*)<([^<>]*)>/

/**
 * The forms in which users may be found whom a commit names, in lower case: of `Ann <ann@example.com>` both the name and
 * the address. A commit may name anybody; but all that a wrong name does is to make one author more.
 */
export function toAuthorNames({ commitAuthor, commitAuthors }: CommitAuthors): CommitAuthor[] {
  const saidOf = new Map<string, string>()
  for (const said of [commitAuthor, ...commitAuthors])
    for (const name of formsOf(said)) if (!saidOf.has(name)) saidOf.set(name, said)
  return [...saidOf].map(([name, said]) => ({ name, said }))
}

/** Whom a commit names. */
export interface CommitAuthors {
  commitAuthor: string
  commitAuthors: readonly string[]
}

function formsOf(text: string): string[] {
  const [, name, address] = NAMED.exec(text.trim()) ?? [text, text, '']
  return [name!, address!].map(toEmailKey).filter((form) => form !== '')
}

/** What is done about a text that somebody is to approve. */
const ASKED_FOR: ReadonlySet<DesiredResult['action']> = new Set(['propose', 'waits'])

/**
 * Those whom a commit names and nobody here is called: whoever they are, they count as a second person for its text. So
 * it is with the addresses that GitHub gives those who show none. Nobody is named of a text that asks for nothing.
 */
export async function listUnknownAuthors(
  db: Db,
  action: DesiredResult['action'],
  named: CommitAuthors,
): Promise<string[]> {
  if (!ASKED_FOR.has(action)) return []
  return leaveUnknown(db, [named.commitAuthor, ...named.commitAuthors])
}

/** So many are named to whoever decides about a text; of more, others come in their place once these are known. */
const UNKNOWN_NAMED_MAX = 50

/**
 * Those of all whom commits named that brought a text, as `listUnknownAuthors` says them: those of whom is not known where only
 * to whoever sees everything.
 */
export async function listUnknownOfText(
  db: Db,
  asked: Omit<AskedText, 'key'>,
  seesAll: boolean,
): Promise<string[]> {
  const noted = await listNamed(db, asked)
  const shown = noted.filter(({ isHere }) => isHere || seesAll)
  const unknown = await leaveUnknown(
    db,
    shown.flatMap(({ said }) => said ?? []),
  )
  return unknown.sort().slice(0, UNKNOWN_NAMED_MAX)
}

async function leaveUnknown(db: Db, texts: readonly string[]): Promise<string[]> {
  const known = await listNamesOfSomebody(db, texts.flatMap(formsOf))
  return [...new Set(texts)].filter((text) => {
    const forms = formsOf(text)
    return forms.length > 0 && !forms.some((form) => known.has(form))
  })
}
