/** The counts of one bar as heights: a small count gets the least height, at the cost of the largest one. */
function raiseSmall(counts: readonly number[], least: number): number[] {
  const heights = counts.map((count) => (count > 0 ? Math.max(count, least) : 0))
  const added = heights.reduce((sum, height, at) => sum + height - (counts[at] ?? 0), 0)
  const largest = heights.indexOf(Math.max(...heights))
  if (added > 0) heights[largest] = Math.max(least, (heights[largest] ?? 0) - added)
  return heights
}

/** No count is raised to a larger part of its own bar: one of few is not to look like half of them. */
const RAISED_SHARE_MAX = 0.1

/**
 * The heights of bars that are drawn over each other: each series includes those after it, so that the last one, drawn
 * in front, shows its own values. A count that is not 0 is at least `leastShare` of the highest bar, so that it is seen:
 * one workload of four thousand that is down would be no line at all.
 */
export function stackBars(series: readonly (readonly number[])[], leastShare = 0): number[][] {
  const bars = (series[0] ?? []).map((_, index) => series.map((values) => values[index] ?? 0))
  const sumOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0)
  const least = leastShare * Math.max(0, ...bars.map(sumOf))
  const heights = bars.map((counts) => raiseSmall(counts, Math.min(least, RAISED_SHARE_MAX * sumOf(counts))))
  return series.map((_, at) => heights.map((bar) => sumOf(bar.slice(at))))
}

/** From the start of the first bucket to the end of the last. */
export function rangeOfBars(starts: readonly number[], seconds: number): [number, number] {
  return [starts[0] ?? 0, (starts.at(-1) ?? 0) + seconds]
}

/** The bucket that a moment lies in; null outside of all. */
export function bucketAt(starts: readonly number[], seconds: number, moment: number): number | null {
  const index = Math.floor((moment - (starts[0] ?? 0)) / seconds)
  return index >= 0 && index < starts.length ? index : null
}

/** The stretches of a series that hold counts; null, where nothing was counted, ends one. */
export function toStretches(values: readonly (number | null)[]): { first: number; values: number[] }[] {
  const stretches: { first: number; values: number[] }[] = []
  values.forEach((value, at) => {
    if (value === null) return
    const last = stretches.at(-1)
    if (last && last.first + last.values.length === at) last.values.push(value)
    else stretches.push({ first: at, values: [value] })
  })
  return stretches
}
