import { toEmailKey } from '../model/emails.ts'

const OWNER = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/

/** Whether a text can be the name of an owner in Git. */
export const isOwner = (owner: string): boolean => OWNER.test(owner)

const NAMED = /^([^<]*)<([^<>]*)>/

/**
 * The forms in which users may be found whom a commit names, in lower case: of `Ann <ann@example.com>` both the name and
 * the address. A commit may name anybody; but all that a wrong name does is to make one author more.
 */
export function toAuthorNames({
  commitAuthor,
  commitAuthors,
}: {
  commitAuthor: string
  commitAuthors: readonly string[]
}): string[] {
  const forms = [commitAuthor, ...commitAuthors].flatMap((text) => {
    const [, name, address] = NAMED.exec(text.trim()) ?? [text, text, '']
    return [name!, address!]
  })
  return [...new Set(forms.map(toEmailKey))].filter((form) => form !== '')
}

/** The comment by which people see that a config is from Git: owner, commit and author. */
export function tellCommit({
  owner,
  commitSha,
  commitAuthor,
}: {
  owner: string
  commitSha: string
  commitAuthor: string
}): string {
  const at = commitSha === '' ? '' : ` at ${commitSha}`
  const by = commitAuthor === '' ? '' : ` by ${commitAuthor}`
  return `From Git: ${owner}${at}${by}`
}
