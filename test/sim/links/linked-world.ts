import type { Membership, Owner } from '../../../lib/cluster/membership.ts'
import { openRuntimeCheck } from '../../../lib/configs/check/runtime-check.ts'
import { type ConfigEngine, openConfigEngine } from '../../../lib/configs/engine.ts'
import type { Fleet } from '../../../lib/fleet/fleet.ts'
import type { FrontAgents } from '../../../lib/links/front-agents.ts'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { OwnerLinks } from '../../../lib/links/owner-links.ts'
import type { ReportedTexts } from '../../../lib/links/reported-texts.ts'
import { silentLog } from '../../../lib/log.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import { TEST_CONFIG } from '../../support/invoke.ts'
import type { AgentsService } from '../agents/link.ts'
import type { SimAgent } from '../agents/sim-agent.ts'
import type { SimSocket } from '../agents/socket.ts'
import type { ShowingBrowser } from '../browser/sim-browser.ts'
import type { Client } from '../database/sim-database.ts'
import type { SimStore } from '../database/sim-store.ts'
import type { Flaw, SimService } from '../service/sim-service.ts'
import { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'
import { World } from '../world.ts'
import { BrowserWire } from './browser-wire.ts'
import { FrontBrowser } from './front-browser.ts'
import { LinkPromises } from './link-promises.ts'
import { SimFront } from './sim-front.ts'
import { openSimMember } from './sim-member.ts'
import { type Occasion, StandStills, type StandStillsParts } from './stand-stills.ts'
import { type Meddling, Wire } from './wire.ts'

/** How long a process that stands still or is cut off lets a caller wait. */
const CONNECT_MS = 2_000

/** A fault that is put into every link, into what fronts do with their agents, or into the processes that may own. */
export interface LinkFlaw extends Meddling {
  /** Put into each process but the first that decides. */
  follower?: NonNullable<Flaw['ground']>
  agents?(agents: FrontAgents): void
  reported?(texts: ReportedTexts): void
  member?(membership: Membership): void
  /** Put into what each front knows of the others. */
  ofFront?(membership: Membership): void
  fleet?(fleet: Fleet): void
  /** Put into the links of each process that decides. */
  owner?(links: OwnerLinks): void
  /** Whether a browser that is connected to a front gets this frame. */
  toBrowser?(frame: HubFrame): boolean
  /** Done first where a front is stopped, with the sockets of its agents. */
  drain?(time: VirtualTime, sockets: readonly SimSocket[]): Promise<void>
}

/**
 * A world in which agents connect to fronts, and fronts have links to the process that decides. All that the world
 * has beside is as ever: processes that decide crash, stand still and follow each other, the database goes away.
 */
export class LinkedWorld extends World {
  /** The fronts that are alive, and all that ever were. */
  readonly fronts: SimFront[] = []
  readonly everyFront: SimFront[] = []
  readonly links: LinkPromises
  readonly #flaw: LinkFlaw
  readonly #seed: number
  readonly #owned = new Map<SimService, OwnerLinks>()
  readonly #wires = new Set<Wire>()
  readonly #frontClients = new Set<Client>()
  readonly #engine: ConfigEngine
  #frontCount = 0
  readonly #browserWires = new Set<BrowserWire>()
  readonly #browserDice: Dice
  /** Agents are led to any front, so that polls reach one after the other; once false, to one that stays the same. */
  isSpreading = true
  /** The longest delay of a batch on links that are opened from now on. */
  delayMsMax = 20
  /** Fronts that do not reach the owner before this time, and whether they are let in and then hear nothing. */
  readonly #apart = new Map<SimFront, { untilMs: number; isLetIn: boolean }>()
  /** Called when a process begins to decide. */
  readonly onOwner: (() => void)[] = []
  /** So many of the processes that decide, the first ones, are of a build of the version of links before this one. */
  formerOwners = 0
  readonly #versions = new Map<SimService, number>()
  /** Lets processes stand still at the steps of pushes; null where none does. */
  stills: StandStills | null = null
  /** Sockets that fronts cut because they had no link. */
  sentElsewhere = 0
  /** After how long each owner that stood still was replaced. */
  readonly replacedMs: number[] = []
  #stoodStill: { client: Client; sinceMs: number } | null = null

  constructor(seed: number, store: SimStore, wanted: string | undefined, flaw: LinkFlaw) {
    const { follower = (ground) => ground } = flaw
    let isFirst = true
    const ground: typeof follower = (of) => {
      const stands = isFirst ? of : follower(of)
      isFirst = false
      return stands
    }
    super(seed, store, {
      troubles: wanted,
      // Who pushes for campaigns is no business of the links.
      without: wanted?.split(',').includes('campaigns') ? [] : ['campaigns'],
      flaw: { ground, service: (service) => this.#born(service) },
    })
    this.#flaw = flaw
    this.#seed = seed
    this.#browserDice = new Dice(seed).fork('ways of browsers')
    this.links = new LinkPromises(this)
    this.#engine = openConfigEngine({
      workers: {
        run: async () => ({ ok: false, code: 'worker-busy', cause: 'the simulation has no threads' }),
        load: () => ({ threads: 0, queued: 0 }),
        heapBytes: async () => 0,
        close: async () => {},
      },
      runtimeCheck: openRuntimeCheck(TEST_CONFIG.runtimeValidation, this.time.clock),
      clock: this.time.clock,
    })
    const { observer } = this.database
    this.database.observer = {
      ...observer,
      becameActive: (client) => {
        const still = this.#stoodStill
        if (still !== null && still.client !== client) this.replacedMs.push(this.time.nowMs - still.sinceMs)
        this.#stoodStill = null
        for (const begun of this.onOwner) begun()
        observer.becameActive(client)
      },
      answered: (statement, value, client) => {
        observer.answered(statement, value, client)
        this.stills?.executed(client, statement)
      },
      wrote: (client, statement) => {
        // What agents run is stored by the front that has read it.
        if (!this.#frontClients.has(client)) observer.wrote(client, statement)
        this.stills?.committed(client)
      },
    }
    const bury = this.database.bury.bind(this.database)
    this.database.bury = (client) => {
      bury(client)
      for (const wire of [...this.#wires, ...this.#browserWires])
        if (wire.ends.owner === client || wire.ends.front === client) wire.break()
    }
  }

  /** A process was put together. */
  #born(service: SimService): void {
    const { fleet } = service
    const notSent = fleet.offerNotSent.bind(fleet)
    fleet.offerNotSent = (connection, uid, hash) => {
      const instance = fleet.state.instances.get(uid)
      if (instance?.connection === connection && instance.offer?.hash === hash)
        this.promises.offers.notSent(service.name, instance)
      notSent(connection, uid, hash)
    }
    const removed = fleet.textsRemoved.bind(fleet)
    fleet.textsRemoved = (hashes) => {
      removed(hashes)
      this.#owned.get(service)?.forgetTexts(hashes)
    }
    this.#flaw.fleet?.(fleet)
  }

  override suspendService(forMs: number): void {
    const service = this.service()
    if (service !== null) this.#stoodStill = { client: service.client, sinceMs: this.time.nowMs }
    super.suspendService(forMs)
  }

  /** Let processes stand still on these occasions, until this time. */
  standStillOn(occasions: readonly Occasion[], untilMs: number): void {
    const standStill: StandStillsParts['standStill'] = (who, client, forMs) => {
      const [front] = this.fronts
      const isThere = who === 'front' ? front !== undefined : this.service()?.client === client
      if (who === 'front' && isThere) this.suspendFront(front!, forMs)
      if (who === 'owner' && isThere) this.suspendService(forMs)
      return isThere
    }
    this.stills = new StandStills({ time: this.time, untilMs, standStill }, occasions)
  }

  /** Let the owner not renew itself for a while, as where its session for that hangs. */
  stickRenewals(forMs: number): void {
    const service = this.service()
    if (service === null) return
    this.trace(`${service.name} cannot renew itself`)
    service.client.renewsAtMs = this.time.nowMs + forMs
  }

  protected override join(service: SimService): Membership {
    const { name, client } = service
    const isFormer = this.#versions.size < this.formerOwners
    const linkVersion = LINK_VERSIONS.newest - Number(isFormer)
    this.#versions.set(service, linkVersion)
    const membership = openSimMember({
      name,
      linkVersion,
      address: name,
      client,
      database: this.database,
      time: this.time,
      onRenewed() {},
      onLate: () => this.#owned.get(service)?.dropAll(),
      onOwnershipLost: () => this.lostOwnership(service),
    })
    this.#flaw.member?.(membership)
    return membership
  }

  override agentsService(): AgentsService | null {
    const alive = this.fronts.filter(
      (front) => !front.isDead && front.client.pausedUntilMs <= this.time.nowMs && !front.isCutOff(),
    )
    if (alive.length === 0) return null
    return this.isSpreading ? this.dice.pick(alive) : alive[0]!
  }

  /** An offer takes a while on its way, so `links` looks at what is stored when the owner sends it. */
  override offered(uid: string, hash: string): void {
    this.trace(`offer ${hash.slice(0, 6)} -> ${uid.slice(0, 4)}`)
    this.stirred()
    this.links.arrived(uid, hash)
  }

  startFront(): void {
    const name = `front ${++this.#frontCount}`
    const front: SimFront = new SimFront({
      name,
      database: this.database,
      time: this.time,
      dice: this.dice,
      configs: this.#engine,
      busyChance: () => this.busyChance,
      absorbed: (from, uid) => this.links.absorbed(from, uid),
      heard: (from, report, isPoll) => this.links.heard(from, report, isPoll),
      sockets: (from) => {
        const sockets = this.socketsOf(from)
        if (sockets.length > 0) this.trace(`${name} sends its agents elsewhere`)
        if (sockets.length > 0) this.links.sentElsewhere(from)
        this.sentElsewhere += sockets.length
        return sockets
      },
      dial: (from, owner) => this.#dial(from, owner),
      dialForBrowser: (from, owner) => this.#dialForBrowser(from, owner),
      owning: ({ id, epoch }) => this.owning(id, epoch),
    })
    this.#flaw.agents?.(front.agents)
    this.#flaw.reported?.(front.reported)
    this.#flaw.ofFront?.(front.membership)
    this.#frontClients.add(front.client)
    this.fronts.push(front)
    this.everyFront.push(front)
    this.trace(`${name} starts`)
  }

  /** Kill a front; another one starts after `downMs`. */
  killFront(front: SimFront, downMs: number): void {
    if (front.isDead) return
    this.trace(`${front.name} killed`)
    this.links.died(front)
    this.database.bury(front.client)
    this.fronts.splice(this.fronts.indexOf(front), 1)
    for (const socket of this.socketsOf(front))
      this.time.after(this.dice.between(1, 50), () => loseByProcess(socket))
    this.time.after(downMs, () => this.startFront())
  }

  /** Stop a front as on SIGTERM, once another one has begun. */
  async drainFront(front: SimFront): Promise<void> {
    const at = this.fronts.indexOf(front)
    if (at === -1) return
    this.startFront()
    this.trace(`${front.name} is stopped`)
    this.fronts.splice(at, 1)
    await this.#flaw.drain?.(this.time, this.socketsOf(front))
    await front.stop(() => this.socketsOf(front))
    if (!front.isDead) this.database.bury(front.client)
    this.links.died(front)
  }

  /** Lose the owner and the database together, as where one zone has both. */
  loseTogether(forMs: number): void {
    this.setDatabaseAway(true)
    this.crashService(forMs)
    this.time.after(forMs, () => this.setDatabaseAway(false))
  }

  /** Let a front stand still, and go on. Its agents notice nothing, or connect elsewhere after a while. */
  suspendFront(front: SimFront, forMs: number): void {
    if (front.isDead) return
    this.trace(`${front.name} stands still`)
    front.client.pausedUntilMs = this.time.nowMs + forMs
    if (forMs > 15_000)
      this.time.after(15_000, () => {
        for (const socket of this.socketsOf(front)) loseByProcess(socket)
      })
  }

  /**
   * Let nothing of the owner reach a front for a while. Where it `isLetIn`, the owner hears what the front says on links
   * that it opens, and the front hears no answer.
   */
  cutOffFront(front: SimFront, { forMs, isLetIn }: { forMs: number; isLetIn: boolean }): void {
    if (front.isDead) return
    this.trace(`${front.name} is cut off from the owner${isLetIn ? ', which hears it' : ''}`)
    this.#apart.set(front, { untilMs: this.time.nowMs + forMs, isLetIn })
    for (const wire of this.#wires) if (wire.ends.front === front.client) wire.break()
  }

  /** The open connections under links. */
  get wires(): readonly Wire[] {
    for (const wire of this.#wires) if (!wire.isOpen) this.#wires.delete(wire)
    return [...this.#wires]
  }

  /** Take all trouble off the links. */
  heal(): void {
    // In some worlds pollers go on like that.
    this.isSpreading = this.#seed % 4 === 1
    // What an agent is asked beyond the room of its socket, it is asked with the answer to what it says next.
    for (const agent of this.agents) agent.speakUp()
    this.delayMsMax = 20
    this.#apart.clear()
    for (const wire of [...this.#wires, ...this.#browserWires]) wire.delayMsMax = 20
  }

  async #dial(front: SimFront, { id }: Owner): Promise<Wire | null> {
    const service = this.services.find(({ name }) => name === id)
    await new Promise<void>(
      (resolve) => void this.time.after(this.dice.between(0.5, this.delayMsMax), resolve, front.client),
    )
    if (service === undefined || service.isDead) return null
    if (service.client.pausedUntilMs > this.time.nowMs) {
      await new Promise<void>((resolve) => void this.time.after(CONNECT_MS, resolve, front.client))
      return null
    }
    if (!service.isReady || !service.lock.isHeld()) return null
    const apart = this.#apart.get(front)
    const isApart = apart !== undefined && apart.untilMs > this.time.nowMs
    if (isApart && !apart.isLetIn) return null
    const wire = new Wire(this.time, this.dice, { front: front.client, owner: service.client }, this.#flaw)
    wire.delayMsMax = this.delayMsMax
    if (isApart) wire.muteUntilMs = apart.untilMs
    this.#wires.add(wire)
    wire.ownerLink = this.#linksOf(service).open(
      { send: (text) => wire.sendToFront(text), drop: () => wire.drop() },
      front.name,
      this.#versions.get(service),
    )
    this.trace(`${front.name} is linked to ${id}`)
    this.links.goodbyes.linked(front, id)
    // The owner hears of all its agents anew.
    this.stirred()
    return wire
  }

  #linksOf(service: SimService): OwnerLinks {
    const known = this.#owned.get(service)
    if (known !== undefined) return known
    const links = new OwnerLinks({
      fleet: service.fleet,
      exchange: service.ctx.opamp,
      epoch: service.lock.epoch,
      mayAct: () => service.membership?.mayAct() ?? true,
      clock: this.time.clock,
      timers: this.time.timersOf(service.client),
      log: silentLog,
    })
    this.#flaw.owner?.(links)
    this.#owned.set(service, links)
    return links
  }

  /** The links of the process that decides; null while none does. */
  linksAtOwner(): OwnerLinks | null {
    const service = this.service()
    return service === null ? null : (this.#owned.get(service) ?? null)
  }

  /** Add a browser that is connected to some front; with dice of its own. */
  addBrowserAtFront(dice: Dice): ShowingBrowser {
    const { time } = this
    const reached = () => this.fronts.filter(({ client }) => client.pausedUntilMs <= time.nowMs)
    const browser = new FrontBrowser({ time, dice, reached, hears: this.#flaw.toBrowser ?? (() => true) })
    this.browsers.push(browser)
    return browser
  }

  /** Connect a browser of a front to the owner as that front knows it; null where it does not answer. */
  async #dialForBrowser(front: SimFront, { id, epoch }: Owner): Promise<BrowserWire | null> {
    const { time } = this
    const dice = this.#browserDice
    const wait = (ms: number) => new Promise<void>((resolve) => void time.after(ms, resolve, front.client))
    await wait(dice.between(0.5, this.delayMsMax))
    const service = this.owning(id, epoch)
    if (service === null) {
      await wait(CONNECT_MS)
      return null
    }
    const wire = new BrowserWire({ time, dice, front: front.client, service })
    wire.delayMsMax = this.delayMsMax
    this.#browserWires.add(wire)
    wire.once('close', () => this.#browserWires.delete(wire))
    return wire
  }

  /** The process that answers as the owner of this epoch; null where none does. */
  owning(id: string, epoch: number): SimService | null {
    const service = this.services.find(({ name }) => name === id)
    const isThere =
      service !== undefined && !service.isDead && service.client.pausedUntilMs <= this.time.nowMs
    const owns = isThere && service.isReady && service.lock.isHeld() && service.lock.epoch === epoch
    return owns ? service : null
  }

  override addAgent(index: number, host: string): SimAgent {
    return this.links.watched(super.addAgent(index, host))
  }

  override addTwin(of: SimAgent): SimAgent {
    return this.links.watched(super.addTwin(of))
  }
}

/** A socket ends because the process at its other end died or stands still. */
export function loseByProcess(socket: SimSocket): void {
  socket.isCutByProcess ||= socket.isOpen
  socket.lose()
}
