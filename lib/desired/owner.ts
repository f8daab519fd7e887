const OWNER = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/

/** Whether a text can name who keeps configs in Git. */
export const isOwner = (owner: string): boolean => OWNER.test(owner)

/** What is said of a wish where people read of it. */
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
