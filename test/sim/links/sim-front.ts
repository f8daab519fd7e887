import type { WebSocket } from 'ws'
import type { Membership, Owner } from '../../../lib/cluster/membership.ts'
import type { ConfigEngine } from '../../../lib/configs/engine.ts'
import type { Fleet } from '../../../lib/fleet/fleet.ts'
import type { Timers } from '../../../lib/fleet/state/timers.ts'
import { FrontAgents } from '../../../lib/links/front-agents.ts'
import { OfferTexts } from '../../../lib/links/offer-texts.ts'
import { ReportedTexts } from '../../../lib/links/reported-texts.ts'
import { silentLog } from '../../../lib/log.ts'
import type { OwnAttributes } from '../../../lib/model/own-attributes.ts'
import { createOpampExchange } from '../../../lib/opamp/exchange.ts'
import type { AgentConnection, FleetPort } from '../../../lib/opamp/fleet-port.ts'
import type { AgentReport } from '../../../lib/opamp/report.ts'
import { sessionNameOf } from '../../../lib/store/members.ts'
import { type BrowserPipes, createBrowserPipes } from '../../../runtime/fronts/browser-pipes.ts'
import { isCutOff, sendElsewhere } from '../../../runtime/fronts/cut-off.ts'
import { FrontLink } from '../../../runtime/fronts/front-link.ts'
import type { OwnerDoor, PassedHandshake } from '../../../runtime/fronts/owner-door.ts'
import { readProxyPolicy } from '../../../runtime/process-parts.ts'
import { SocketRoom } from '../../../runtime/socket-room.ts'
import { encodeReport } from '../../support/agent-report.ts'
import { TEST_CONFIG } from '../../support/invoke.ts'
import type { AgentsService } from '../agents/link.ts'
import type { SimSocket } from '../agents/socket.ts'
import { type Client, newClient, type SimDatabase } from '../database/sim-database.ts'
import type { SimService } from '../service/sim-service.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'
import type { BrowserWire } from './browser-wire.ts'
import { openSimMember } from './sim-member.ts'
import type { Wire } from './wire.ts'

const LOOK_MS = 1_000

/** What a simulated front is made of. */
export interface SimFrontParts {
  name: string
  database: SimDatabase
  time: VirtualTime
  dice: Dice
  configs: ConfigEngine
  busyChance(): number
  /** This front has answered a bare beat of this agent by itself. */
  absorbed(front: SimFront, uid: string): void
  /** An agent has spoken to this front. */
  heard(front: SimFront, report: AgentReport, isPoll: boolean): void
  /** The open sockets of its agents. */
  sockets(front: SimFront): readonly SimSocket[]
  /** Connect to the owner; null where it does not answer. */
  dial(front: SimFront, owner: Owner): Promise<Wire | null>
  /** The same for a browser that is connected to this front. */
  dialForBrowser(front: SimFront, owner: Owner): Promise<BrowserWire | null>
  /** The process that answers as this owner; null where none does. */
  owning(owner: Owner): SimService | null
}

/** One process as agents see it: everything that `composeFront` puts together, and the link of the runtime. */
export class SimFront implements AgentsService {
  readonly client: Client
  readonly name: string
  readonly membership: Membership
  readonly agents: FrontAgents
  readonly link: FrontLink
  readonly browsers: BrowserPipes
  readonly fleet: Fleet
  readonly ctx: AgentsService['ctx']
  readonly #parts: SimFrontParts
  readonly reported: ReportedTexts
  #epoch = 0

  constructor(parts: SimFrontParts) {
    const { database, time, name } = parts
    const { clock } = time
    this.client = newClient(sessionNameOf(name))
    const timers = time.timersOf(this.client)
    const db = database.openFor(this.client)
    this.#parts = parts
    this.name = name
    this.reported = new ReportedTexts({ db, clock, timers, log: silentLog })
    this.agents = new FrontAgents({
      clock,
      timers,
      texts: new OfferTexts(db, silentLog),
      reported: this.reported,
      normalise: (text, own) => this.#normalise(text, own),
    })
    this.fleet = this.#asFleet()
    this.ctx = {
      opamp: createOpampExchange({
        fleet: this.#asPort(),
        clock,
        log: silentLog,
        messageBytesMax: TEST_CONFIG.opampMessageBytesMax,
      }),
    }
    const membership = openSimMember({
      name,
      address: name,
      client: this.client,
      database,
      time,
      onRenewed: () => this.#look(),
      onLate: () => this.link.cut(),
      onOwnershipLost() {},
    })
    this.membership = membership
    this.link = new FrontLink({
      door: {
        open: async (owner: Owner) => (await parts.dial(this, owner)) as unknown as WebSocket,
      } as never,
      agents: () => this.agents,
      owner: () => membership.owner,
      lookAgain: () => membership.refresh(),
      onChange: (epoch) => membership.link(epoch),
      onSilent: () => this.browsers.ownerSilent(),
      clock,
      timers,
      log: silentLog,
    })
    this.browsers = createBrowserPipes({
      door: this.#asDoor(),
      proxies: readProxyPolicy(TEST_CONFIG, silentLog),
      room: new SocketRoom({ inAll: 1_000, perAddress: 1_000 }),
      clock,
      timers,
      log: silentLog,
    })
    membership.start()
    this.link.start()
    this.#keepLooking(timers)
  }

  /** Whether it is cut off is looked at each second, whatever the database does. */
  #keepLooking(timers: Timers): void {
    if (this.isCutOff()) sendElsewhere(this.#parts.sockets(this))
    timers.after(LOOK_MS, () => this.#keepLooking(timers))
  }

  get isDead(): boolean {
    return this.client.isDead
  }

  /** Whether it sends its agents to other fronts. */
  isCutOff(): boolean {
    const { owner, heard } = this.membership
    return isCutOff({ link: this.link, owner, heard, selfId: this.name, linkedEpoch: 0 })
  }

  /** Stop as on SIGTERM. The caller marks the process as dead afterwards. */
  async stop(sockets: () => readonly SimSocket[]): Promise<void> {
    this.link.stop()
    for (const socket of sockets()) socket.cut()
    await this.membership.stop()
    this.agents.stop()
    await this.reported.storeAll()
  }

  decidedBy(): unknown {
    return this.membership.owner?.id ?? null
  }

  /** What simulated sockets use of a fleet: the agents of this front, which are given the bytes of each message. */
  #asFleet(): Fleet {
    const { agents } = this
    return {
      receive: (connection: AgentConnection, report: AgentReport) => {
        this.#parts.heard(this, report, false)
        const before = agents.counts.absorbed
        const answer = agents.receive(connection, report, { message: encodeReport(report) })
        if (agents.counts.absorbed > before) this.#parts.absorbed(this, report.uid)
        return answer
      },
      answerNotSent: (...answer: Parameters<FrontAgents['answerNotSent']>) => agents.answerNotSent(...answer),
      connectionClosed: (...end: Parameters<FrontAgents['connectionClosed']>) =>
        agents.connectionClosed(...end),
    } as unknown as Fleet
  }

  /** What answers polls uses of a fleet: the agents of this front. */
  #asPort(): FleetPort {
    const { agents } = this
    return {
      receive: (connection, report, about) => {
        this.#parts.heard(this, report, true)
        return agents.receive(connection, report, about)
      },
      answerNotSent: (...answer) => agents.answerNotSent(...answer),
      connectionClosed: (...end) => agents.connectionClosed(...end),
    }
  }

  /** Who answers what is asked of this front now; null where nobody does. */
  answering(): SimService | null {
    const { owner } = this.membership
    return owner === null || this.isDead ? null : this.#parts.owning(owner)
  }

  /** The way of browsers to the owner. */
  #asDoor(): OwnerDoor {
    const { dialForBrowser } = this.#parts
    const ownerOf = () => this.membership.owner
    return {
      lost() {},
      get epoch() {
        return ownerOf()?.epoch ?? 0
      },
      connect: async (): Promise<PassedHandshake> => {
        const owner = ownerOf()
        const socket = owner === null ? null : await dialForBrowser(this, owner)
        if (socket === null) return { accepted: false, status: 503, body: '', headers: {} }
        return { accepted: true, socket: socket as unknown as WebSocket, epoch: owner!.epoch }
      },
    } as unknown as OwnerDoor
  }

  #look(): void {
    if (this.isCutOff()) sendElsewhere(this.#parts.sockets(this))
    const { owner } = this.membership
    if (owner === null) return
    if (owner.epoch > this.#epoch) {
      this.browsers.ownerChanged(owner.epoch)
      this.link.ownerChanged(owner.epoch)
    }
    this.#epoch = owner.epoch
  }

  async #normalise(text: string, own: OwnAttributes) {
    const { time, dice, configs, busyChance } = this.#parts
    await new Promise<void>((resolve) => void time.after(dice.between(1, 200), resolve, this.client))
    const read = await configs.normalForm(text, own)
    return read.ok && !dice.chance(busyChance()) ? read.form : 'busy'
  }
}
