import type { Clock } from '../../lib/clock.ts'
import type { Suit } from '../../lib/cluster/claim-turn.ts'
import type { Membership } from '../../lib/cluster/membership.ts'
import { type LinkVersions, spokenWith } from '../../lib/links/link-versions.ts'
import type { SeenMember } from '../../lib/store/members.ts'
import { CUT_OFF_MS, hasBetter, isCutOff, isLeft, type KnownLinks } from './cut-off.ts'
import type { FrontLink } from './front-link.ts'
import { Leaving, type LeavingCause } from './leaving.ts'
import type { ReadinessFacts } from './readiness.ts'
import type { Standing } from './standing.ts'

/** How long a member stays ready without a link, so that a hand-over between owners makes none of them unready. */
export const READY_AFTER_MS = 10_000

/** Where a condition is read. */
export interface ConditionParts {
  selfId: string
  membership: Pick<Membership, 'heard' | 'members' | 'owner' | 'unrenewedMs' | 'isInTime' | 'awaitedBy'>
  link: Pick<FrontLink, 'isForeign' | 'downMs'>
  standing: Pick<Standing, 'isReached' | 'wasReached' | 'reachedIds' | 'linkedEpoch' | 'newestEpoch'>
  /** The versions of links that this build speaks. */
  versions: LinkVersions
  clock: Pick<Clock, 'monotonicMs'>
  /** What this process decides with; null while it does not own. */
  owning(): { epoch: number; links: { hasOtherThan(memberId: string): boolean } } | null
  /** Since when, and until when, it could not read what its owner offers; null where it could. */
  unread(): { sinceMs: number; untilMs: number } | null
}

/**
 * What a process knows of itself among the others: whether it has a way to the owner and others to it, and what follows
 * from that for whom to lead to it and who is to own. It decides and does nothing.
 */
export class Condition {
  readonly #parts: ConditionParts
  readonly #leaving: Leaving
  /** It had a link to another process once, or had none because of its version alone. */
  #hasFollowed = false
  /** It was of use to others once, or is the only one that can be. */
  #wasOfUse = false
  /** The epoch of the owner that it has a link to; 0 for none. */
  #linkedEpoch = 0

  constructor(parts: ConditionParts) {
    this.#parts = parts
    this.#leaving = new Leaving(parts.selfId)
  }

  /** The epoch of the owner that it has a link to; 0 for none. */
  get linkedEpoch(): number {
    return this.#linkedEpoch
  }

  /** It has a link to the owner of this epoch from now on; null for none. */
  linked(epoch: number | null): void {
    this.#linkedEpoch = epoch ?? 0
    if (epoch !== null && this.#parts.owning() === null) this.#hasFollowed = true
    this.#noteUse()
  }

  /**
   * Note whether it is of use: it had a link to another one, or owns with a link to itself, and nobody else is heard that
   * had one, or somebody follows it. One that only itself reaches would let an update of all processes go on.
   */
  #noteUse(): void {
    const { owning, selfId, membership } = this.#parts
    this.#wasOfUse ||= this.#hasFollowed
    const epoch = owning()?.epoch
    if (this.#wasOfUse || epoch === undefined || epoch !== this.#linkedEpoch) return
    const others = this.#heardOthers()
    const isHeard = membership.heard.some(({ id }) => id === selfId)
    const isFollowed = others.some(({ linkedEpoch }) => linkedEpoch === epoch)
    this.#wasOfUse = isFollowed || (isHeard && !others.some(({ id }) => this.#leaving.hadLink(id)))
  }

  /** Note what each look shows, and say why this process is to leave the fleet to another one now; null where it is not. */
  look(): LeavingCause | null {
    const { link, versions, membership, standing, owning, clock } = this.#parts
    this.#hasFollowed ||= link.isForeign
    const look = {
      ownedEpoch: owning()?.epoch ?? null,
      linkedEpoch: this.#linkedEpoch === 0 ? null : this.#linkedEpoch,
      others: this.#heardOthers().map((other) => ({
        ...other,
        isSpokenWith: spokenWith(versions, other.linkVersion) !== null,
      })),
      memberIds: membership.members.map(({ id }) => id),
      isUnreached: this.#isUnreachedOwner && standing.reachedIds.length > 0,
      reachedIds: standing.reachedIds,
    }
    const cause = this.#leaving.causeNow(look, clock.monotonicMs())
    this.#noteUse()
    return cause
  }

  /** Whether another one can own once this process has left: one that waits until this one has stopped never would. */
  get canLeave(): boolean {
    const { membership } = this.#parts
    return this.#heardOthers().some((member) => membership.awaitedBy(member).length === 0)
  }

  /** This process leaves the fleet to another one. */
  left(cause: LeavingCause): void {
    this.#leaving.left(cause, this.#parts.clock.monotonicMs())
  }

  /** How good an owner a member may be, itself among them, as far as this process knows; null for one that has just owned. */
  suitOf(id: string): Suit | null {
    const { selfId, standing, clock } = this.#parts
    if (id !== selfId) return this.#leaving.suitOf(id, clock.monotonicMs())
    return standing.isReached ? this.#leaving.ownSuit(this.#hasFollowed, clock.monotonicMs()) : 'poor'
  }

  /** The other processes that are known to run now. */
  #heardOthers(): SeenMember[] {
    const { membership, selfId } = this.#parts
    return membership.heard.filter(({ id }) => id !== selfId)
  }

  /** Whether it matters what the others say of themselves: the database does not tell, or nobody reaches this owner. */
  get asksOthers(): boolean {
    return this.#isLeft(READY_AFTER_MS) || this.#isUnreachedOwner || this.#isUnfollowed || this.#knowsNothing
  }

  /** Whether this process is an owner that could not renew itself for so long, and that all others have left. */
  #isLeft(afterMs: number): boolean {
    const { membership, selfId, owning } = this.#parts
    const owned = owning()
    if (owned === null) return false
    const { unrenewedMs, members } = membership
    return isLeft({ unrenewedMs, members, selfId, links: owned.links }, afterMs)
  }

  /**
   * Whether others follow another owner than this one, which they left. That is what tells this from a database that is
   * away for all, and fronts that have stopped meanwhile.
   */
  #wasReplaced(afterMs: number): boolean {
    const { standing, owning } = this.#parts
    return this.#isLeft(afterMs) && standing.newestEpoch > owning()!.epoch
  }

  /**
   * Whether this process is a front that could not read for so long what its owner offers over and over, nor renew itself.
   * Where the database is away for all, no offer comes; one that renews itself and gets no text may have that in common
   * with all others.
   */
  #isBlind(afterMs: number): boolean {
    const { membership, clock, owning, unread } = this.#parts
    const missing = unread()
    if (owning() !== null || missing === null) return false
    const renewedMs = clock.monotonicMs() - membership.unrenewedMs
    return renewedMs <= missing.sinceMs && missing.untilMs - missing.sinceMs >= afterMs
  }

  /** Whether this process is an owner that has long had no link even to itself. */
  get #isUnreachedOwner(): boolean {
    const { link, standing, owning } = this.#parts
    return owning() !== null && link.downMs >= READY_AFTER_MS && !standing.isReached
  }

  /** Whether this process is an owner to which no other one that runs has a link. */
  get #isUnfollowed(): boolean {
    const epoch = this.#parts.owning()?.epoch
    const others = this.#heardOthers()
    return (
      epoch !== undefined && others.length > 0 && !others.some(({ linkedEpoch }) => linkedEpoch === epoch)
    )
  }

  /** Whether this process has long had no link, and the database does not tell whether others have one. */
  get #knowsNothing(): boolean {
    const { link, membership } = this.#parts
    return link.downMs >= READY_AFTER_MS && membership.heard.length === 0
  }

  get #knownLinks(): Omit<KnownLinks, 'link'> {
    const { membership, standing, selfId } = this.#parts
    const { heard, owner } = membership
    return { owner, heard, selfId, linkedEpoch: standing.linkedEpoch }
  }

  /** Whether the agents of this process are better off with another one. */
  get isCutOff(): boolean {
    if (this.#wasReplaced(CUT_OFF_MS) || this.#isBlind(CUT_OFF_MS)) return true
    return isCutOff({ link: this.#parts.link, ...this.#knownLinks })
  }

  /** What decides whether this process is ready, as far as that is about links and the others. */
  get readiness(): Omit<ReadinessFacts, 'hasWay' | 'hasFailed' | 'version'> {
    const { membership, standing, link } = this.#parts
    const { isInTime, owner, heard } = membership
    return {
      wasReached: standing.wasReached,
      // An update of all processes would wait for one whose version only the next owner speaks.
      wasLinked: this.#wasOfUse || link.isForeign,
      isInTime,
      wasReplaced: this.#wasReplaced(READY_AFTER_MS),
      isBlind: this.#isBlind(READY_AFTER_MS),
      ownersVersion: heard.find(({ id }) => id === owner?.id)?.version ?? null,
      hasBetter: hasBetter(this.#knownLinks),
    }
  }
}
