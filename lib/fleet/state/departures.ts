/** For how long a departure is remembered after it was noted; a front has no dead socket for so long. */
const KEPT_MS = 600_000
/** The most agents of which it is; the one that was noted longest ago is forgotten first. */
export const DEPARTURES_MAX = 20_000

/**
 * When agents said goodbye that are not known any more, or were not when that was told: by uid, by the machine's clock. A
 * front that had no link may say of such a one what it had said before, on a socket that only seems open.
 */
export class Departures {
  readonly #saidMs = new Map<string, { saidMs: number; notedMs: number }>()

  note(uid: string, saidMs: number, nowMs: number): void {
    this.#saidMs.delete(uid)
    this.#saidMs.set(uid, { saidMs, notedMs: nowMs })
    for (const [first, { notedMs }] of this.#saidMs) {
      if (this.#saidMs.size <= DEPARTURES_MAX && nowMs - notedMs < KEPT_MS) return
      this.#saidMs.delete(first)
    }
  }

  /** Whether this agent has said goodbye after that moment. */
  hasLeftSince(uid: string, saidMs: number): boolean {
    const departure = this.#saidMs.get(uid)
    return departure !== undefined && saidMs < departure.saidMs
  }

  /** It is known again. */
  forget(uid: string): void {
    this.#saidMs.delete(uid)
  }
}
