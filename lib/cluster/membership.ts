import type { Clock } from '../clock.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { Log } from '../log.ts'
import type { Connection } from '../store/connection.ts'
import type { Holder } from '../store/lock-statements.ts'
import {
  endSessionsOf,
  hasMembers,
  type MemberRow,
  type MembersFound,
  memberOfSession,
  removeMember,
  removePredecessors,
  removeSilentMembers,
  renewMember,
  type SeenMember,
} from '../store/members.ts'
import { claimWaitMs, type Suit } from './claim-turn.ts'
import { type Departure, Departures } from './departures.ts'
import { olderMembers } from './older-members.ts'
import { Patience } from './patience.ts'
import { type FleetKeys, isProvenRow, proveRow } from './proofs.ts'
import { FORGET_MS, LATE_MS, OWNER_FRESH_MS, OWNER_SILENT_MS, RENEW_MS, SKEW_MAX_MS } from './timing.ts'
import { WatchedSession } from './watched-session.ts'

/** What a membership is made of. */
export interface MembershipParts {
  /** The part of its row that never changes. */
  self: Omit<MemberRow, 'ownedEpoch' | 'ownedSince' | 'linkedEpoch' | 'proof'>
  /** Proves its row to the others, and theirs to it. */
  keys: FleetKeys
  /** Opens a database session for renewals only, so that they wait for no other statements. */
  connect(): Promise<Connection>
  clock: Clock
  timers: Timers
  log: Log
  /** Called after each renewal that the database answered. */
  onRenewed(): void
  /** See `WatchedSession`. */
  onHeardAgain?(sinceMs: number): void
  /** This process stood still for so long that messages it has not sent yet are out of date. */
  onLate(): void
  /** How good an owner a member may be, itself among them; null for one that has just owned, for which nobody waits. */
  suitOf(id: string): Suit | null
  /** Another process owns a later epoch than this process did. */
  onOwnershipLost(): void
  /** A newer process has changed the database in a way that breaks this one. */
  onOutdated(): void
}

/** The owner as this process last read it. */
export interface Owner {
  id: string
  address: string
  /** The newest version of a link that it speaks. */
  linkVersion: number
  epoch: number
  /** Since when it decides; null while it only has the lock. */
  since: Date | null
}

const HOUSEKEEPING_MS = 30_000
const REFRESH_MS = 200
/** So much of what unproven rows say of themselves is logged. */
const LOGGED_LENGTH = 200

/**
 * This process as a member: it renews its row each second, reads the rows of all members, and knows who is the owner. A
 * row that no process with the fleet's secret has written as it stands is nobody's, whatever it says.
 * As the owner it also knows whether it may still act: no process replaces an owner sooner than `OWNER_SILENT_MS` after
 * its last renewal, and the owner stops acting a second before.
 */
export class Membership {
  readonly #parts: MembershipParts
  readonly #session: WatchedSession
  /** What the last renewal found, with those members alone that have proved what they say. */
  #found: MembersFound | null = null
  readonly #departures = new Departures()
  /** The last owner that was heard of while it ran; '' for none. */
  #ownerSeen = ''
  #takeovers = 0
  #unproven: readonly SeenMember[] = []
  /** The ids of the unproven rows that were logged last. */
  #suspected = ''
  #owned: { epoch: number; since: Date | null } | null = null
  #linkedEpoch: number | null = null
  #renewing: Promise<void> | null = null
  #isStopped = false
  /** When the last renewal that was answered began, on the monotonic clock, as all times here. */
  #renewedMs = Number.NEGATIVE_INFINITY
  readonly #patience = new Patience()
  /** Whether the last renewal failed. */
  #isAway = false
  /** Who holds the owner's lock without a row of its own, and since when that was seen. */
  #rowless: { id: string; sinceMs: number } | null = null
  /** When the last renewal began. */
  #askedMs = Number.NEGATIVE_INFINITY
  /** When the last tick was. */
  #tickMs: number
  /** When rows of silent members were last deleted. */
  #housekeptMs: number
  #skewMs = 0
  /** Since when the owner's lock was free, or had by processes that did not come to decide; null while one decides. */
  #freeSinceMs: number | null = null
  /** The addresses of the members for which it waited when it last asked whether it may claim. */
  #awaited = ''

  constructor(parts: MembershipParts) {
    this.#parts = parts
    const { connect, clock, timers, onHeardAgain = () => undefined } = parts
    this.#session = new WatchedSession({ connect, giveUpMs: OWNER_FRESH_MS, clock, timers, onHeardAgain })
    this.#tickMs = parts.clock.monotonicMs()
    this.#housekeptMs = this.#tickMs
  }

  /** Begin to renew. */
  start(): void {
    this.#tickMs = this.#parts.clock.monotonicMs()
    this.#patience.begin(this.#tickMs)
    this.#tick()
  }

  /** All members that have renewed their row lately, the one that started last first. */
  get members(): readonly SeenMember[] {
    const isPatient = this.#isPatient
    return this.#found?.members.filter(({ silentMs }) => isPatient || silentMs < FORGET_MS) ?? []
  }

  /** The members that are known to run now: what their rows say is younger than what an owner's silence may be. */
  get heard(): readonly SeenMember[] {
    const { unrenewedMs } = this
    return this.#found?.members.filter(({ silentMs }) => silentMs + unrenewedMs < OWNER_SILENT_MS) ?? []
  }

  /** The processes that were members in the last hour, as long as this one has run, and are none any more. */
  get departures(): Departure[] {
    return this.#departures.list(this.#parts.clock.monotonicMs())
  }

  /** How often another process became the owner than the one before, as long as this one has run. */
  get takeovers(): number {
    return this.#takeovers
  }

  /** How many rows were renewed lately that do not prove what they say. */
  get unproven(): number {
    return this.#unproven.filter(({ silentMs }) => silentMs < FORGET_MS).length
  }

  /** The members for which this one waits before it may be the owner, because it would break them. */
  get olderMembers(): readonly SeenMember[] {
    return this.#awaitedBy(this.#parts.self)
  }

  /** The addresses of the members for which this member waits, as far as can be seen from here. */
  awaitedBy(member: SeenMember): string[] {
    return this.#awaitedBy(member).map(({ address }) => address)
  }

  #awaitedBy(member: Pick<SeenMember, 'id' | 'newestBreaking'>): SeenMember[] {
    if (this.#found === null) return []
    return olderMembers(member, this.#found.members.filter(this.#isThere), this.#found.schema)
  }

  get #isPatient(): boolean {
    return this.#patience.lasts(this.#parts.clock.monotonicMs())
  }

  /** Whether a member is taken for one that runs: it has renewed its row lately, or may not have been able to. */
  readonly #isThere = ({ silentMs }: SeenMember): boolean => this.#isPatient || silentMs < OWNER_SILENT_MS

  /** The owner of the newest epoch; null while no member is known to own it. */
  get owner(): Owner | null {
    const { epoch = 0, members = [] } = this.#found ?? {}
    if (this.#owned !== null && this.#owned.epoch >= epoch)
      return { ...this.#parts.self, epoch: this.#owned.epoch, since: this.#owned.since }
    const owner = members.find(({ ownedEpoch }) => ownedEpoch === epoch)
    return owner === undefined ? null : { ...owner, epoch, since: owner.ownedSince }
  }

  /** Milliseconds that this clock is ahead of that of the database. */
  get skewMs(): number {
    return this.#skewMs
  }

  /** Whether this clock is near enough to the database's. */
  get isInTime(): boolean {
    return Math.abs(this.#skewMs) <= SKEW_MAX_MS
  }

  /** For how long this process has not renewed its row, in milliseconds; without end before it first did. */
  get unrenewedMs(): number {
    return this.#parts.clock.monotonicMs() - this.#renewedMs
  }

  /** Whether this process, as the owner, may commit and send now. */
  mayAct(): boolean {
    return this.#owned !== null && this.#parts.clock.monotonicMs() - this.#renewedMs < OWNER_FRESH_MS
  }

  /**
   * State in its row from now on that this process owns this epoch, and does not decide yet. Resolves after an attempt to
   * write that; a failed one is repeated at the next renewal.
   */
  async own(epoch: number): Promise<void> {
    this.#owned = { epoch, since: null }
    await this.renewNow()
  }

  /** State that it decides in the epoch that it owns, since this time. */
  decide(since: Date): void {
    if (this.#owned === null) return
    this.#owned = { ...this.#owned, since }
    void this.renewNow()
  }

  /**
   * Resolves after an attempt to renew its row that began no earlier than now. One that is under way does not write what has
   * changed since, and may have been answered before this process stood still.
   */
  async renewNow(): Promise<void> {
    await this.#renewing
    await this.#renew()
  }

  /** State no more that this process owns: it could not begin to, and is as good a member as before. */
  disown(): void {
    this.#owned = null
    // It asked last before it owned: for how long the lock has been free begins anew.
    this.#freeSinceMs = null
  }

  /** Read the rows of all members now, where a second is too long to wait. */
  refresh(): void {
    if (this.#parts.clock.monotonicMs() - this.#askedMs >= REFRESH_MS) void this.#renew()
  }

  /** State in the next renewal to the owner of which epoch this process has a link; null for none. */
  link(epoch: number | null): void {
    this.#linkedEpoch = epoch
  }

  /**
   * Whether this process may try to take the owner's lock now, given who holds it. The database sessions of a holder
   * that fell silent are ended first. A free lock is left for a while to members that are a better owner or started later
   * (`claimWaitMs`), counted since nobody decides, and after an outage to the owner that has lost it. It is left to older members as long as there is one
   * that the migrations of this one would break.
   */
  async mayClaim(connection: Connection, holder: Holder | null): Promise<boolean> {
    const nowMs = this.#parts.clock.monotonicMs()
    // A new database has no members, and no place for them yet. In any other one the first renewal says who there is.
    if (this.#found === null && (await hasMembers(connection))) return false
    this.#noteHolder(holder)
    if (this.#waits()) return false
    const living =
      holder !== null && !(await this.#endSilentHolder(connection, holder, nowMs)) ? holder : null
    if (living !== null) {
      // Whoever fails over and over to become the owner costs those that wait no time.
      this.#freeSinceMs = this.#mayDecide(living) ? null : (this.#freeSinceMs ?? nowMs)
      return false
    }
    // Whoever has ended the holder's sessions leaves the lock to better ones as well.
    this.#freeSinceMs ??= nowMs
    const { owner } = this
    const { id: selfId } = this.#parts.self
    if (this.#isPatient && owner !== null && owner.id !== selfId) return false
    const candidates = this.members.filter(
      (member) => this.#isThere(member) && this.awaitedBy(member).length === 0,
    )
    return nowMs - this.#freeSinceMs >= claimWaitMs(selfId, candidates, this.#parts.suitOf)
  }

  /** Whether the holder of the lock decides, as far as is known: a member states since when it does. */
  #mayDecide({ application }: Holder): boolean {
    const id = memberOfSession(application)
    const row = this.#found?.members.find((member) => member.id === id)
    return row === undefined || row.ownedSince !== null
  }

  /** Where a member holds the lock and nobody is silent, an outage is over, if there was one. */
  #noteHolder(holder: Holder | null): void {
    const id = holder === null ? null : memberOfSession(holder.application)
    const members = this.#found?.members ?? []
    if (
      !this.#isAway &&
      members.some((member) => member.id === id) &&
      members.every(({ silentMs }) => silentMs < OWNER_SILENT_MS)
    )
      this.#patience.end()
  }

  #waits(): boolean {
    const awaited = this.olderMembers.map(({ address }) => address).join(', ')
    const { log, self } = this.#parts
    if (awaited !== '' && awaited !== this.#awaited)
      log.warn({ members: awaited, migration: self.newestBreaking }, WAITS)
    this.#awaited = awaited
    return awaited !== ''
  }

  /**
   * End the sessions of a member that holds the lock and has fallen silent: by its row, or where it stopped before it
   * had one, by how long it has held the lock without. Whoever is no member has none, and keeps the lock.
   */
  async #endSilentHolder(connection: Connection, holder: Holder, nowMs: number): Promise<boolean> {
    const id = memberOfSession(holder.application)
    if (id === null || this.#found === null) return false
    const row = [...this.#found.members, ...this.#unproven].find((member) => member.id === id)
    if (row !== undefined) this.#rowless = null
    else if (this.#rowless?.id !== id) this.#rowless = { id, sinceMs: nowMs }
    const silentMs = row?.silentMs ?? nowMs - this.#rowless!.sinceMs
    if (this.#isPatient || silentMs < OWNER_SILENT_MS) return false
    const ended = await endSessionsOf(connection, id, OWNER_SILENT_MS)
    if (ended === 0) return false
    this.#parts.log.warn({ member: id, silent_ms: Math.round(silentMs) }, OWNER_ENDED)
    return true
  }

  /** Stop renewing and delete the row, which tells the others that this process has stopped. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const session = this.#session
    const { id } = this.#parts.self
    if (session.isOpen) await session.ask((db) => removeMember(db, id)).catch(() => undefined)
    await session.close()
  }

  #tick(): void {
    if (this.#isStopped) return
    const nowMs = this.#parts.clock.monotonicMs()
    const isLate = nowMs - this.#tickMs > RENEW_MS + LATE_MS
    this.#tickMs = nowMs
    if (isLate) this.#parts.onLate()
    void this.#renew()
    this.#parts.timers.after(RENEW_MS, () => this.#tick())
  }

  #renew(): Promise<void> {
    if (this.#isStopped) return Promise.resolve()
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  async #renewOnce(): Promise<void> {
    const { clock, log, self } = this.#parts
    const startedMs = clock.monotonicMs()
    this.#askedMs = startedMs
    try {
      const found = await this.#session.ask(async (db) => {
        if (this.#found === null) await removePredecessors(db, self)
        return renewMember(db, this.#row())
      })
      // A database that stood still let no member renew, so this counts as an outage.
      if (clock.monotonicMs() - startedMs > LATE_MS) this.#patience.begin(clock.monotonicMs())
      this.#isAway = false
      this.#note(found, startedMs)
      if (startedMs - this.#housekeptMs >= HOUSEKEEPING_MS && !this.#isPatient) {
        this.#housekeptMs = startedMs
        await this.#session.ask((db) => removeSilentMembers(db, FORGET_MS))
      }
    } catch (error) {
      if (!this.#isAway) log.warn({ cause: (error as Error).message }, NOT_RENEWED)
      this.#isAway = true
      this.#patience.begin(clock.monotonicMs())
    }
  }

  #row(): MemberRow {
    const { self, keys } = this.#parts
    const said = {
      ...self,
      ownedEpoch: this.#owned?.epoch ?? null,
      ownedSince: this.#owned?.since ?? null,
      linkedEpoch: this.#linkedEpoch,
    }
    return { ...said, proof: proveRow(keys, said) }
  }

  /**
   * Keep of what was found the members that have proved what they say. In a schema without a place for proofs all count,
   * so that the builds that made it are not taken for gone; who is called proves itself there as well (`OwnerDoor`).
   */
  #sortOut(found: MembersFound): void {
    const { keys, log, self } = this.#parts
    const isMember = (row: SeenMember) => !row.isProvable || isProvenRow(keys, row)
    this.#found = { ...found, members: found.members.filter(isMember) }
    // Its own row may be from before there was a place for proofs, as at the start of the first process of all.
    const isOwnOfBefore = ({ id, proof }: SeenMember) => id === self.id && proof === null
    this.#unproven = found.members.filter((row) => !isMember(row) && !isOwnOfBefore(row))
    const suspected = this.#unproven.map(({ id }) => id).join(', ')
    if (suspected !== '' && suspected !== this.#suspected)
      log.warn({ count: this.#unproven.length, members: suspected.slice(0, LOGGED_LENGTH) }, UNPROVEN)
    this.#suspected = suspected
  }

  #note(found: MembersFound, startedMs: number): void {
    const { clock, self, onRenewed, onOwnershipLost, onOutdated } = this.#parts
    // The database read its clock somewhere between the request and its answer: assume half way.
    const halfWayMs = (clock.monotonicMs() - startedMs) / 2
    this.#skewMs = clock.now().getTime() - halfWayMs - found.now.getTime()
    this.#sortOut(found)
    this.#departures.note(this.members, clock.monotonicMs(), clock.now())
    this.#noteOwner(found)
    if (found.schema.breaking > self.newestMigration) {
      this.#renewedMs = Number.NEGATIVE_INFINITY
      onOutdated()
    } else if (this.#owned !== null && found.epoch > this.#owned.epoch) {
      this.#renewedMs = Number.NEGATIVE_INFINITY
      onOwnershipLost()
    } else {
      this.#renewedMs = startedMs
      onRenewed()
    }
  }

  /**
   * Count the owners that followed another one and came to decide. The row of one that ended before this process started
   * counts as none.
   */
  #noteOwner({ members }: MembersFound): void {
    const { owner } = this
    const row = members.find(({ id }) => id === owner?.id)
    if (owner?.since == null || row === undefined || row.silentMs >= OWNER_SILENT_MS) return
    if (this.#ownerSeen !== '' && this.#ownerSeen !== owner.id) this.#takeovers++
    this.#ownerSeen = owner.id
  }
}

const WAITS = 'waits to be the owner: its migrations would break these members, which have to stop first'
const OWNER_ENDED = 'the owner fell silent: its database sessions were ended'
const UNPROVEN =
  'rows of members do not prove what they say: they were edited, or written with another JWT_SECRET or by an older version, and do not count'
const NOT_RENEWED = 'this member could not renew itself: the database is away'
