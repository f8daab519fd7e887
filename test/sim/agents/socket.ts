import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import type { AgentReport, ServerMessage } from '../../../lib/opamp/report.ts'
import type { AgentsService, AgentWorld, Hearer, Link } from './link.ts'
import { readServerWords } from './server-words.ts'

/** One WebSocket. It may carry several agents, as those of a gateway do. */
export class SimSocket implements AgentConnection {
  readonly id: number
  readonly transport = 'ws' as const
  readonly service: AgentsService
  readonly #world: AgentWorld
  readonly #riders = new Set<Rider>()
  isOpen = true
  /** Its end, where it has ended, is none of its agents' doing and none of their network's. */
  isCutByProcess = false
  #closedAtMs = 0
  /** Its agents are gone, and the process has not noticed that: what it sends reaches nobody. */
  #isDead = false
  /** Frames keep their order in both directions. */
  #arriveAtMs = 0
  #reachAtMs = 0

  constructor(world: AgentWorld, service: AgentsService) {
    this.#world = world
    this.id = world.nextConnectionId()
    this.service = service
  }

  /** Add an agent to this socket; returns its link. */
  carry(agent: Hearer): Link {
    const rider = new Rider(this, agent)
    this.#riders.add(rider)
    return rider
  }

  /** Remove an agent from this socket; without agents it closes. */
  leave(rider: Rider): void {
    this.#riders.delete(rider)
    if (this.#riders.size === 0) this.lose()
  }

  /** The connection breaks for all its agents. The server hears of it a little later, unless its process is dead. */
  lose(): void {
    if (this.isOpen) this.#break(this.#world.dice.between(1, 400))
  }

  /** The same where the server takes it for open for so long. */
  die(forMs: number): void {
    if (!this.isOpen) return
    this.#isDead = true
    this.#break(forMs)
  }

  #break(noticedAfterMs: number): void {
    this.isOpen = false
    const { time } = this.#world
    const { service } = this
    this.#closedAtMs = time.nowMs
    time.after(
      noticedAfterMs,
      () => {
        this.#isDead = false
        if (!service.isDead) service.fleet.connectionClosed(this)
      },
      service.client,
    )
    for (const rider of this.#riders) rider.lost()
  }

  drop(): void {
    this.lose()
  }

  /** The process cuts it for a reason of its own; what serves agents is told so at once. */
  cut(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.#closedAtMs = this.#world.time.nowMs
    this.isCutByProcess = true
    this.service.fleet.connectionClosed(this, { isOurDoing: true })
    for (const rider of this.#riders) rider.lost()
  }

  /**
   * For how long the socket has been closed, not counting the time in which the process stood still and could not know.
   */
  closedForMs({ pausedUntilMs }: { pausedUntilMs: number }): number {
    return this.#world.time.nowMs - Math.max(this.#closedAtMs, pausedUntilMs)
  }

  /** Deliver a frame of the service to the agent whose uid it carries. */
  send(frame: Uint8Array): 'sent' | 'buffered' | 'dropped' {
    if (this.#isDead) return 'sent'
    if (!this.isOpen) return 'dropped'
    if (this.#hasNoRoom()) return 'dropped'
    const { uid, message } = readServerWords(frame.subarray(1))
    this.#deliver(uid, message)
    return 'sent'
  }

  #hasNoRoom(): boolean {
    return this.#world.dropChance > 0 && this.#world.dice.chance(this.#world.dropChance)
  }

  #deliver(uid: string, message: ServerMessage): void {
    const { time, dice } = this.#world
    this.#reachAtMs = Math.max(this.#reachAtMs, time.nowMs + dice.between(0.5, 30))
    if (message.remoteConfig !== undefined)
      this.#world.offered(
        uid,
        Buffer.from(message.remoteConfig.hash).toString('hex'),
        message.remoteConfig.body,
      )
    time.after(this.#reachAtMs - time.nowMs, () => {
      if (!this.isOpen) return
      for (const { agent } of this.#riders) if (agent.uid === uid) agent.hear(message)
    })
  }

  say(rider: Rider, report: AgentReport): void {
    const { time, dice } = this.#world
    const { service } = this
    this.#arriveAtMs = Math.max(this.#arriveAtMs, time.nowMs + dice.between(0.5, 30))
    const arrive = () => {
      if (!this.isOpen || service.isDead) return
      const { message } = service.fleet.receive(this, report, {})
      if (this.#hasNoRoom()) service.fleet.answerNotSent(this, report.uid, message)
      else if (this.#riders.has(rider)) this.#deliver(report.uid, message)
    }
    time.after(this.#arriveAtMs - time.nowMs, arrive, service.client)
  }
}

/** The link of one agent over a socket that it may share. */
export class Rider implements Link {
  readonly #socket: SimSocket
  readonly agent: Hearer
  isOpen = true

  constructor(socket: SimSocket, agent: Hearer) {
    this.#socket = socket
    this.agent = agent
  }

  get socket(): SimSocket {
    return this.#socket
  }

  say(report: AgentReport): void {
    if (this.isOpen) this.#socket.say(this, report)
  }

  lost(): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.agent.linkLost(this)
  }

  /** The agent leaves the socket, which stays open while others use it. */
  leave(): void {
    this.isOpen = false
    this.#socket.leave(this)
  }
}

/** The open sockets of a world, by number of the gateway. Agents with the same number share one. */
export class Gateways {
  readonly #world: AgentWorld
  readonly #open = new Map<number, SimSocket>()

  constructor(world: AgentWorld) {
    this.#world = world
  }

  /**
   * Connect an agent over this gateway's socket, which is opened if need be; null while no service takes connections.
   */
  connect(gateway: number, agent: Hearer): Rider | null {
    const service = this.#world.service()
    if (service === null) return null
    let socket = this.#open.get(gateway)
    if (socket === undefined || !socket.isOpen) {
      socket = new SimSocket(this.#world, service)
      this.#open.set(gateway, socket)
    }
    return socket.carry(agent) as Rider
  }

  all(): SimSocket[] {
    return [...this.#open.values()].filter(({ isOpen }) => isOpen)
  }
}
