import type { Clock } from '../clock.ts'
import type { Timers } from '../fleet/state/timers.ts'
import type { Log } from '../log.ts'
import type { Connection } from '../store/connection.ts'
import {
  endSessionsOf,
  type MemberRow,
  type MembersFound,
  removeMember,
  removeSilentMembers,
  renewMember,
  type SeenMember,
} from '../store/members.ts'
import {
  FORGET_MS,
  LATE_MS,
  OUTAGE_PATIENCE_MS,
  OWNER_FRESH_MS,
  OWNER_SILENT_MS,
  RANK_PATIENCE_MS,
  RENEW_MS,
  SKEW_MAX_MS,
} from './timing.ts'

/** What a membership is made of. */
export interface MembershipParts {
  /** What this process says of itself. */
  self: Pick<MemberRow, 'id' | 'address' | 'version' | 'linkVersion' | 'startedAt'>
  /** Opens a session of its own: renewals wait for nobody's statements. */
  connect(): Promise<Connection>
  clock: Clock
  timers: Timers
  log: Log
  /** After each renewal that was answered. */
  onRenewed(): void
  /** This process stood still for so long that what it has not sent yet is of another time. */
  onLate(): void
  /** Another process owns a later epoch than this one did. */
  onOwnershipLost(): void
}

/** The owner as this process last read it. */
export interface Owner {
  id: string
  address: string
  epoch: number
  since: Date | null
}

const HOUSEKEEPING_MS = 30_000
const REFRESH_MS = 200

/**
 * This process among the members: it renews its row each second, reads everybody's, and knows who owns. As the owner
 * it also knows whether it may still act: nobody replaces an owner sooner than `OWNER_SILENT_MS` after its last renewal,
 * and it stops by itself a second before.
 */
export class Membership {
  readonly #parts: MembershipParts
  #connection: Connection | null = null
  #found: MembersFound | null = null
  #owned: { epoch: number; since: Date } | null = null
  #linkedEpoch: number | null = null
  #renewing: Promise<void> | null = null
  #isStopped = false
  /** Monotonic: when the last renewal that was answered began, and the last that failed ended. */
  #renewedMs = Number.NEGATIVE_INFINITY
  #failedMs = Number.NEGATIVE_INFINITY
  #askedMs = Number.NEGATIVE_INFINITY
  #tickMs: number
  #housekeptMs: number
  #skewMs = 0
  /** Since when the lock was seen free. */
  #freeSinceMs: number | null = null

  constructor(parts: MembershipParts) {
    this.#parts = parts
    this.#tickMs = parts.clock.monotonicMs()
    this.#housekeptMs = this.#tickMs
  }

  /** Begin to renew. */
  start(): void {
    this.#tickMs = this.#parts.clock.monotonicMs()
    this.#tick()
  }

  /** All members that were heard of lately, who started last first. */
  get members(): readonly SeenMember[] {
    return this.#found?.members.filter(({ silentMs }) => silentMs < FORGET_MS) ?? []
  }

  /** The owner of today; null while there is none that is heard of. */
  get owner(): Owner | null {
    const { epoch = 0, members = [] } = this.#found ?? {}
    if (this.#owned !== null && this.#owned.epoch >= epoch)
      return { ...this.#parts.self, epoch: this.#owned.epoch, since: this.#owned.since }
    const owner = members.find(({ ownedEpoch }) => ownedEpoch === epoch)
    return owner === undefined ? null : { ...owner, epoch, since: owner.ownedSince }
  }

  /** How far this clock is from the database's. */
  get skewMs(): number {
    return this.#skewMs
  }

  /** Whether this clock is near enough to the database's. */
  get isInTime(): boolean {
    return Math.abs(this.#skewMs) <= SKEW_MAX_MS
  }

  /** Whether this process, as the owner, may commit and send now. */
  mayAct(): boolean {
    return this.#owned !== null && this.#parts.clock.monotonicMs() - this.#renewedMs < OWNER_FRESH_MS
  }

  /** From now on this process says that it owns this epoch. Resolves when that is written. */
  async own(epoch: number, since: Date): Promise<void> {
    this.#owned = { epoch, since }
    // One that is under way does not say so yet.
    await this.#renewing
    await this.#renew()
  }

  /** Look at once at how the others stand, where a second is too long. */
  refresh(): void {
    if (this.#parts.clock.monotonicMs() - this.#askedMs >= REFRESH_MS) void this.#renew()
  }

  /** Say which owner's epoch this process has a link to; null for none. */
  link(epoch: number | null): void {
    this.#linkedEpoch = epoch
  }

  /**
   * Whether this process may ask for the lock now, given who holds it: a silent owner's sessions are ended first, and a
   * free lock is left for a while to whoever started later.
   */
  async mayClaim(connection: Connection, isHeld: boolean): Promise<boolean> {
    const nowMs = this.#parts.clock.monotonicMs()
    if (isHeld) {
      this.#freeSinceMs = null
      return this.#endSilentOwner(connection, nowMs)
    }
    this.#freeSinceMs ??= nowMs
    const rank = this.members
      .filter(({ id, silentMs }) => id !== this.owner?.id && silentMs < OWNER_SILENT_MS)
      .findIndex(({ id }) => id === this.#parts.self.id)
    return nowMs - this.#freeSinceMs >= Math.max(0, rank) * RANK_PATIENCE_MS
  }

  async #endSilentOwner(connection: Connection, nowMs: number): Promise<boolean> {
    // After an outage of the database everybody was silent.
    if (nowMs - this.#failedMs < OUTAGE_PATIENCE_MS || this.#found === null) return false
    const { owner } = this
    const row = this.#found.members.find(({ id }) => id === owner?.id)
    if (row === undefined || row.silentMs < OWNER_SILENT_MS) return false
    const ended = await endSessionsOf(connection, row.id, OWNER_SILENT_MS)
    if (ended === 0) return false
    this.#parts.log.warn({ member: row.id, silent_ms: Math.round(row.silentMs) }, OWNER_ENDED)
    return true
  }

  /** Renew no more; a row that is struck off says that this process has stopped. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const connection = this.#connection
    if (connection === null) return
    await removeMember(connection, this.#parts.self.id).catch(() => undefined)
    await connection.close()
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
    const { clock, timers, log } = this.#parts
    const startedMs = clock.monotonicMs()
    this.#askedMs = startedMs
    // Of a database that does not answer nothing is expected: the next renewal finds its own way to it.
    const cancel = timers.after(OWNER_FRESH_MS, () => void this.#connection?.close())
    try {
      const connection = await this.#session()
      const found = await renewMember(connection, this.#row())
      // A database that stood still let everybody be silent, as one that was away did.
      if (clock.monotonicMs() - startedMs > LATE_MS) this.#failedMs = clock.monotonicMs()
      this.#note(found, startedMs)
      if (startedMs - this.#housekeptMs >= HOUSEKEEPING_MS) {
        this.#housekeptMs = startedMs
        await removeSilentMembers(connection, FORGET_MS)
      }
    } catch (error) {
      if (this.#failedMs < this.#renewedMs) log.warn({ cause: (error as Error).message }, NOT_RENEWED)
      this.#failedMs = clock.monotonicMs()
    } finally {
      cancel()
    }
  }

  #row(): MemberRow {
    return {
      ...this.#parts.self,
      ownedEpoch: this.#owned?.epoch ?? null,
      ownedSince: this.#owned?.since ?? null,
      linkedEpoch: this.#linkedEpoch,
    }
  }

  #note(found: MembersFound, startedMs: number): void {
    const { clock, onRenewed, onOwnershipLost } = this.#parts
    // Half of the way is as much as can be known of when the database looked at its clock.
    const halfWayMs = (clock.monotonicMs() - startedMs) / 2
    this.#skewMs = clock.now().getTime() - halfWayMs - found.now.getTime()
    this.#found = found
    if (this.#owned !== null && found.epoch > this.#owned.epoch) {
      this.#renewedMs = Number.NEGATIVE_INFINITY
      onOwnershipLost()
    } else {
      this.#renewedMs = startedMs
      onRenewed()
    }
  }

  async #session(): Promise<Connection> {
    if (this.#connection !== null && !this.#connection.isBroken) return this.#connection
    this.#connection = null
    const connection = await this.#parts.connect()
    if (this.#isStopped) await connection.close()
    else this.#connection = connection
    return connection
  }
}

const OWNER_ENDED = 'the owner fell silent: its database sessions were ended'
const NOT_RENEWED = 'this member could not renew itself: the database is away'
