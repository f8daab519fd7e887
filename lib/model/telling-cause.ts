/** Causes that only say that it did not work: any other says more of why. */
const VAGUE: ReadonlySet<string> = new Set([
  'agent_exited',
  'apply_timeout',
  'lost_while_applying',
  'opamp_send_failed',
])

/** How much a cause tells: 2 where it says why, 1 where it only says that it did not work, 0 where it says nothing. */
export const tellingRank = (said: { cause: string } | null): 0 | 1 | 2 =>
  said === null || said.cause === 'unknown' ? 0 : VAGUE.has(said.cause) ? 1 : 2

/** Of what is said of one failure, the first that tells why; else the first that is known at all; null for none. */
export function mostTelling<T extends { cause: string }>(said: Iterable<T | null>): T | null {
  let first: T | null = null
  for (const one of said) {
    const rank = tellingRank(one)
    if (rank === 2) return one
    if (rank === 1) first ??= one
  }
  return first
}
