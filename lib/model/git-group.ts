const PREFIX = 'git/'

/** The group of the requests that a desired state makes, by who keeps it. */
export const gitGroupOf = (owner: string): string => `${PREFIX}${owner}`

/** Whether a group's name is kept for requests from Git. */
export const isGitGroup = (group: string): boolean => group.trim().startsWith(PREFIX)
