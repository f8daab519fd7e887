import type { CommitAuthors } from '../changes/named-authors.ts'

/** The address after a name, as Git writes both. */
const ADDRESS = /<[^<>]*>$/
const OWNER = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/

/** Whether a text can be the name of an owner in Git. */
export const isOwner = (owner: string): boolean => OWNER.test(owner)

/** The texts that a commit comes with, by the names of their fields, for `refuseTexts`. */
export const textsOf = ({
  commitSha,
  commitAuthor,
  commitAuthors,
}: CommitAuthors & { commitSha: string }): Record<string, string> => ({
  commit_sha: commitSha,
  commit_author: commitAuthor,
  commit_authors: commitAuthors.join(),
})

/** So many characters of the audit log's detail are for those whom a commit names beside its author. */
const RECORDED_MAX = 4_000

/** Whom a commit names, for the audit log: none of them counts as a second person, so whose word that is must be known. */
export function recordNamed({ commitAuthor, commitAuthors }: CommitAuthors): Record<string, unknown> {
  let room = RECORDED_MAX
  const recorded = commitAuthors.filter((said) => {
    room -= JSON.stringify(said).length + 1
    return room >= 0
  })
  const leftOut = commitAuthors.length - recorded.length
  return {
    commit_author: commitAuthor,
    ...(recorded.length === 0 ? {} : { commit_authors: recorded }),
    ...(leftOut === 0 ? {} : { commit_authors_left_out: leftOut }),
  }
}

/** So many characters of a commit tell it from others; the whole stands beside the comment. */
const COMMIT_SHOWN = 12

/** The comment by which people see that a config is from Git: owner, the beginning of the commit, and its author's name. */
export function tellCommit({
  owner,
  commitSha,
  commitAuthor,
}: {
  owner: string
  commitSha: string
  commitAuthor: string
}): string {
  const at = commitSha === '' ? '' : ` at ${commitSha.slice(0, COMMIT_SHOWN)}`
  const name = commitAuthor.replace(ADDRESS, '').trim() || commitAuthor
  const by = name === '' ? '' : ` by ${name}`
  return `From Git: ${owner}${at}${by}`
}

/** The comment by which people see why a request from Git ended when what it asked for was let go of, and by whom. */
export const tellRelease = ({ owner, actor }: { owner: string; actor: { email: string } }): string =>
  `${actor.email} let go of what ${owner} keeps here`
