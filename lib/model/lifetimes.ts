/** So long a token works that a command line got by signing in. */
export const LOGIN_TOKEN_HOURS = 12

/** So long after the last sign-in of a person that person's tokens work. */
export const HOLDER_ACTIVE_DAYS = 14

/** So long after its last change, by a comment, an approval or anything else, a request ends that waits. */
export const REQUEST_IDLE_DAYS = 30

/** So long after its end a campaign can be rolled back as a whole; one that is not over can be at any time. */
export const ROLL_BACK_DAYS = 30
