/** The most rows of each output: evidence items in JSON and Markdown, lines in CSV, table rows in PDF. */
export const ROW_LIMITS = { json: 250_000, markdown: 250_000, csv: 250_000, pdf: 20_000 } as const

/**
 * The largest whole cap with `sum(min(size, cap)) <= budget`: small sizes are kept whole, and the others share the rest
 * evenly. Infinity when everything fits.
 */
export function fairCap(sizes: readonly number[], budget: number): number {
  const sorted = [...sizes].sort((a, b) => a - b)
  let left = budget
  for (let i = 0; i < sorted.length; i++) {
    const share = Math.floor(left / (sorted.length - i))
    if (sorted[i]! > share) return Math.max(0, share)
    left -= sorted[i]!
  }
  return Number.POSITIVE_INFINITY
}

/**
 * An entry that takes up `weight` rows, with the workload it is about. In a list the newest entry of a workload comes
 * first.
 */
export interface Weighed {
  workloadId: string
  weight: number
}

/**
 * Keep the newest entry of every workload, then the second newest of every one, and so on until the next does not fit
 * the budget. What is kept stays in the order of the list.
 */
export function keepWithin<T extends Weighed>(entries: readonly T[], budget: number): T[] {
  const seen = new Map<string, number>()
  const rounds: number[][] = []
  entries.forEach(({ workloadId }, index) => {
    const round = seen.get(workloadId) ?? 0
    seen.set(workloadId, round + 1)
    rounds[round] ??= []
    rounds[round].push(index)
  })
  const kept = new Set<number>()
  let left = budget
  for (const index of rounds.flat()) {
    left -= entries[index]!.weight
    if (left < 0) break
    kept.add(index)
  }
  return entries.filter((_, index) => kept.has(index))
}
