const OWNER = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/

/** Whether a text can be the name of an owner in Git. */
export const isOwner = (owner: string): boolean => OWNER.test(owner)

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
