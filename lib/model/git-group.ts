const PREFIX = 'git/'

/** The group of the requests that come from an owner in Git. */
export const gitGroupOf = (owner: string): string => `${PREFIX}${owner}`

/** The owner in Git whose requests have this group; null for a group of other requests. */
export const gitOwnerOf = (group: string): string | null =>
  isGitGroup(group) ? group.trim().slice(PREFIX.length) : null

/** Whether a group's name is kept for requests from Git. */
export const isGitGroup = (group: string): boolean => group.trim().startsWith(PREFIX)
