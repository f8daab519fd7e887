/**
 * The heights of bars that are drawn over each other: each series includes those after it, so that the last one, drawn
 * in front, shows its own values.
 */
export function stackBars(series: readonly (readonly number[])[]): number[][] {
  return series.map((values, at) =>
    values.map((_, index) => series.slice(at).reduce((sum, one) => sum + (one[index] ?? 0), 0)),
  )
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
