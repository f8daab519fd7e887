import { createHash } from 'node:crypto'
import { AGENT_CAPABILITIES } from '../../lib/opamp/report.ts'
import {
  type ComponentLists,
  effectiveConfigOf,
  exportersTo,
  pipelinesOf,
  startupError,
} from './simulated-config.ts'

/** A part of an AgentToServer, with the schema's field names; uid, number and capabilities are added on sending. */
export type AgentPart = Record<string, unknown>

/** What a ServerToAgent says, as far as an agent acts on it. */
export interface ServerWord {
  instanceUid: Uint8Array
  errorResponse?: { type?: number; errorMessage?: string; retryInfo?: { retryAfterNanoseconds?: number } }
  remoteConfig?: {
    config?: { configMap?: Record<string, { body?: Uint8Array; contentType?: string }> }
    configHash?: Uint8Array
  }
  connectionSettings?: { opamp?: { heartbeatIntervalSeconds?: number } }
  flags?: number
  capabilities?: number
  agentIdentification?: { newInstanceUid?: Uint8Array }
}

/** How the agent treats an offered config. */
export type OfferBehaviour =
  /** APPLYING, then after the delay APPLIED, or FAILED when a real collector could not start with it. */
  | { kind: 'apply'; delayMs: number }
  /** As 'apply', but any config fails with this text. */
  | { kind: 'fail'; delayMs: number; errorMessage: string }
  /** Takes the offer and never says anything about it. */
  | { kind: 'silent' }
  /** Dies of every offer before it can say a word, and comes back by itself without having kept it. */
  | { kind: 'crash' }

/** What a supervisor keeps on disk. */
export interface AgentStorage {
  remoteConfig: string | null
  remoteConfigHash: string
  status: 'unset' | 'applied' | 'applying' | 'failed'
  errorMessage: string
}

/** What a simulated collector is. */
export interface CollectorOptions {
  uid: Uint8Array
  identifying: Readonly<Record<string, string>>
  nonIdentifying: Readonly<Record<string, string>>
  /** Null for a build that does not report them. */
  components: ComponentLists | null
  capabilities: number
  /** What it runs before anything was offered. */
  initialConfig: string
  behaviour: OfferBehaviour
  /** Hosts that do not exist for it: an exporter that sends there is unhealthy, and so is the collector. */
  unreachableHosts: readonly string[]
  storage: AgentStorage | null
}

/** What the collector needs of whoever runs it. */
export interface CollectorPorts {
  send(part: AgentPart): void
  later(delayMs: number, act: () => void): void
  crash(): void
}

const STATUS_NUMBERS = { unset: 0, applied: 1, applying: 2, failed: 3 } as const
const REPORT_FULL_STATE = 0x1
const REPORT_AVAILABLE_COMPONENTS = 0x2

const EXITED = 'Agent exited unexpectedly with exit code 1 while applying configuration'

const sha256 = (text: string) => createHash('sha256').update(text).digest()
const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const keyValues = (attributes: Readonly<Record<string, string>>) =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }))

interface ComponentHealth {
  healthy: boolean
  status: string
  lastError?: string
}

const failing = (lastError: string): ComponentHealth => ({
  healthy: false,
  status: 'StatusRecoverableError',
  lastError,
})

/** The health of what holds these parts: that of the worst of them. */
function worstOf(parts: readonly ComponentHealth[]): ComponentHealth {
  const sick = parts.find(({ healthy }) => !healthy)
  return sick?.lastError === undefined ? { healthy: true, status: 'StatusOK' } : failing(sick.lastError)
}

/** A collector under a supervisor, as far as OpAMP sees it: what it says, and how it takes what it is told. */
export class SimulatedCollector {
  readonly options: CollectorOptions
  readonly storage: AgentStorage
  uid: Uint8Array
  behaviour: OfferBehaviour
  /** The hash in hex of each offer that arrived, in order, repetitions included. */
  readonly offeredHashes: string[] = []
  readonly #ports: CollectorPorts
  /** The config that the collector process runs, before anything is injected. */
  #running: string
  #isHealthy = true
  #generation = 0

  constructor(options: CollectorOptions, ports: CollectorPorts) {
    this.options = options
    this.uid = options.uid
    this.behaviour = options.behaviour
    this.#ports = ports
    this.storage = options.storage ?? {
      remoteConfig: null,
      remoteConfigHash: '',
      status: 'unset',
      errorMessage: '',
    }
    this.#running = this.storage.remoteConfig ?? options.initialConfig
  }

  /** The YAML that the collector reports as effective. */
  effectiveConfig(): string {
    const { identifying, nonIdentifying } = this.options
    return effectiveConfigOf(this.#running, {
      instanceUid: toHex(this.uid),
      ppid: 1000 + this.#generation,
      port: 30_000 + ((this.#generation * 7919) % 20_000),
      resource: { ...identifying, ...nonIdentifying },
    })
  }

  /** The first message of a process, and the answer to ReportFullState (then with the component list). */
  fullState(hasComponentList: boolean): AgentPart {
    return {
      agentDescription: {
        identifyingAttributes: keyValues(this.options.identifying),
        nonIdentifyingAttributes: keyValues(this.options.nonIdentifying),
      },
      ...this.#health(),
      ...this.#effective(),
      ...this.#status(),
      ...this.#components(hasComponentList),
    }
  }

  /** Its last words before agent_disconnect. */
  farewell(): AgentPart {
    return { health: { healthy: false, lastError: 'Supervisor is shutdown' }, agentDisconnect: {} }
  }

  /** Become unhealthy or healthy again, as a failing exporter makes a collector. */
  setHealthy(isHealthy: boolean): void {
    this.#isHealthy = isHealthy
    this.#ports.send(this.#health())
  }

  /** Act on one ServerToAgent. */
  hear(word: ServerWord): void {
    if (word.errorResponse !== undefined) return
    const newUid = word.agentIdentification?.newInstanceUid
    if (newUid?.length === 16) {
      this.uid = newUid
      this.#ports.send(this.fullState(false))
    }
    const flags = word.flags ?? 0
    if ((flags & REPORT_FULL_STATE) !== 0) this.#ports.send(this.fullState(true))
    else if ((flags & REPORT_AVAILABLE_COMPONENTS) !== 0) this.#ports.send(this.#components(true))
    if (word.remoteConfig !== undefined && this.#can('acceptsRemoteConfig'))
      this.#takeOffer(word.remoteConfig)
  }

  #can(capability: keyof typeof AGENT_CAPABILITIES): boolean {
    return (this.options.capabilities & AGENT_CAPABILITIES[capability]) !== 0
  }

  #takeOffer(offer: NonNullable<ServerWord['remoteConfig']>): void {
    const yaml = Buffer.from(offer.config?.configMap?.['']?.body ?? []).toString('utf8')
    const hash = toHex(offer.configHash ?? new Uint8Array(0))
    this.offeredHashes.push(hash)
    const { behaviour } = this
    if (behaviour.kind === 'crash') this.#ports.crash()
    if (behaviour.kind === 'silent' || behaviour.kind === 'crash') return
    this.storage.remoteConfigHash = hash
    // Where nothing changes, a supervisor reports the config as applied at once. After a failure its collector is
    // down, and it starts the collector again.
    const isUnchanged = yaml === this.#running && this.#isHealthy
    this.#settle(isUnchanged ? 'applied' : 'applying', '')
    if (isUnchanged) return
    // A newer offer replaces this one: only the newest reports how it went.
    this.#generation += 1
    const generation = this.#generation
    this.#ports.later(behaviour.delayMs, () => {
      if (generation === this.#generation) this.#restartWith(yaml, behaviour)
    })
  }

  #restartWith(yaml: string, behaviour: OfferBehaviour & { kind: 'apply' | 'fail' }): void {
    const { components } = this.options
    const why = components === null ? null : startupError(yaml, components)
    if (behaviour.kind === 'fail') this.#break(behaviour.errorMessage)
    else if (why !== null) this.#break(`${EXITED}: ${why}`)
    else {
      this.#running = yaml
      this.storage.remoteConfig = yaml
      this.#isHealthy = true
      this.#ports.send({ ...this.#health(), ...this.#effective() })
      this.#settle('applied', '')
    }
  }

  #break(errorMessage: string): void {
    this.#isHealthy = false
    this.#ports.send(this.#health('Agent process exited unexpectedly, exit code=1. Will restart in a bit...'))
    this.#settle('failed', errorMessage)
  }

  #settle(status: AgentStorage['status'], errorMessage: string): void {
    this.storage.status = status
    this.storage.errorMessage = errorMessage
    if (this.#can('reportsRemoteConfig')) this.#ports.send(this.#status())
  }

  #health(lastError = 'the collector is not running'): AgentPart {
    if (!this.#can('reportsHealth')) return {}
    if (!this.#isHealthy) return { health: { healthy: false, lastError } }
    const ok = { healthy: true, status: 'StatusOK' }
    const lost = exportersTo(this.#running, this.options.unreachableHosts)
    const judge = (component: string) => {
      const host = lost.get(component)
      return host === undefined ? ok : failing(`failed to push: dial tcp: lookup ${host}: no such host`)
    }
    const children = [...pipelinesOf(this.#running)].map(([name, components]) => {
      const inner = Object.fromEntries(components.map((component) => [component, judge(component)]))
      return [name, { ...worstOf(Object.values(inner)), componentHealthMap: inner }] as const
    })
    const extensions = { ...ok, componentHealthMap: { 'extension:opamp': ok } }
    const componentHealthMap = { extensions, ...Object.fromEntries(children) }
    return { health: { ...worstOf(Object.values(componentHealthMap)), componentHealthMap } }
  }

  #effective(): AgentPart {
    if (!this.#can('reportsEffectiveConfig')) return {}
    const body = Buffer.from(this.effectiveConfig())
    return { effectiveConfig: { configMap: { configMap: { '': { body } } } } }
  }

  #status(): AgentPart {
    if (!this.#can('reportsRemoteConfig')) return {}
    const { remoteConfigHash, status, errorMessage } = this.storage
    const lastRemoteConfigHash = Buffer.from(remoteConfigHash, 'hex')
    return { remoteConfigStatus: { lastRemoteConfigHash, status: STATUS_NUMBERS[status], errorMessage } }
  }

  #components(hasList: boolean): AgentPart {
    const lists = this.options.components
    if (lists === null || !this.#can('reportsAvailableComponents')) return {}
    const hash = sha256(JSON.stringify(lists))
    if (!hasList) return { availableComponents: { hash } }
    const components = Object.entries(lists).map(([category, types]) => {
      const subComponentMap = Object.fromEntries(types.map((type) => [type, {}]))
      return [category, { subComponentMap }]
    })
    return { availableComponents: { hash, components: Object.fromEntries(components) } }
  }
}
