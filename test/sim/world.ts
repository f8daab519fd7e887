import { createHash } from 'node:crypto'
import { noAuditSink, openAuditTrail } from '../../lib/audit/trail.ts'
import { Fleet } from '../../lib/fleet/fleet.ts'
import { AGENT_LIMITS } from '../../lib/fleet/state/agent-limits.ts'
import type { FleetDeps } from '../../lib/fleet/state/deps.ts'
import { silentLog } from '../../lib/log.ts'
import type { UsedComponent } from '../../lib/model/components.ts'
import { AGENT_CAPABILITIES, type ServerMessage } from '../../lib/opamp/report.ts'
import type { Connection } from '../../lib/store/connection.ts'
import type { Database } from '../../lib/store/db.ts'
import { readServerFrame } from '../support/opamp-messages.ts'
import { Watch } from './invariants.ts'
import { Operator, type OperatorWorld, type SimConfig } from './operator.ts'
import { type AgentNature, type AgentWorld, type Fate, SimAgent } from './sim-agent.ts'
import { type Client, SimDatabase } from './sim-database.ts'
import { Dice, VirtualTime } from './virtual-time.ts'

const GRACE_MS = 20_000
const CAPABLE =
  AGENT_CAPABILITIES.reportsStatus |
  AGENT_CAPABILITIES.acceptsRemoteConfig |
  AGENT_CAPABILITIES.reportsRemoteConfig |
  AGENT_CAPABILITIES.reportsEffectiveConfig |
  AGENT_CAPABILITIES.reportsHealth

interface Service extends Client {
  fleet: Fleet
  isReady: boolean
}

/** A whole small world: a service that crashes, a database that goes away, agents of every kind, an operator. */
export class World implements AgentWorld, OperatorWorld {
  readonly time = new VirtualTime()
  readonly dice: Dice
  readonly watch: Watch
  readonly agents: SimAgent[] = []
  readonly #database: SimDatabase
  readonly #watcher: Connection
  readonly #lines: string[] = []
  #service: Service | null = null
  #connections = 0
  #configs = 0
  /** Bodies by hash, and how they fare. */
  readonly bodies = new Map<string, string>()
  readonly #failed = new Set<string>()
  readonly #operator = new Operator(this)

  constructor(seed: number, connection: Connection, watcher: Connection) {
    this.dice = new Dice(seed)
    this.#database = new SimDatabase(connection, this.time, this.dice)
    this.#watcher = watcher
    this.watch = new Watch(this, watcher)
  }

  trace(line: string): void {
    this.#lines.push(`${(this.time.nowMs / 1000).toFixed(3).padStart(9)}  ${line}`)
  }

  /** The last things that happened, for a failure's report. */
  readTrace(): string {
    return this.#lines.slice(-400).join('\n')
  }

  service(): Service | null {
    return this.#service?.isReady === true && !this.#service.isDead ? this.#service : null
  }

  nextConnectionId(): number {
    return ++this.#connections
  }

  readFrame(frame: Uint8Array): ServerMessage {
    const plain = readServerFrame(frame) as {
      flags?: number | string
      remoteConfig?: { configHash: Uint8Array; config: { configMap: Record<string, { body: Uint8Array }> } }
    }
    const message: ServerMessage = { reportFullState: (Number(plain.flags ?? 0) & 1) !== 0 }
    if (plain.remoteConfig != null) {
      const body = plain.remoteConfig.config.configMap['']!.body
      message.remoteConfig = { hash: plain.remoteConfig.configHash, body }
    }
    return message
  }

  offered(agent: SimAgent, hash: string): void {
    this.trace(`offer ${hash.slice(0, 6)} -> ${agent.nature.uid.slice(0, 4)}`)
    this.watch.frames.push({ uid: agent.nature.uid, hash })
  }

  #deps(client: Client): FleetDeps {
    const db = this.#database.openFor(client)
    const trail = openAuditTrail({
      db,
      clock: this.time.clock,
      random: this.dice,
      log: silentLog,
      sink: noAuditSink,
      checkEpoch: async () => {},
    })
    return {
      db,
      clock: this.time.clock,
      random: this.dice,
      timers: this.time.timersOf(client),
      log: {
        ...silentLog,
        error: (fields, message) => {
          const { err } = fields as { err?: unknown }
          if (!client.isDead)
            this.watch.problem(`logged an error: ${message}: ${err instanceof Error ? err.stack : err}`)
        },
      },
      notices: {
        workloadChanged() {},
        workloadRemoved() {},
        eventStored() {},
        configStatusReported() {},
        pushChanged: (workload, push) => {
          if (push.status === 'failed' && !this.#failed.has(push.pushId)) {
            this.#failed.add(push.pushId)
            this.watch.failed(workload, push)
          }
          const counts = JSON.stringify(push.counts)
          this.trace(`push #${push.seq} ${push.hash.slice(0, 6)} ${push.status}/${push.phase} ${counts}`)
        },
        autoRolledBack: ({ fromHash, toHash }) =>
          this.trace(`rolled back ${fromHash.slice(0, 6)} -> ${toHash.slice(0, 6)}`),
      },
      mayOffer: () => true,
      async checkEpoch() {},
      recordAudit: async (tx, event) => void (await trail.record(tx, event)),
      classifyError: (raw) => ({ cause: 'exited', title: 'Agent exited', parameters: {}, text: raw }),
      isCompatible: (used, available) =>
        available === null || used.every((c) => available.get(c.category)?.includes(c.type)),
      normalise: async () => null,
      graceMs: GRACE_MS,
      agentLimits: AGENT_LIMITS,
    }
  }

  /** Start a service that takes over from what is stored. */
  startService(): void {
    const client: Client = { isDead: false, onDeath: [] }
    const deps = this.#deps(client)
    const fleet = new Fleet(deps)
    const service: Service = Object.assign(client, { fleet, isReady: false })
    fleet.offers.observer = {
      sent: (instance, offer, cause) => this.watch.sent(instance, offer, cause, this.time.nowMs),
    }
    this.#service = service
    this.trace('service starts')
    fleet.start().then(
      () => {
        service.isReady = true
        this.trace('service ready')
      },
      () => {
        if (service.isDead) return
        this.trace('service could not start')
        void this.crashService(500)
      },
    )
  }

  /** Kill the service between any two steps; another one starts after a while. */
  async crashService(downMs: number): Promise<void> {
    const service = this.#service
    if (service === null || service.isDead) return
    this.trace('service killed')
    this.#service = null
    await this.#database.bury(service)
    for (const agent of this.agents) this.time.after(this.dice.between(1, 50), () => agent.lose())
    this.time.after(downMs, () => this.startService())
  }

  setDatabaseAway(isAway: boolean): void {
    this.trace(isAway ? 'database away' : 'database back')
    this.#database.isAway = isAway
  }

  setLostCommits(chance: number): void {
    this.#database.lostCommitChance = chance
  }

  addAgent(index: number, group: string): SimAgent {
    const { dice } = this
    const isReadOnly = dice.chance(0.1)
    const isMute = !isReadOnly && dice.chance(0.08)
    const isSmall = dice.chance(0.15)
    const nature: AgentNature = {
      uid: Buffer.from([index + 1, ...dice.bytes(15)]).toString('hex'),
      attributes: new Map([
        ['service.name', 'otelcol'],
        ['service.version', `0.${100 + dice.int(3)}.0`],
        ['host.name', group],
      ]),
      capabilities: isReadOnly
        ? AGENT_CAPABILITIES.reportsStatus
        : isMute
          ? CAPABLE & ~AGENT_CAPABILITIES.reportsRemoteConfig
          : CAPABLE,
      components:
        dice.chance(0.5) || isSmall
          ? new Map([['exporters', isSmall ? ['debug'] : ['debug', 'otlp']]])
          : null,
      isTerse: dice.chance(0.6),
      fateOf: (body) => fateOf(body, index),
    }
    const agent = new SimAgent(nature, this)
    this.agents.push(agent)
    return agent
  }

  /** Make up a config: most are good, some are bad for all or for one, some crash or hang their agents. */
  makeConfig(): SimConfig {
    const { dice } = this
    if (this.bodies.size > 0 && dice.chance(0.25)) {
      const [hash, body] = dice.pick([...this.bodies])
      return { hash, body, used: usedIn(body) }
    }
    const kind = dice.next()
    const fate =
      kind < 0.55
        ? 'good'
        : kind < 0.7
          ? 'bad=all'
          : kind < 0.82
            ? `bad=${dice.int(this.agents.length)}`
            : kind < 0.9
              ? 'crash=all'
              : kind < 0.95
                ? `hang=${dice.int(this.agents.length)}`
                : `crash=${dice.int(this.agents.length)}`
    const body = `config ${++this.#configs} ${fate} uses=${dice.chance(0.3) ? 'otlp' : 'debug'}`
    const hash = createHash('sha256').update(body).digest('hex')
    this.bodies.set(hash, body)
    return { hash, body, used: usedIn(body) }
  }

  /** An operator looks at the rollouts and does something about one. */
  steer(): void {
    const service = this.service()
    if (service === null) return
    const open = [...service.fleet.state.rollingOut].filter((workload) => workload.rollout !== null)
    if (open.length === 0) return
    const workload = this.dice.pick(open)
    const { id } = workload.rollout!.stored
    const act = this.dice.pick(['continue', 'continue', 'abort', 'rollBack'] as const)
    this.trace(`operator: ${act} ${id} (${workload.rollout!.stored.status})`)
    service.fleet.rollouts[act](workload.id, id, { userId: 'u', email: 'operator@example.com' }).then(
      (outcome) => this.trace(`${act} answered ${outcome.ok ? outcome.rollout.status : outcome.code}`),
      () => this.trace(`${act} answered: database unavailable`),
    )
  }

  operated(): { fleet: Fleet; db: Database; isDead: boolean } | null {
    const service = this.service()
    if (service === null) return null
    return Object.assign(service, { db: this.#database.openFor(service) })
  }

  /** An operator has a config approved for some workload and pushes it. */
  push(config = this.makeConfig()): void {
    const ids = [...(this.service()?.fleet.state.workloads.keys() ?? [])]
    if (ids.length > 0) void this.#operator.push(this.dice.pick(ids), config)
  }

  /** Let virtual time pass; after each event everything real has ended and the invariants are looked at. */
  async run(ms: number): Promise<void> {
    const untilMs = this.time.nowMs + ms
    while (this.time.step(untilMs)) {
      await this.#settle()
      await this.watch.afterStep()
    }
  }

  async #settle(): Promise<void> {
    do {
      await new Promise((resolve) => setImmediate(resolve))
    } while (this.#database.busy > 0)
  }

  /** What the database says, apart from the service. */
  read<Row extends object>(text: string, params: unknown[] = []): Promise<Row[]> {
    return this.#watcher.query<Row>(text, params)
  }
}

function usedIn(body: string): UsedComponent[] {
  const type = /uses=(\w+)/.exec(body)![1]!
  return [{ category: 'exporters', type, id: type, path: 'service.pipelines.traces.exporters[0]' }]
}

function fateOf(body: string, index: number): Fate {
  for (const [word, fate] of [
    ['bad', 'fails'],
    ['crash', 'crashes'],
    ['hang', 'hangs'],
  ] as const) {
    const whom = new RegExp(`${word}=(\\w+)`).exec(body)?.[1]
    if (whom === 'all' || whom === String(index)) return fate
  }
  return 'works'
}
