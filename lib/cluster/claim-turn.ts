import { BEHIND_PATIENCE_MS, LAST_PATIENCE_MS, RANK_PATIENCE_MS } from './timing.ts'

/**
 * How good an owner a process may be, the best first: nothing speaks against it; it never had a link, so nobody knows; or
 * it was tried lately and nobody followed it, or it is not reached even by itself.
 */
export type Suit = 'good' | 'unknown' | 'poor'

const PATIENCE_MS: Record<Suit, number> = { good: 0, unknown: BEHIND_PATIENCE_MS, poor: LAST_PATIENCE_MS }
const ORDER: readonly Suit[] = ['good', 'unknown', 'poor']

/**
 * For how long a process leaves a free lock to others: where a better one runs, until that had the time to take it, and
 * then a while for each one that is as good and started later. Only those that could take it now count (`candidates`, the
 * last started first, this process among them), and of these none that has just owned: its suit is null.
 */
export function claimWaitMs(
  selfId: string,
  candidates: readonly { id: string }[],
  suitOf: (id: string) => Suit | null,
): number {
  const suit = suitOf(selfId) ?? 'poor'
  const suits = candidates.map(({ id }) => (id === selfId ? suit : suitOf(id)))
  const isBehind = suits.some((other) => other !== null && ORDER.indexOf(other) < ORDER.indexOf(suit))
  const self = candidates.findIndex(({ id }) => id === selfId)
  const rank = suits.slice(0, Math.max(0, self)).filter((other) => other === suit).length
  return (isBehind ? PATIENCE_MS[suit] : 0) + rank * RANK_PATIENCE_MS
}
