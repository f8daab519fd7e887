import type { Clock } from '../../../lib/clock.ts'
import { Membership } from '../../../lib/cluster/membership.ts'
import { checkCaller, deriveFleetKeys, proveCaller } from '../../../lib/cluster/proofs.ts'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { silentLog } from '../../../lib/log.ts'
import { sessionNameOf } from '../../../lib/store/members.ts'
import { Condition } from '../../../runtime/fronts/condition.ts'
import { FailedClaims } from '../../../runtime/fronts/failed-claims.ts'
import type { LeavingCause } from '../../../runtime/fronts/leaving.ts'
import { isReady } from '../../../runtime/fronts/readiness.ts'
import { Standing } from '../../../runtime/fronts/standing.ts'
import type { Mortal } from '../time/virtual-time.ts'
import type { SimFleet } from './sim-fleet.ts'

const KEYS = deriveFleetKeys('a secret that is long enough for tests')
const POLL_MS = 300
const DIAL_MS = 200
const DIALLED_MS = 30
const DRAIN_MS = 100

/** How a process fares with what it loads as the owner. */
export interface Loading {
  ms: number
  fails: boolean
}

/**
 * A process of several: its membership, standing and condition are those of the product; the link, the lock and the loading
 * are as simple as they can be. What `Member` does about them is repeated here.
 */
export class SimProcess implements Mortal {
  readonly id: string
  readonly place: number
  readonly startedMs: number
  isDead = false
  pausedUntilMs = 0
  isStopping = false
  loading: Loading = { ms: 200, fails: false }
  /** The epoch that it decides in; null while it does not. */
  epoch: number | null = null
  /** The process and epoch that it has a link to. */
  link: { to: SimProcess; epoch: number } | null = null
  readonly membership: Membership
  readonly condition: Condition
  readonly #fleet: SimFleet
  readonly #standing: Standing
  readonly #failedClaims = new FailedClaims()
  /** Its wall clock is ahead of the database's by as much as its machine's. */
  readonly #clock: Clock
  #upMs: number
  #isHandingOver = false

  constructor(fleet: SimFleet, id: string, place: number, aheadMs: number) {
    this.#fleet = fleet
    this.id = id
    this.place = place
    const { time } = fleet
    const { clock } = time
    this.#clock = { ...clock, now: () => new Date(clock.now().getTime() + aheadMs) }
    this.startedMs = time.nowMs
    this.#upMs = time.nowMs
    const timers = time.timersOf(this)
    this.membership = new Membership({
      self: {
        id,
        address: `${place}:1`,
        host: `box ${place}`,
        pid: 1,
        version: '1',
        linkVersion: LINK_VERSIONS.newest,
        startedAt: this.#clock.now(),
        newestMigration: 9_000,
        newestBreaking: 0,
      },
      keys: KEYS,
      connect: async () => fleet.rows.connect(),
      clock: this.#clock,
      timers,
      log: silentLog,
      onRenewed: () => this.#lookAtOwner(),
      onLate: () => this.unlink(),
      suitOf: (member) => this.condition.suitOf(member),
      onOwnershipLost: () => fleet.kill(this),
      onOutdated: () => undefined,
    })
    this.#standing = new Standing({
      self: { id, address: `${place}:1` },
      others: () => this.membership.members.filter((member) => member.id !== id),
      asksOthers: () => this.condition.asksOthers,
      ask: async (member) => {
        const other = fleet.find(member.id)
        if (other === null || !fleet.reaches(this, other)) return null
        return { id: other.id, linkedEpoch: other.condition.linkedEpoch }
      },
      onLooked: () => this.#lookAtStanding(),
      timers,
    })
    this.condition = this.#readCondition()
  }

  #readCondition(): Condition {
    const process = this
    const { time } = this.#fleet
    return new Condition({
      selfId: this.id,
      membership: this.membership,
      link: {
        isForeign: false,
        get downMs() {
          return process.link === null ? time.nowMs - process.#upMs : 0
        },
      },
      standing: this.#standing,
      versions: LINK_VERSIONS,
      clock: this.#clock,
      owning: () =>
        this.epoch === null ? null : { epoch: this.epoch, links: { hasOtherThan: () => this.isFollowed } },
      unread: () => null,
    })
  }

  start(): void {
    this.#standing.start()
    this.membership.start()
    this.#dial()
    void this.#claim()
  }

  /** The other processes that have a link to this one. */
  get followers(): SimProcess[] {
    return this.#fleet.processes.filter((other) => other !== this && other.link?.to === this)
  }

  get isFollowed(): boolean {
    return this.followers.length > 0
  }

  /** Nothing is ready whose clock is off. */
  get isInTime(): boolean {
    return this.membership.isInTime
  }

  get isReady(): boolean {
    const downMs = this.link === null ? this.#fleet.time.nowMs - this.#upMs : 0
    const facts = { hasWay: downMs < 10_000, hasFailed: this.#failedClaims.said !== null, version: '1' }
    return isReady({ ...this.condition.readiness, ...facts })
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#fleet.time.after(ms, resolve, this))
  }

  #dial(): void {
    if (this.isStopping) return
    if (this.link === null) {
      const named = this.membership.owner
      const owner = named === null ? null : this.#fleet.find(named.id)
      if (owner?.epoch === named?.epoch && owner !== null && this.#fleet.reaches(this, owner))
        this.#fleet.time.after(DIALLED_MS, () => this.#linkTo(owner, owner.epoch!), this)
      else this.membership.refresh()
    }
    this.#fleet.time.after(DIAL_MS, () => this.#dial(), this)
  }

  /** The time that its proofs are of. */
  get #provenTime(): Date {
    return new Date(this.#clock.now().getTime() - this.membership.skewMs)
  }

  #isBelievedBy(owner: SimProcess, epoch: number): boolean {
    const named = { id: owner.id, address: `${owner.place}:1`, epoch }
    const proof = proveCaller(KEYS, this.id, named, this.#provenTime)
    return checkCaller(KEYS, proof, named, owner.#provenTime) === this.id
  }

  #linkTo(owner: SimProcess, epoch: number): void {
    if (this.isStopping || this.link !== null || owner.isDead || owner.epoch !== epoch) return
    if (!this.#isBelievedBy(owner, epoch)) return
    this.link = { to: owner, epoch }
    this.membership.link(epoch)
    this.condition.linked(epoch)
  }

  /** The link is cut. */
  unlink(): void {
    if (this.link === null) return
    this.link = null
    this.#upMs = this.#fleet.time.nowMs
    this.membership.link(null)
    this.condition.linked(null)
  }

  /** Another one owns by now: a link to the former one is of no use. */
  #lookAtOwner(): void {
    if (this.link !== null && this.link.epoch < (this.membership.owner?.epoch ?? 0)) this.unlink()
  }

  #lookAtStanding(): void {
    const cause = this.condition.look()
    if (cause === null || this.#isHandingOver || this.isStopping || !this.condition.canLeave) return
    this.condition.left(cause)
    void this.#handOver(cause)
  }

  async #handOver(cause: LeavingCause): Promise<void> {
    this.#isHandingOver = true
    this.#fleet.note('left', this, cause)
    await this.#pause(DRAIN_MS)
    this.#endOwning()
    this.membership.disown()
    this.#fleet.release(this)
    this.#isHandingOver = false
    void this.#claim()
  }

  #endOwning(): void {
    this.epoch = null
    this.#fleet.cutLinksTo(this)
  }

  async #claim(): Promise<void> {
    const fleet = this.#fleet
    for (;;) {
      if (!(await this.#acquire())) return
      const epoch = ++fleet.rows.epoch
      await this.membership.own(epoch)
      const { ms, fails } = this.loading
      await this.#pause(ms)
      if (this.isStopping) return
      if (fleet.holder !== this) return fleet.kill(this)
      if (!fails) {
        this.#failedClaims.clear()
        this.epoch = epoch
        this.membership.decide(this.#clock.now())
        fleet.note('owns', this)
        return
      }
      const error = new Error('cannot load')
      this.#failedClaims.note(error)
      this.membership.disown()
      fleet.release(this)
      await this.#pause(this.#failedClaims.pauseMs(error, true))
    }
  }

  /** Wait until it has the lock; false where it stops before. */
  async #acquire(): Promise<boolean> {
    const fleet = this.#fleet
    const connection = fleet.rows.connect()
    for (;;) {
      if (this.isStopping) return false
      const { holder } = fleet
      const session =
        holder === null
          ? null
          : { pid: 1, application: sessionNameOf(holder.id), address: '', since: new Date(0) }
      const mayClaim = await this.membership.mayClaim(connection, session).catch(() => false)
      if (mayClaim && fleet.take(this)) return true
      await this.#pause(POLL_MS)
    }
  }

  /** Stop in good order. */
  async stop(): Promise<void> {
    this.isStopping = true
    await this.#pause(DRAIN_MS)
    this.unlink()
    this.#endOwning()
    this.#standing.stop()
    await this.membership.stop()
    this.#fleet.gone(this)
  }
}
