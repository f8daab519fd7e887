/** What a histogram says in numbers; times in milliseconds. */
export interface Summary {
  count: number
  p50: number
  p99: number
  max: number
}

const STEPS_PER_DOUBLING = 16
const FIRST_MS = 0.01
const BUCKETS = 400

/** Times in buckets that grow by 4 %, so that millions cost nothing to keep. */
export class Histogram {
  readonly #counts = new Float64Array(BUCKETS)
  #count = 0
  #max = 0

  add(ms: number): void {
    const bucket = ms <= FIRST_MS ? 0 : Math.ceil(Math.log2(ms / FIRST_MS) * STEPS_PER_DOUBLING)
    this.#counts[Math.min(BUCKETS - 1, bucket)]!++
    this.#count++
    if (ms > this.#max) this.#max = ms
  }

  reset(): void {
    this.#counts.fill(0)
    this.#count = 0
    this.#max = 0
  }

  summary(): Summary {
    return { count: this.#count, p50: this.#quantile(0.5), p99: this.#quantile(0.99), max: round(this.#max) }
  }

  #quantile(share: number): number {
    let left = this.#count * share
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      left -= this.#counts[bucket]!
      if (left <= 0) return round(Math.min(this.#max, FIRST_MS * 2 ** (bucket / STEPS_PER_DOUBLING)))
    }
    return round(this.#max)
  }
}

const round = (ms: number) => Math.round(ms * 100) / 100

/** The value below which `share` (0 to 1) of these times lie, found by sorting. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
}
