/** So long may a peer let wait in all, beside what this many bytes for each millisecond take: a kilobyte a second. */
const GRACE_MS = 60_000
const BYTES_PER_MS = 1

/**
 * Cuts a peer that reads its answer slower than any line that people use: one holds a connection and what the answer is
 * made of, and the socket library waits for ever for one that takes some bytes now and then. Only the time counts in
 * which the answer waits for the peer, and not the other way round.
 */
export class SlowReader {
  readonly #cut: () => void
  #waitedMs = 0
  #sinceMs: number | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(cut: () => void) {
    this.#cut = cut
  }

  /** The peer does not take more for now; so many bytes were given to it. */
  waits(bytes: number): void {
    this.#sinceMs = performance.now()
    this.#timer = setTimeout(this.#cut, Math.max(0, GRACE_MS + bytes / BYTES_PER_MS - this.#waitedMs))
  }

  /** It takes more. */
  reads(): void {
    clearTimeout(this.#timer)
    if (this.#sinceMs !== null) this.#waitedMs += performance.now() - this.#sinceMs
    this.#sinceMs = null
  }

  /** The answer is over. */
  stop(): void {
    clearTimeout(this.#timer)
  }
}
