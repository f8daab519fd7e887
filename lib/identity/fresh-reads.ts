import type { Clock } from '../clock.ts'

const FRESH_MS = 30_000
const ENTRIES_MAX = 10_000

interface Entry<Value> {
  value: Value
  readAtMs: number
}

/** Remembers for 30 s what was read of a credential; what was read before a `forget` counts for whoever had asked only. */
export class FreshReads<Value> {
  readonly #clock: Clock
  readonly #isKept: (value: Value) => boolean
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #running = new Map<string, Promise<Value>>()
  /** Goes up with each `forget`. */
  #generation = 0

  /** A value that `isKept` refuses is not remembered: it pushes none of the others out of memory. */
  constructor(clock: Clock, isKept: (value: Value) => boolean = () => true) {
    this.#clock = clock
    this.#isKept = isKept
  }

  /** Whether it was read before, however long ago, and is remembered. */
  isKnown(key: string): boolean {
    return this.#entries.has(key)
  }

  /** Read it, from memory where that is fresh. Those who ask at once share a read. Throws what `load` throws. */
  read(key: string, load: () => Promise<Value>): Promise<Value> {
    const known = this.#entries.get(key)
    if (known && this.#clock.monotonicMs() - known.readAtMs < FRESH_MS) return Promise.resolve(known.value)
    // Whoever asks after a `forget` has no part in a read that began before.
    const running = `${this.#generation} ${key}`
    const loading =
      this.#running.get(running) ?? this.#load(key, load).finally(() => this.#running.delete(running))
    this.#running.set(running, loading)
    return loading
  }

  /** Read everything again before it counts. */
  forget(): void {
    this.#generation++
    for (const entry of this.#entries.values()) entry.readAtMs = Number.NEGATIVE_INFINITY
  }

  async #load(key: string, load: () => Promise<Value>): Promise<Value> {
    const startedAt = this.#generation
    const readAtMs = this.#clock.monotonicMs()
    const value = await load()
    this.#entries.delete(key)
    if (!this.#isKept(value)) return value
    // What was read before a `forget` may have changed since: it is remembered as too old.
    const isCurrent = startedAt === this.#generation
    this.#entries.set(key, { value, readAtMs: isCurrent ? readAtMs : Number.NEGATIVE_INFINITY })
    if (this.#entries.size > ENTRIES_MAX) this.#entries.delete(this.#entries.keys().next().value!)
    return value
  }
}
