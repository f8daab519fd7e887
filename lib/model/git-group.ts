const PREFIX = 'git/'

/** The group of the requests that a desired state makes, by who keeps it. */
export const gitGroupOf = (owner: string): string => `${PREFIX}${owner}`

/** Who keeps the requests of a group in Git; null where the group is nobody's. */
export const gitOwnerOf = (group: string): string | null =>
  isGitGroup(group) ? group.trim().slice(PREFIX.length) : null

/** Whether a group's name is kept for requests from Git. */
export const isGitGroup = (group: string): boolean => group.trim().startsWith(PREFIX)
