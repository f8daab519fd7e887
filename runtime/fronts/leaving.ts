/** An owner that others do not follow leaves the fleet after so long. */
const LEAVE_AFTER_MS = 10_000
/**
 * How long an owner that left the fleet stays when it owns again, by why it left: where others could not follow at that
 * moment they may soon, and where none reaches another one each hand-over only interrupts.
 */
const STAYS_MS = { unreached: 60_000, unfollowed: 600_000 }
/** So many others that do not follow, of its own kind, show that the fault is the owner's and not theirs. */
const UNFOLLOWED_BY_MIN = 2

/** Why an owner leaves the fleet: no process reaches it, or it alone does. */
export type LeavingCause = keyof typeof STAYS_MS

/** What an owner sees of those that are to follow it. */
export interface Following {
  /** Whether a process other than the owner has a link to it; true where this process does not own. */
  isFollowed: boolean
  /** How many others run that speak its links. */
  others: number
  /** Whether it has had no link even to itself for long, is not reached at its address, and another one is. */
  isUnreached: boolean
}

/** Tells when an owner is to leave the fleet to another process, and remembers that it did. */
export class Leaving {
  #unfollowedSinceMs: number | null = null
  #left: { cause: LeavingCause; sinceMs: number } | null = null
  #waitsForNext = false

  /** It left because it alone reached itself, and has no link to the next owner yet: it leaves the lock to the others. */
  get waitsForNext(): boolean {
    return this.#waitsForNext
  }

  /** Why the owner is to leave now; null where it is not. Times in milliseconds, of one monotonic clock. */
  causeNow({ isFollowed, others, isUnreached }: Following, nowMs: number): LeavingCause | null {
    if (isFollowed || others < UNFOLLOWED_BY_MIN) this.#unfollowedSinceMs = null
    else this.#unfollowedSinceMs ??= nowMs
    const sinceMs = this.#unfollowedSinceMs
    if (isUnreached) return this.#mayLeave('unreached', nowMs)
    const isUnfollowed = sinceMs !== null && nowMs - sinceMs >= LEAVE_AFTER_MS
    return isUnfollowed ? this.#mayLeave('unfollowed', nowMs) : null
  }

  #mayLeave(cause: LeavingCause, nowMs: number): LeavingCause | null {
    const left = this.#left
    return left === null || nowMs - left.sinceMs >= STAYS_MS[left.cause] ? cause : null
  }

  /** The owner leaves. */
  left(cause: LeavingCause, nowMs: number): void {
    this.#left = { cause, sinceMs: nowMs }
    this.#waitsForNext = cause === 'unfollowed'
    this.#unfollowedSinceMs = null
  }

  /** It has a link to the next owner. */
  linked(): void {
    this.#waitsForNext = false
  }
}
