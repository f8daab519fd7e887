/** The most rows of each output: evidence items in JSON and Markdown, lines in CSV, table rows in PDF. */
export const ROW_LIMITS = { json: 250_000, markdown: 250_000, csv: 250_000, pdf: 20_000 } as const

/**
 * The largest whole cap with `sum(min(size, cap)) <= budget`: who needs little gets all of it, and the rest is
 * shared evenly. Infinity when everything fits.
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

/** Something that takes up rows, with the workload it is about; the newest of a workload come first. */
export interface Weighed {
  workloadId: string
  weight: number
}

/**
 * Which of a list to keep within a budget: of every workload its first ones, as many as fit into an even share.
 * Where there are more workloads than rows, the first of the list.
 */
export function keepWithin<T extends Weighed>(entries: readonly T[], budget: number): T[] {
  const sizes = new Map<string, number>()
  for (const { workloadId, weight } of entries) sizes.set(workloadId, (sizes.get(workloadId) ?? 0) + weight)
  const cap = fairCap([...sizes.values()], budget)
  if (cap === Number.POSITIVE_INFINITY) return [...entries]
  const used = new Map<string, number>()
  let spent = 0
  return entries.filter(({ workloadId, weight }) => {
    const next = (used.get(workloadId) ?? 0) + weight
    const isWithin = cap > 0 ? next <= cap : next === weight && spent + weight <= budget
    // A workload's later rows are not let in behind one that was left out, so that what is kept is the newest.
    used.set(workloadId, isWithin ? next : Number.POSITIVE_INFINITY)
    if (isWithin) spent += weight
    return isWithin
  })
}
