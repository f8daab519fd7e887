/** An owner that others do not follow leaves the fleet after so long. */
const LEAVE_AFTER_MS = 10_000
/**
 * For how long an owner that left stays when it owns again, by why it left: where others could not follow at that moment
 * they may soon, and where none reaches another one each hand-over only interrupts.
 */
const STAYS_MS = { unreached: 60_000, unfollowed: 600_000 }
/** So many others that do not follow show that the fault is the owner's and not theirs. */
const UNFOLLOWED_BY_MIN = 2

/** Why an owner leaves the fleet: no process reaches it, or it alone does. */
export type LeavingCause = keyof typeof STAYS_MS

/** Another process that is known to run now, by its row. */
export interface Other {
  id: string
  /** The epoch of the owner that it has a link to, and the one that it owns itself; null for none. */
  linkedEpoch: number | null
  ownedEpoch: number | null
  /** Whether it speaks a version of links that this process speaks. */
  isSpokenWith: boolean
}

/** What a process sees of the fleet at a time. */
export interface Look {
  /** The epoch that this process owns; null for none. */
  epoch: number | null
  others: readonly Other[]
  /** As the owner it has long had no link even to itself, is not reached at its address, and another one is. */
  isUnreached: boolean
}

/** Tells when an owner is to leave the fleet to another process, and remembers that it did. */
export class Leaving {
  /** Those of the others that run and had a link to another one before: to one that never had, the fault may be its own. */
  readonly #linked = new Set<string>()
  /** The other one that owned last. */
  #formerOwner = ''
  #epoch: number | null = null
  /** When this process began to own, while nobody has followed it yet; null from then on. */
  #unprovenSinceMs: number | null = null
  #unfollowedSinceMs: number | null = null
  readonly #leftMs = { unreached: Number.NEGATIVE_INFINITY, unfollowed: Number.NEGATIVE_INFINITY }

  /** Why this process is to leave the fleet to another one now; null where it is not. `nowMs`: of a monotonic clock. */
  causeNow({ epoch, others, isUnreached }: Look, nowMs: number): LeavingCause | null {
    this.#noteOthers(others)
    this.#noteEpoch(epoch, nowMs)
    const isUnfollowed = this.#isUnfollowed(others, nowMs)
    if (epoch === null) return null
    if (isUnreached && this.#mayLeave('unreached', nowMs)) return 'unreached'
    return isUnfollowed && !this.#isNoBetter(others, nowMs) && this.#mayLeave('unfollowed', nowMs)
      ? 'unfollowed'
      : null
  }

  /** It leaves. */
  left(cause: LeavingCause, nowMs: number): void {
    this.#leftMs[cause] = nowMs
  }

  /** Whether it left because it alone reached itself, so lately that it leaves a free lock to the others first. */
  yields(nowMs: number): boolean {
    return !this.#mayLeave('unfollowed', nowMs)
  }

  #noteOthers(others: readonly Other[]): void {
    for (const id of this.#linked) if (!others.some((other) => other.id === id)) this.#linked.delete(id)
    for (const { id, linkedEpoch, ownedEpoch } of others)
      if (linkedEpoch !== null && linkedEpoch !== ownedEpoch) this.#linked.add(id)
    const owners = others.filter(({ ownedEpoch }) => ownedEpoch !== null)
    const last = Math.max(...owners.map(({ ownedEpoch }) => ownedEpoch!))
    this.#formerOwner = owners.find(({ ownedEpoch }) => ownedEpoch === last)?.id ?? this.#formerOwner
  }

  #noteEpoch(epoch: number | null, nowMs: number): void {
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#unprovenSinceMs = epoch === null ? null : nowMs
    this.#unfollowedSinceMs = null
  }

  #isUnfollowed(others: readonly Other[], nowMs: number): boolean {
    const epoch = this.#epoch
    const isFollowed = epoch === null || others.some(({ linkedEpoch }) => linkedEpoch === epoch)
    if (isFollowed) this.#unprovenSinceMs = null
    const able = others.filter(({ id, isSpokenWith }) => isSpokenWith && this.#linked.has(id))
    if (isFollowed || able.length < UNFOLLOWED_BY_MIN) this.#unfollowedSinceMs = null
    else this.#unfollowedSinceMs ??= nowMs
    return this.#unfollowedSinceMs !== null && nowMs - this.#unfollowedSinceMs >= LEAVE_AFTER_MS
  }

  /**
   * Whether nobody has followed this process since it took over from an owner that still runs: then the fault is neither's,
   * and another hand-over would bring nothing.
   */
  #isNoBetter(others: readonly Other[], nowMs: number): boolean {
    const sinceMs = this.#unprovenSinceMs
    if (sinceMs === null || nowMs - sinceMs >= STAYS_MS.unfollowed) return false
    return others.some(({ id }) => id === this.#formerOwner)
  }

  #mayLeave(cause: LeavingCause, nowMs: number): boolean {
    return nowMs - this.#leftMs[cause] >= STAYS_MS[cause]
  }
}
