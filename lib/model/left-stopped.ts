const DAY_MS = 86_400_000

/**
 * What is stopped, a campaign or a version that applies by itself, ends after so many days without a change: what waits
 * for it would wait for ever.
 */
export const LEFT_STOPPED_DAYS = 30
/** So many days before that people are told of it. */
export const TOLD_BEFORE_DAYS = 7

/** The time so many days before another one. */
export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * DAY_MS)

/** When something ends that has been stopped since, unless somebody continues it. */
export const endOfStopped = (since: Date): Date => new Date(since.getTime() + LEFT_STOPPED_DAYS * DAY_MS)
