import type { Clock } from '../../clock.ts'

/** What was noted within some time, so many at most: when there are more, the one that was noted first is forgotten. */
export class Lately {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #lifetimeMs: number
  readonly #most: number
  /** When each was noted, in monotonic milliseconds, the first first. */
  readonly #noted = new Map<string, number>()

  constructor(clock: Pick<Clock, 'monotonicMs'>, { lifetimeMs, most }: { lifetimeMs: number; most: number }) {
    this.#clock = clock
    this.#lifetimeMs = lifetimeMs
    this.#most = most
  }

  /** Note it; false where it is noted already, and for how long stays as it was. */
  note(key: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    for (const [known, notedMs] of this.#noted) {
      if (nowMs - notedMs < this.#lifetimeMs) break
      this.#noted.delete(known)
    }
    if (this.#noted.has(key)) return false
    const [oldest] = this.#noted.keys()
    if (this.#noted.size >= this.#most && oldest !== undefined) this.#noted.delete(oldest)
    this.#noted.set(key, nowMs)
    return true
  }

  forget(key: string): void {
    this.#noted.delete(key)
  }
}
