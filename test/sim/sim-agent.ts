import type { Fleet } from '../../lib/fleet/fleet.ts'
import type { AgentConnection } from '../../lib/opamp/fleet-port.ts'
import {
  AGENT_CAPABILITIES,
  type AgentReport,
  type HealthNode,
  type ServerMessage,
} from '../../lib/opamp/report.ts'
import type { Dice, VirtualTime } from './virtual-time.ts'

/** What the agents need of the world they live in. */
export interface AgentWorld {
  time: VirtualTime
  dice: Dice
  /** The service that takes connections now; null while there is none. */
  service(): { fleet: Fleet; isDead: boolean } | null
  nextConnectionId(): number
  /** Decodes what a frame carries. */
  readFrame(frame: Uint8Array): ServerMessage
  /** A config reached an agent. */
  offered(agent: SimAgent, hash: string): void
  trace(line: string): void
}

/** How an agent takes a config. */
export type Fate = 'works' | 'fails' | 'crashes' | 'hangs'

export interface AgentNature {
  uid: string
  attributes: ReadonlyMap<string, string>
  capabilities: number
  components: ReadonlyMap<string, readonly string[]> | null
  /** It leaves unchanged status out after a reconnect, as newer clients do. */
  isTerse: boolean
  fateOf(body: string): Fate
}

interface Status {
  hash: string
  status: 'unset' | 'applied' | 'applying' | 'failed'
}

const HEALTHY: HealthNode = {
  healthy: true,
  status: 'StatusOK',
  lastError: '',
  startTimeMs: 1,
  statusTimeMs: 1,
  children: new Map(),
}

const BEAT_MS = 30_000

class SimConnection implements AgentConnection {
  readonly id: number
  readonly transport = 'ws' as const
  isOpen = true
  readonly openedAtMs: number
  /** Frames keep their order in both directions. */
  arriveAtMs = 0
  reachAtMs = 0
  readonly service: { fleet: Fleet; isDead: boolean }
  readonly #agent: SimAgent

  constructor(id: number, agent: SimAgent, service: { fleet: Fleet; isDead: boolean }, nowMs: number) {
    this.id = id
    this.openedAtMs = nowMs
    this.#agent = agent
    this.service = service
  }

  send(frame: Uint8Array): 'sent' | 'buffered' | 'dropped' {
    if (!this.isOpen) return 'dropped'
    this.#agent.onFrame(this, frame)
    return 'sent'
  }

  drop(): void {
    this.#agent.lose(this)
  }
}

/** An agent that behaves like a supervisor, well or badly. */
export class SimAgent {
  readonly nature: AgentNature
  readonly #world: AgentWorld
  #connection: SimConnection | null = null
  #sequence = 0
  #status: Status = { hash: '', status: 'unset' }
  /** What it runs, as a hash; '' for its own default. */
  running = ''
  #isOn = false
  #applying = 0
  #lastOffer: NonNullable<ServerMessage['remoteConfig']> | null = null
  #beats = 0

  constructor(nature: AgentNature, world: AgentWorld) {
    this.nature = nature
    this.#world = world
  }

  /** Connected, and long enough for its first words to have arrived. */
  get isSettled(): boolean {
    return this.#connection !== null && this.#world.time.nowMs - this.#connection.openedAtMs > 1_000
  }

  get status(): Status {
    return this.#status
  }

  start(): void {
    if (this.#isOn) return
    this.#isOn = true
    this.#connect(0)
  }

  /** Stop in good order, with a goodbye. */
  stop(): void {
    if (!this.#isOn) return
    this.#isOn = false
    this.#applying++
    const connection = this.#connection
    if (connection === null) return
    this.#say({ isDisconnect: true })
    this.#world.time.after(1, () => this.lose(connection))
  }

  /** Be killed and come back after a while as a new process with the same storage. */
  restart(delayMs: number): void {
    this.#applying++
    this.#sequence = 0
    this.#isOn = true
    if (this.#connection !== null) this.lose(this.#connection, delayMs, true)
    else this.#connect(delayMs)
  }

  /** The connection breaks. */
  lose(
    connection: SimConnection | null = this.#connection,
    delayMs = this.#world.dice.between(10, 3_000),
    isNewProcess = false,
  ): void {
    if (connection === null || !connection.isOpen) return
    connection.isOpen = false
    if (this.#connection === connection) this.#connection = null
    const { time, dice } = this.#world
    // The server hears of it a little later, or the service is dead anyhow.
    time.after(dice.between(1, 400), () => {
      if (!connection.service.isDead) connection.service.fleet.connectionClosed(connection)
    })
    if (this.#isOn) this.#connect(delayMs, isNewProcess)
  }

  /** Say the same words again, as an agent does that reads them from its disk. */
  replay(): void {
    if (this.#connection !== null) this.#say(this.#fullReport())
  }

  /** Claim to run something that nobody ever offered. */
  lie(): void {
    if (this.#connection === null) return
    this.#say({ remoteConfigStatus: { hash: 'f'.repeat(64), status: 'failed', errorMessage: 'made up' } })
  }

  #connect(delayMs: number, isNewProcess = true): void {
    this.#world.time.after(delayMs, () => {
      if (!this.#isOn || this.#connection !== null) return
      const service = this.#world.service()
      if (service === null) {
        this.#connect(this.#world.dice.between(200, 2_000), isNewProcess)
        return
      }
      this.#connection = new SimConnection(
        this.#world.nextConnectionId(),
        this,
        service,
        this.#world.time.nowMs,
      )
      this.#say(isNewProcess || !this.nature.isTerse ? this.#fullReport() : {})
      this.#beat(++this.#beats)
      // A new process takes up what the former one was applying.
      const isInterrupted = isNewProcess && this.#status.status === 'applying' && this.#lastOffer !== null
      if (isInterrupted) this.#apply(this.#lastOffer!)
    })
  }

  #beat(round: number): void {
    this.#world.time.after(BEAT_MS, () => {
      if (round !== this.#beats || this.#connection === null) return
      this.#say({})
      this.#beat(round)
    })
  }

  #fullReport(): Partial<AgentReport> {
    const reportsConfig = (this.nature.capabilities & AGENT_CAPABILITIES.reportsRemoteConfig) !== 0
    return {
      attributes: this.nature.attributes,
      health: HEALTHY,
      remoteConfigStatus: reportsConfig ? { ...this.#status, errorMessage: this.#errorMessage() } : null,
      components:
        this.nature.components === null
          ? null
          : { hash: this.nature.uid, components: this.nature.components },
    }
  }

  #errorMessage(): string {
    return this.#status.status === 'failed' ? 'Agent exited unexpectedly with exit code 1' : ''
  }

  #say(part: Partial<AgentReport>): void {
    const connection = this.#connection
    if (connection === null) return
    const report: AgentReport = {
      uid: this.nature.uid,
      uidOnWire: Buffer.from(this.nature.uid, 'hex'),
      sequenceNum: this.#sequence++,
      capabilities: this.nature.capabilities,
      hasCapabilities: true,
      requestsInstanceUid: false,
      isDisconnect: false,
      attributes: null,
      health: null,
      effectiveConfig: null,
      remoteConfigStatus: null,
      components: null,
      ...part,
    }
    const { time, dice } = this.#world
    connection.arriveAtMs = Math.max(connection.arriveAtMs, time.nowMs + dice.between(0.5, 30))
    time.after(connection.arriveAtMs - time.nowMs, () => {
      if (!connection.isOpen || connection.service.isDead) return
      const { message } = connection.service.fleet.receive(connection, report, {})
      this.#deliver(connection, message)
    })
  }

  /** A frame that the service pushed. */
  onFrame(connection: SimConnection, frame: Uint8Array): void {
    this.#deliver(connection, this.#world.readFrame(frame))
  }

  #deliver(connection: SimConnection, message: ServerMessage): void {
    const { time, dice } = this.#world
    connection.reachAtMs = Math.max(connection.reachAtMs, time.nowMs + dice.between(0.5, 30))
    if (message.remoteConfig !== undefined)
      this.#world.offered(this, Buffer.from(message.remoteConfig.hash).toString('hex'))
    time.after(connection.reachAtMs - time.nowMs, () => {
      if (connection.isOpen && this.#connection === connection) this.#take(message)
    })
  }

  #take(message: ServerMessage): void {
    if (message.reportFullState) this.#say(this.#fullReport())
    if (message.remoteConfig !== undefined) this.#apply(message.remoteConfig)
  }

  #apply({ hash, body }: NonNullable<ServerMessage['remoteConfig']>): void {
    const { time, dice } = this.#world
    const text = Buffer.from(body).toString('utf8')
    const id = Buffer.from(hash).toString('hex')
    const fate = this.nature.fateOf(text)
    const round = ++this.#applying
    const settle = (status: 'applied' | 'failed') => {
      if (round !== this.#applying) return
      if (status === 'applied') this.running = id
      this.#report({ hash: id, status })
    }
    this.#lastOffer = { hash, body }
    const isRunning = this.#status.hash === id && this.#status.status === 'applied'
    const failsAtOnce = fate === 'fails' && dice.chance(0.3)
    if (isRunning || failsAtOnce) {
      settle(isRunning ? 'applied' : 'failed')
      return
    }
    this.#report({ hash: id, status: 'applying' })
    if (fate === 'hangs') return
    const delayMs = dice.between(20, 6_000)
    if (fate === 'crashes')
      time.after(delayMs, () => round === this.#applying && this.restart(dice.between(100, 5_000)))
    else time.after(delayMs, () => settle(fate === 'works' ? 'applied' : 'failed'))
  }

  #report(status: Status): void {
    this.#status = status
    if ((this.nature.capabilities & AGENT_CAPABILITIES.reportsRemoteConfig) === 0) return
    this.#say({ remoteConfigStatus: { ...status, errorMessage: this.#errorMessage() } })
  }
}
