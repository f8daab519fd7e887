import type { Suit } from '../../lib/cluster/claim-turn.ts'

/** An owner that others do not follow leaves the fleet after so long. */
const LEAVE_AFTER_MS = 10_000
/** For so long whoever was tried is not tried again: each hand-over interrupts. */
const TRIED_FOR_MS = 600_000
/** For how long an owner that no process reached stays when it owns again: others could not follow at that moment. */
const UNREACHED_STAYS_MS = 60_000
/** So many others that do not follow show that the fault is the owner's and not theirs. */
const UNFOLLOWED_BY_MIN = 2
/** The longest for which an owner that left in vain does not leave for the same ones again. */
const IN_VAIN_MAX_MS = 86_400_000

/** Why an owner leaves the fleet: no process reaches it, or it may be that it alone does. */
export type LeavingCause = 'unreached' | 'unfollowed'

/** Another process that is known to run now, by its row. */
export interface Other {
  id: string
  /** The epoch of the owner that it has a link to, and the one that it owns itself; null for none. */
  linkedEpoch: number | null
  ownedEpoch: number | null
  /** Since when it decides; null where it does not, be it that it has only taken the lock. */
  ownedSince: Date | null
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
  /** The others that this process has just reached at their addresses. */
  reachedIds: readonly string[]
}

interface SeenOwner {
  id: string
  epoch: number
  isFollowed: boolean
  /** It had begun to decide. */
  hasBegun: boolean
}

/**
 * Tells when an owner is to leave the fleet to another process, and which one is to be the next. Who reaches whom is seen
 * by links alone, and these lead to the owner only: so where those that had links have none, one after the other is tried
 * as the owner, each once, and the last one stays.
 */
export class Leaving {
  readonly #selfId: string
  /** The members that had a link once: to one that never had, the fault may be its own. */
  readonly #linked = new Set<string>()
  /** When each member was found to have owned and left, or lost it, while nobody followed it. */
  readonly #tried = new Map<string, number>()
  #owner: SeenOwner | null = null
  /** While this process owns and nobody follows: since when each other one that speaks its links has had none. */
  #unlinkedSince: ReadonlyMap<string, number> = new Map()
  #leftUnreachedMs = Number.NEGATIVE_INFINITY
  /** Those that were to own when this process looked last. */
  #untried: readonly string[] = []
  /** When, as the owner of which epoch and for whom this process has left; null once it is known what came of it. */
  #left: { epoch: number; atMs: number; forIds: readonly string[]; staysMs: number } | null = null
  /**
   * Those for which it left while nobody has followed them: until when it does not leave for them again. Twice as long each
   * time, since whatever keeps one from owning may last, and each hand-over interrupts.
   */
  readonly #inVain = new Map<string, { staysMs: number; untilMs: number }>()

  /** `selfId`: the member that this process is. */
  constructor(selfId: string) {
    this.#selfId = selfId
  }

  /** Why this process is to leave the fleet to another one now; null where it is not. `nowMs`: of a monotonic clock. */
  causeNow(look: Look, nowMs: number): LeavingCause | null {
    const { ownedEpoch, others, isUnreached } = look
    this.#forget(look, nowMs)
    for (const { id, linkedEpoch } of others) {
      if (linkedEpoch === null) continue
      this.#linked.add(id)
      this.#forgetVain(id)
    }
    this.#noteOwner(look, nowMs)
    if (ownedEpoch === null) {
      this.#unlinkedSince = new Map()
      return null
    }
    this.#noteReturn(ownedEpoch)
    this.#noteUnlinked(others, nowMs)
    // Whom others follow they reach, whatever keeps it from its own address.
    const able = [...this.#unlinkedSince].flatMap(([id, sinceMs]) =>
      nowMs - sinceMs >= LEAVE_AFTER_MS ? id : [],
    )
    this.#untried = able.filter((id) => !this.#tried.has(id) && nowMs >= this.#staysUntilMs(id))
    const isOneUntried = this.#untried.length > 0
    if (isUnreached && isOneUntried && nowMs - this.#leftUnreachedMs >= UNREACHED_STAYS_MS) return 'unreached'
    return this.#isUnfollowed(able, look.reachedIds) ? 'unfollowed' : null
  }

  /**
   * Whether others do not follow this owner and one that was not tried may be a better one. So it is where it reaches that
   * one, as it would follow itself, or where one had a link, so that the fault is not its own, and a second one has none
   * either: it may be that this process alone reaches itself.
   */
  #isUnfollowed(able: readonly string[], reachedIds: readonly string[]): boolean {
    if (this.#tried.has(this.#selfId)) return false
    const isOwnFault = able.length >= UNFOLLOWED_BY_MIN && able.some((id) => this.#linked.has(id))
    return this.#untried.some((id) => isOwnFault || reachedIds.includes(id))
  }

  #noteUnlinked(others: readonly Other[], nowMs: number): void {
    const unlinked = this.#owner!.isFollowed ? [] : others.filter(({ isSpokenWith }) => isSpokenWith)
    this.#unlinkedSince = new Map(unlinked.map(({ id }) => [id, this.#unlinkedSince.get(id) ?? nowMs]))
  }

  /** This process leaves. */
  left(cause: LeavingCause, nowMs: number): void {
    if (cause === 'unreached') this.#leftUnreachedMs = nowMs
    else this.#tried.set(this.#selfId, nowMs)
    const staysMs = cause === 'unreached' ? UNREACHED_STAYS_MS : TRIED_FOR_MS
    this.#left = { epoch: this.#owner?.epoch ?? 0, atMs: nowMs, forIds: this.#untried, staysMs }
    this.#unlinkedSince = new Map()
  }

  /** It owns again where it has left: those that it had left for had their time, and nobody follows them. */
  #noteReturn(ownedEpoch: number): void {
    const left = this.#left
    if (left === null || left.epoch === ownedEpoch) return
    this.#left = null
    for (const id of left.forIds) {
      const before = this.#inVain.get(id)
      const staysMs = before === undefined ? left.staysMs : Math.min(2 * before.staysMs, IN_VAIN_MAX_MS)
      this.#inVain.set(id, { staysMs, untilMs: left.atMs + staysMs })
    }
  }

  #staysUntilMs(id: string): number {
    return this.#inVain.get(id)?.untilMs ?? Number.NEGATIVE_INFINITY
  }

  /** It can own, or follow: what was tried with it before says nothing any more. */
  #forgetVain(id: string): void {
    this.#inVain.delete(id)
    if (this.#left !== null)
      this.#left = { ...this.#left, forIds: this.#left.forIds.filter((other) => other !== id) }
  }

  /** Whether another member was seen to have a link. */
  hadLink(id: string): boolean {
    return this.#linked.has(id)
  }

  /**
   * How good an owner another member may be; null for the one that has just owned. One that only claimed, and had not begun
   * to decide, may be it the next time.
   */
  suitOf(id: string, nowMs: number): Suit | null {
    if (this.#owner?.id === id && this.#owner.hasBegun) return null
    if (this.#isTried(id, nowMs)) return 'poor'
    return this.#linked.has(id) ? 'good' : 'unknown'
  }

  /** How good an owner this process may be, at its address reached by itself; `hasFollowed`: it had a link once. */
  ownSuit(hasFollowed: boolean, nowMs: number): Suit {
    if (this.#isTried(this.#selfId, nowMs)) return 'poor'
    return hasFollowed ? 'good' : 'unknown'
  }

  #isTried(id: string, nowMs: number): boolean {
    const triedMs = this.#tried.get(id)
    return triedMs !== undefined && nowMs - triedMs < TRIED_FOR_MS
  }

  #forget({ memberIds }: Look, nowMs: number): void {
    const known = new Set([this.#selfId, ...memberIds])
    for (const kept of [this.#linked, this.#inVain])
      for (const id of kept.keys()) if (!known.has(id)) kept.delete(id)
    for (const id of this.#tried.keys())
      if (!known.has(id) || !this.#isTried(id, nowMs)) this.#tried.delete(id)
  }

  /** Note who owns now, and that the one before was tried in vain where it still runs and nobody followed it. */
  #noteOwner({ ownedEpoch, linkedEpoch, others }: Look, nowMs: number): void {
    // This process owns in its own eyes as soon as it decides.
    const self = { id: this.#selfId, ownedEpoch, linkedEpoch, decides: true }
    const all = [self, ...others.map((one) => ({ ...one, decides: one.ownedSince !== null }))]
    const owners = all.filter((one) => one.ownedEpoch !== null)
    const epoch = Math.max(...owners.map((one) => one.ownedEpoch!))
    const owner = owners.find((one) => one.ownedEpoch === epoch)
    const before = this.#owner
    if (owner === undefined) return
    const { id, decides } = owner
    const isFollowed = all.some((one) => one.id !== id && one.linkedEpoch === epoch)
    this.#owner = { id, epoch, isFollowed, hasBegun: decides }
    if (isFollowed) {
      this.#tried.delete(id)
      this.#forgetVain(id)
    }
    if (before === null || before.id === id || before.isFollowed || !before.hasBegun) return
    if (others.some((one) => one.id === before.id)) this.#tried.set(before.id, nowMs)
  }
}
