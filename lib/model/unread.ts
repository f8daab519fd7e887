/** After how long a text is read again that a thread gave up: the machine may have been slow. */
export const UNREAD_MS = 60_000
const UNREAD_MS_MAX = 3_600_000

/** For how long one is left alone that was given up so many times in a row. */
export const unreadForMs = (times: number): number => Math.min(UNREAD_MS_MAX, UNREAD_MS * 2 ** (times - 1))
