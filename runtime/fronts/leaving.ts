/** An owner that others do not follow leaves the fleet after so long. */
const LEAVE_AFTER_MS = 10_000
/** For so long after the last one left unfollowed, whoever was tried is not tried again: each hand-over interrupts. */
const TRIED_FOR_MS = 600_000
/** For how long an owner that no process reached stays when it owns again: others could not follow at that moment. */
const UNREACHED_STAYS_MS = 60_000
/** So many others that do not follow show that the fault is the owner's and not theirs. */
const UNFOLLOWED_BY_MIN = 2

/** Why an owner leaves the fleet: no process reaches it, or it may be that it alone does. */
export type LeavingCause = 'unreached' | 'unfollowed'

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
  /** The epoch that this process owns, and the one that it has a link to; null for none. */
  ownedEpoch: number | null
  linkedEpoch: number | null
  others: readonly Other[]
  /** The ids of all members with a row, be they silent now. */
  memberIds: readonly string[]
  /** As the owner it has long had no link even to itself, is not reached at its address, and another one is. */
  isUnreached: boolean
}

interface SeenOwner {
  id: string
  epoch: number
  isFollowed: boolean
  /** It had a link to itself once: it had begun to decide. */
  hasBegun: boolean
}

/**
 * Tells when an owner is to leave the fleet to another process. Who reaches whom is seen by links alone, and these lead to
 * the owner only: so where those that had links have none, one after the other is tried as the owner, each once, and the
 * last one stays.
 */
export class Leaving {
  readonly #selfId: string
  /** The members that had a link once: to one that never had, the fault may be its own. */
  readonly #linked = new Set<string>()
  /** The members that owned and left, or lost it, while nobody followed them. */
  readonly #tried = new Set<string>()
  #triedMs = Number.NEGATIVE_INFINITY
  #owner: SeenOwner | null = null
  /** The others that were known to run at the last look. */
  #others: readonly Other[] = []
  #unfollowedSinceMs: number | null = null
  #leftUnreachedMs = Number.NEGATIVE_INFINITY

  /** `selfId`: the member that this process is. */
  constructor(selfId: string) {
    this.#selfId = selfId
  }

  /** Why this process is to leave the fleet to another one now; null where it is not. `nowMs`: of a monotonic clock. */
  causeNow(look: Look, nowMs: number): LeavingCause | null {
    const { ownedEpoch, others, isUnreached } = look
    this.#others = others
    this.#forget(look, nowMs)
    for (const { id, linkedEpoch } of others) if (linkedEpoch !== null) this.#linked.add(id)
    this.#noteOwner(look, nowMs)
    if (ownedEpoch === null) {
      this.#unfollowedSinceMs = null
      return null
    }
    if (isUnreached && nowMs - this.#leftUnreachedMs >= UNREACHED_STAYS_MS) return 'unreached'
    const able = others.filter(({ id, isSpokenWith }) => isSpokenWith && this.#linked.has(id))
    if (this.#owner!.isFollowed || able.length < UNFOLLOWED_BY_MIN) this.#unfollowedSinceMs = null
    else this.#unfollowedSinceMs ??= nowMs
    const sinceMs = this.#unfollowedSinceMs
    const isUnfollowed = sinceMs !== null && nowMs - sinceMs >= LEAVE_AFTER_MS
    const isBetter = able.some(({ id }) => !this.#tried.has(id)) && !this.#tried.has(this.#selfId)
    return isUnfollowed && isBetter ? 'unfollowed' : null
  }

  /** This process leaves. */
  left(cause: LeavingCause, nowMs: number): void {
    if (cause === 'unreached') this.#leftUnreachedMs = nowMs
    else this.#noteTried(this.#selfId, nowMs)
    this.#unfollowedSinceMs = null
  }

  /**
   * Whether this process leaves a free lock to others first: it was tried lately, or never had a link, and another one runs
   * that had one and was not tried. The owner that has just gone is none of these.
   */
  yields(wasLinked: boolean, nowMs: number): boolean {
    const isTried = this.#tried.has(this.#selfId) && nowMs - this.#triedMs < TRIED_FOR_MS
    if (!isTried && wasLinked) return false
    const gone = this.#owner?.hasBegun ? this.#owner.id : null
    return this.#others.some(({ id }) => this.#linked.has(id) && !this.#tried.has(id) && id !== gone)
  }

  #forget({ memberIds }: Look, nowMs: number): void {
    const known = new Set([this.#selfId, ...memberIds])
    for (const ids of [this.#linked, this.#tried]) for (const id of ids) if (!known.has(id)) ids.delete(id)
    if (nowMs - this.#triedMs >= TRIED_FOR_MS) this.#tried.clear()
  }

  #noteTried(id: string, nowMs: number): void {
    this.#tried.add(id)
    this.#triedMs = nowMs
  }

  /** Note who owns now, and that the one before was tried in vain where it still runs and nobody followed it. */
  #noteOwner({ ownedEpoch, linkedEpoch, others }: Look, nowMs: number): void {
    const owners = [{ id: this.#selfId, ownedEpoch }, ...others].filter((one) => one.ownedEpoch !== null)
    const epoch = Math.max(...owners.map((one) => one.ownedEpoch!))
    const id = owners.find((one) => one.ownedEpoch === epoch)?.id
    const before = this.#owner
    if (id === undefined) return
    const linked = [{ id: this.#selfId, linkedEpoch }, ...others].filter((one) => one.linkedEpoch === epoch)
    const isFollowed = linked.some((one) => one.id !== id)
    const hadBegun = before?.id === id && before.epoch === epoch && before.hasBegun
    this.#owner = { id, epoch, isFollowed, hasBegun: hadBegun || linked.some((one) => one.id === id) }
    if (isFollowed) this.#tried.delete(id)
    if (before === null || before.id === id || before.isFollowed || !before.hasBegun) return
    if (others.some((one) => one.id === before.id)) this.#noteTried(before.id, nowMs)
  }
}
