/** Headers of every reply that sets or clears the session cookie. */
export const NO_STORE = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const
