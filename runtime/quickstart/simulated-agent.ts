import { randomBytes } from 'node:crypto'
import { AGENT_CAPABILITIES } from '../../lib/opamp/report.ts'
import { AgentToServer, ServerToAgent } from '../../lib/opamp/schema.ts'
import { type AgentTransport, openPollTransport, openSocketTransport } from './agent-transports.ts'
import {
  type AgentPart,
  type CollectorOptions,
  type ServerWord,
  SimulatedCollector,
} from './simulated-collector.ts'
import type { ComponentLists } from './simulated-config.ts'

/** The components of a small but useful collector build. */
export const DEFAULT_COMPONENTS: ComponentLists = {
  connectors: ['forward', 'spanmetrics'],
  exporters: ['debug', 'file', 'otlp', 'otlphttp', 'prometheus'],
  extensions: ['health_check', 'opamp', 'zpages'],
  processors: [
    'attributes',
    'batch',
    'filter',
    'memory_limiter',
    'probabilistic_sampler',
    'resource',
    'transform',
  ],
  receivers: ['filelog', 'hostmetrics', 'otlp', 'prometheus'],
}

/** A collector under a supervisor that takes configs. */
export const SUPERVISED =
  AGENT_CAPABILITIES.reportsStatus |
  AGENT_CAPABILITIES.acceptsRemoteConfig |
  AGENT_CAPABILITIES.reportsEffectiveConfig |
  AGENT_CAPABILITIES.reportsHealth |
  AGENT_CAPABILITIES.reportsRemoteConfig |
  AGENT_CAPABILITIES.reportsHeartbeat |
  AGENT_CAPABILITIES.reportsAvailableComponents

/** A collector with nothing but the opamp extension: it shows itself and takes nothing. */
export const READ_ONLY =
  AGENT_CAPABILITIES.reportsStatus |
  AGENT_CAPABILITIES.reportsEffectiveConfig |
  AGENT_CAPABILITIES.reportsHealth |
  AGENT_CAPABILITIES.reportsAvailableComponents

/** What it runs until something is offered. */
export const DEFAULT_CONFIG = `receivers:
  otlp:
    protocols:
      grpc:
        endpoint: 0.0.0.0:4317
exporters:
  debug: {}
service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [debug]
`

/** What a simulated agent is and how it connects; everything but the address has a default. */
export interface SimulatedAgentOptions extends Partial<CollectorOptions> {
  /** `ws://…/v1/opamp` or `http://…/v1/opamp`. */
  url: string
  secret?: string
  /** Time between beats, or between polls; 0 sends none by itself. A heartbeat offer replaces it. */
  beatMs?: number
  /** How long after a lost connection it tries again; 0 for never. */
  reconnectMs?: number
}

/** A simulated agent that runs. */
export interface SimulatedAgent {
  readonly collector: SimulatedCollector
  uidHex(): string
  isConnected(): boolean
  /** Everything the server said, oldest first. */
  readonly heard: readonly ServerWord[]
  /** The parts it sent, oldest first. */
  readonly said: readonly AgentPart[]
  beatMs(): number
  /** Send a bare heartbeat, or a poll, now. */
  beat(): void
  /** Send some part of a report now, as it is. */
  say(part: AgentPart): void
  /** Leave the next `count` sequence numbers out, as a client does whose messages got lost. */
  skip(count: number): void
  /** Settles when `isTrue` holds; looked at after each message. Rejects after the time-out, naming `what`. */
  until(what: string, isTrue: (agent: SimulatedAgent) => boolean, timeoutMs?: number): Promise<void>
  /** Lose the connection without a word; it comes back by itself unless `reconnectMs` is 0. */
  crash(): void
  /** Say goodbye and end. */
  stop(): Promise<void>
  /** End without a word. */
  kill(): void
}

const UNSET_BEAT_MS = 30_000

/** Start an agent; it connects at once and again when the connection is lost. */
export function startSimulatedAgent(options: SimulatedAgentOptions): SimulatedAgent {
  return new Agent(options)
}

class Agent implements SimulatedAgent {
  readonly collector: SimulatedCollector
  readonly heard: ServerWord[] = []
  readonly said: AgentPart[] = []
  readonly #options: SimulatedAgentOptions
  #transport: AgentTransport
  #sequenceNum = -1
  #beatMs: number
  #isPresented = false
  #isEnded = false
  #isComingBack = false
  #beatTimer: NodeJS.Timeout | undefined
  #timers = new Set<NodeJS.Timeout>()
  #waiters = new Set<() => void>()

  constructor(options: SimulatedAgentOptions) {
    this.#options = options
    this.#beatMs = options.beatMs ?? UNSET_BEAT_MS
    this.collector = new SimulatedCollector(collectorOptions(options), {
      send: (part) => this.say(part),
      later: (delayMs, act) => this.#later(delayMs, act),
      crash: () => this.crash(),
    })
    this.#transport = this.#connect()
  }

  uidHex(): string {
    return Buffer.from(this.collector.uid).toString('hex')
  }

  isConnected(): boolean {
    return this.#transport.isOpen()
  }

  beatMs(): number {
    return this.#beatMs
  }

  beat(): void {
    this.say({})
  }

  skip(count: number): void {
    this.#sequenceNum += count
  }

  say(part: AgentPart): void {
    if (this.#isEnded || !this.#transport.isOpen()) return
    this.#sequenceNum += 1
    const message = {
      instanceUid: this.collector.uid,
      sequenceNum: this.#sequenceNum,
      capabilities: this.collector.options.capabilities,
      ...part,
    }
    this.said.push(part)
    this.#transport.send(AgentToServer.encode(AgentToServer.fromObject(message)).finish())
    this.#armBeat()
    this.#wake()
  }

  until(what: string, isTrue: (agent: SimulatedAgent) => boolean, timeoutMs = 10_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(check)
        reject(new Error(`agent ${this.uidHex()} waited ${timeoutMs} ms for: ${what}`))
      }, timeoutMs)
      const check = () => {
        if (!isTrue(this)) return
        clearTimeout(timer)
        this.#waiters.delete(check)
        resolve()
      }
      this.#waiters.add(check)
      check()
    })
  }

  crash(): void {
    this.#lost()
  }

  async stop(): Promise<void> {
    if (this.#isEnded) return
    this.say(this.collector.farewell())
    this.#end()
    await this.#transport.close()
  }

  kill(): void {
    this.#end()
    this.#transport.cut()
  }

  #connect(): AgentTransport {
    const { url, secret = '' } = this.#options
    const open = url.startsWith('http') ? openPollTransport : openSocketTransport
    return open(url, secret, {
      open: () => this.#present(),
      message: (bytes) => this.#hear(bytes),
      lost: () => this.#lost(),
    })
  }

  /**
   * Send the full state when the process is new, and a bare message when only the connection is, as Go's client does
   * since 0.23.
   */
  #present(): void {
    const part = this.#isPresented ? {} : this.collector.fullState(false)
    this.#isPresented = true
    this.say(part)
  }

  #hear(bytes: Uint8Array): void {
    const word = ServerToAgent.toObject(ServerToAgent.decode(bytes), { longs: Number }) as ServerWord
    this.heard.push(word)
    const seconds = word.connectionSettings?.opamp?.heartbeatIntervalSeconds
    if (seconds !== undefined && seconds > 0) this.#beatMs = seconds * 1000
    this.collector.hear(word)
    this.#wake()
  }

  #lost(): void {
    clearTimeout(this.#beatTimer)
    this.#transport.cut()
    this.#wake()
    const { reconnectMs = 1000 } = this.#options
    if (this.#isEnded || this.#isComingBack || reconnectMs === 0) return
    this.#isComingBack = true
    this.#later(reconnectMs, () => {
      this.#isComingBack = false
      this.#transport = this.#connect()
    })
  }

  #later(delayMs: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      if (!this.#isEnded) act()
    }, delayMs)
    this.#timers.add(timer)
  }

  #armBeat(): void {
    clearTimeout(this.#beatTimer)
    if (this.#beatMs > 0 && !this.#isEnded) this.#beatTimer = setTimeout(() => this.beat(), this.#beatMs)
  }

  #wake(): void {
    for (const check of [...this.#waiters]) check()
  }

  #end(): void {
    this.#isEnded = true
    clearTimeout(this.#beatTimer)
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }
}

function collectorOptions(options: SimulatedAgentOptions): CollectorOptions {
  return {
    uid: options.uid ?? newUid(),
    identifying: options.identifying ?? { 'service.name': 'otelcol-contrib', 'service.version': '0.149.0' },
    nonIdentifying: options.nonIdentifying ?? { 'os.type': 'linux', 'host.arch': 'amd64' },
    components: options.components === undefined ? DEFAULT_COMPONENTS : options.components,
    capabilities: options.capabilities ?? SUPERVISED,
    initialConfig: options.initialConfig ?? DEFAULT_CONFIG,
    behaviour: options.behaviour ?? { kind: 'apply', delayMs: 5000 },
    unreachableHosts: options.unreachableHosts ?? [],
    storage: options.storage ?? null,
  }
}

/** 16 random bytes with the version and variant bits of a UUIDv7, which one client of ours insists on. */
function newUid(): Uint8Array {
  const bytes = randomBytes(16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return new Uint8Array(bytes)
}
