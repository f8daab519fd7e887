/** How often one agent may cause something: so often at once, and then once more each time that has passed. */
export interface Tokens {
  burst: number
  refillMs: number
}

/** Requests for the full state of one agent. */
export const FULL_STATE_TOKENS: Tokens = { burst: 5, refillMs: 10_000 }

/** Changes of its version that are written into the history of its workload. */
export const VERSION_TOKENS: Tokens = { burst: 10, refillMs: 10 * 60_000 }

/** Connections that are written into the history of its workload, each with its end. */
export const CONNECTION_TOKENS: Tokens = { burst: 60, refillMs: 60_000 }

/** How many tokens there are now, where so many were left so long ago. */
export const tokensLeft = ({ burst, refillMs }: Tokens, left: number, agoMs: number): number =>
  Math.min(burst, left + Math.floor(agoMs / refillMs))
