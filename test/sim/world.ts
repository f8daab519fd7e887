import { createHash } from 'node:crypto'
import type { Membership } from '../../lib/cluster/membership.ts'
import { openRuntimeCheck } from '../../lib/configs/check/runtime-check.ts'
import { openConfigEngine } from '../../lib/configs/engine.ts'
import type { Workload } from '../../lib/fleet/state/model.ts'
import type { Connection } from '../../lib/store/connection.ts'
import { TEST_CONFIG } from '../support/invoke.ts'
import { makeNature } from './agents/agent-nature.ts'
import type { AgentsService, AgentWorld } from './agents/link.ts'
import { Placements } from './agents/placements.ts'
import { SimAgent } from './agents/sim-agent.ts'
import { SimConfigs } from './agents/sim-configs.ts'
import { Gateways, type SimSocket } from './agents/socket.ts'
import { type ShowingBrowser, SimBrowser } from './browser/sim-browser.ts'
import type { RealSessions } from './database/real-sessions.ts'
import { type Client, SimDatabase } from './database/sim-database.ts'
import type { SimStore } from './database/sim-store.ts'
import { hasOpenCampaigns } from './invariants/campaign-endings.ts'
import { hasOpenEnds, listLastingEnds } from './invariants/endings.ts'
import { Promises, type WatchedWorld } from './invariants/promises.ts'
import type { Approved } from './invariants/starts.ts'
import { CampaignOperator } from './operator/campaigns.ts'
import { FleetConfigOperator } from './operator/fleet-configs.ts'
import { InventoryOperator } from './operator/inventory.ts'
import type { OperatorWorld } from './operator/operator-world.ts'
import { PushingOperator } from './operator/pushes.ts'
import type { SeedOptions } from './run-seed.ts'
import { type Flaw, SimService } from './service/sim-service.ts'
import { Dice } from './time/dice.ts'
import { VirtualTime } from './time/virtual-time.ts'
import { chooseTroubles, type Troubles } from './troubles.ts'

/** Longer than the longest delay of an alert rule: what an agent or an offer brings about is over after this. */
const STIR_MS = 360_000
const TRACE_LINES = 400
const MIN_AGENT_VERSION = '0.101.0'

/** A whole small world: services that crash, a database that goes away, agents of every kind, operators, browsers. */
export class World implements AgentWorld, OperatorWorld, WatchedWorld {
  readonly time = new VirtualTime()
  readonly dice: Dice
  readonly troubles: Troubles
  readonly promises: Promises
  readonly agents: SimAgent[] = []
  readonly browsers: ShowingBrowser[] = []
  readonly configs: SimConfigs
  readonly database: SimDatabase
  readonly pushing: PushingOperator
  readonly inventory: InventoryOperator
  readonly campaigning: CampaignOperator
  readonly fleetConfigs: FleetConfigOperator
  readonly approved: Approved
  readonly minAgentVersion = MIN_AGENT_VERSION
  readonly #sessions: RealSessions
  readonly #agentSide: AgentWorld
  readonly #gateways: Gateways
  readonly #watcher: Connection
  readonly #lines: string[] = []
  readonly #flaw: Flaw | null
  readonly #course = createHash('sha256')
  readonly #marks: Dice
  readonly #failed = new Set<string>()
  readonly #stagedAbove: number | null
  /** Uids that two agents use, until the service has told them apart. */
  readonly #shared = new Set<string>()
  readonly #placements = new Placements()
  readonly #engine = openConfigEngine({
    workers: {
      run: async () => ({ ok: false, code: 'worker-busy', cause: 'the simulation has no threads' }),
      load: () => ({ threads: 0, queued: 0 }),
      heapBytes: async () => 0,
      close: async () => {},
    },
    runtimeCheck: openRuntimeCheck(TEST_CONFIG.runtimeValidation, this.time.clock),
    clock: this.time.clock,
  })
  /** The processes that are alive, oldest first. */
  #services: SimService[] = []
  #serviceCount = 0
  #connections = 0
  #stirredAtMs = 0
  #looking: Promise<unknown> = Promise.resolve()
  /** Operators look after campaigns no more. */
  isLeftAlone = false
  busyChance = 0
  dropChance = 0
  lossChance = 0

  constructor(
    seed: number,
    { sessions, watcher }: SimStore,
    asked: Required<Pick<SeedOptions, 'flaw' | 'without'>> & { troubles: string | undefined },
  ) {
    this.#flaw = asked.flaw
    this.dice = new Dice(seed)
    this.#marks = new Dice(seed)
    this.troubles = chooseTroubles(this.dice, asked.troubles, asked.without)
    this.#stagedAbove = this.hasStagedTargets ? this.dice.fork('staged above').int(2) + 1 : null
    this.#sessions = sessions
    this.#watcher = watcher
    this.database = new SimDatabase(sessions, this.time, this.dice)
    this.configs = new SimConfigs(this.dice)
    this.#agentSide = agentSideOf(this)
    this.#gateways = new Gateways(this.#agentSide)
    this.pushing = new PushingOperator(this, this.troubles)
    this.inventory = new InventoryOperator(this)
    this.campaigning = new CampaignOperator(this)
    this.fleetConfigs = new FleetConfigOperator(this)
    this.approved = {
      campaigns: this.campaigning.shown,
      startedMs: this.campaigning.startedMs,
      versions: this.fleetConfigs.approved,
    }
    this.promises = new Promises(this, watcher)
    this.database.observer = {
      answered: (statement, value) => void this.#course.update(`${statement}${JSON.stringify(value)}`),
      becameActive: (client) => this.promises.processes.becameActive(client),
      wrote: (client, statement) => this.promises.processes.wrote(client, statement),
      deletes: (workloadId) => this.inventory.deleted.add(workloadId),
      pushes: this.troubles.campaigns
        ? async (client, beganMs, read) => {
            await this.promises.starts.committing(this.#serviceOf(client), beganMs, read)
            if (this.#stagedAbove !== null) await this.promises.stages.starting(this.#stagedAbove, read)
          }
        : null,
      stages: this.hasStagedTargets
        ? (client, beganMs, read) => this.promises.stages.committing(this.#serviceOf(client), beganMs, read)
        : null,
    }
    sessions.onDeadlock = (text) => this.promises.report(`sessions waited for each other: ${text}`)
  }

  /** Whether campaigns go through some workloads in stages. */
  get hasStagedTargets(): boolean {
    return this.troubles.campaigns && this.troubles.stagedTargets
  }

  trace(line: string): void {
    const timed = `${(this.time.nowMs / 1000).toFixed(3).padStart(9)}  ${line}`
    this.#lines.push(timed)
    this.#course.update(timed)
  }

  /** The last lines of the trace, for the report of a failure. */
  readTrace(): string {
    return this.#lines.slice(-TRACE_LINES).join('\n')
  }

  /** A digest of everything that happened and of every answer of the database: the same for the same seed. */
  readCourse(): string {
    return this.#course.digest('hex')
  }

  /** The service that takes connections: the newest that is up. */
  service(): SimService | null {
    return this.#services.findLast(({ isReady }) => isReady) ?? null
  }

  /** The process that an agent connects to now; null while none takes connections. */
  agentsService(): AgentsService | null {
    return this.service()
  }

  /** The open sockets of agents to this process. */
  socketsOf(service: AgentsService): SimSocket[] {
    return this.#gateways.all().filter((socket) => socket.service === service)
  }

  /** The processes that are alive, oldest first. */
  get services(): readonly SimService[] {
    return this.#services
  }

  #serviceOf(client: Client): SimService | null {
    return this.#services.find((service) => service.client === client) ?? null
  }

  nameOf(client: Client): string {
    return this.#serviceOf(client)?.name ?? 'a dead service'
  }

  nextConnectionId(): number {
    return ++this.#connections
  }

  offered(uid: string, hash: string, body: Uint8Array): void {
    this.configs.learn(hash, body)
    this.trace(`offer ${hash.slice(0, 6)} -> ${uid.slice(0, 4)}`)
    if (!this.isRestless(uid)) this.stirred()
    const workload = this.service()?.fleet.state.instances.get(uid)?.workload
    this.promises.offers.frame(uid, hash, workload?.id ?? '')
  }

  /**
   * Called when an agent connects or is offered a config: the world is not at rest until what follows has had its time.
   */
  stirred(): void {
    this.#stirredAtMs = this.time.nowMs
  }

  /** Whether an agent that goes by this uid comes and goes. */
  isRestless(uid: string): boolean {
    return this.agents.some((agent) => agent.uid === uid && agent.isRestless)
  }

  described(uid: string, host: string): void {
    this.#placements.described(uid, host, this.time.nowMs)
  }

  body(hash: string): string {
    return this.configs.body(hash)
  }

  async normalHash(text: string): Promise<string | null> {
    const read = await this.#engine.normalForm(text)
    return read.ok ? (read.form?.hash ?? null) : null
  }

  isDeleted(workloadId: string): boolean {
    return this.inventory.deleted.has(workloadId)
  }

  /** Start a process. It becomes the active one as soon as no other is. */
  startService(): void {
    const name = `service ${++this.#serviceCount}`
    const service: SimService = new SimService(name, {
      database: this.database,
      time: this.time,
      dice: this.dice,
      marks: this.#marks,
      configs: this.#engine,
      minAgentVersion: MIN_AGENT_VERSION,
      hasCampaigns: this.troubles.campaigns,
      stagedAbove: this.#stagedAbove,
      busyChance: () => this.busyChance,
      loggedError: (_, message) => this.promises.report(`logged an error: ${message}`),
      lostLock: (lost) => this.lostOwnership(lost),
      trace: (line) => this.trace(line),
      flaw: this.#flaw,
      join: (joining) => this.join(joining),
      told: {
        workloadChanged: (workload) => {
          this.promises.delays.workloadTold(name, workload, this.time.nowMs)
          if (this.troubles.campaigns) this.promises.starts.workloadTold(name, workload, this.time.nowMs)
        },
        fired: (alert) => {
          const workload = service.fleet.workload(alert.workloadId)
          const firstIllMs = workload === null ? null : this.#firstIllMs(workload)
          this.promises.delays.fired(alert, workload, firstIllMs, this.time.nowMs)
        },
        pushChanged: (workload, push) => {
          this.promises.delays.pushTold(workload, this.time.nowMs)
          this.promises.offers.pushChanged(name, workload)
          this.promises.patience.pushChanged(service, workload)
          if (push.status === 'failed' && !this.#failed.has(push.pushId)) {
            this.#failed.add(push.pushId)
            this.promises.pushes.failed(workload, push)
          }
          const counts = JSON.stringify(push.counts)
          this.trace(`push #${push.seq} ${push.hash.slice(0, 6)} ${push.status}/${push.phase} ${counts}`)
        },
        offerSent: (instance, offer, cause) =>
          this.promises.offers.sent(name, instance, offer, cause, {
            nowMs: this.time.nowMs,
            isShared: this.#shared.has(instance.uid),
            linkedAtMs: this.#lastLinkedAtMs(instance.uid),
            placedAtMs: this.#placements.movedAtMs(instance.uid),
            returns: this.agents.reduce(
              (most, { uid, returns }) => (uid === instance.uid ? Math.max(most, returns) : most),
              0,
            ),
          }),
        autoRolledBack: ({ fromHash, toHash }) =>
          this.trace(`rolled back ${fromHash.slice(0, 6)} -> ${toHash.slice(0, 6)}`),
      },
    })
    this.#services.push(service)
    this.trace(`${name} starts`)
    service.start().then(
      () => this.trace(`${name} is up`),
      (error) => {
        if (service.isDead) return
        this.trace(`${name} could not start: ${error}`)
        this.#kill(service)
        this.#startLater(500)
      },
    )
  }

  /** Make a process one of several; here each is alone. */
  protected join(_service: SimService): Membership | null {
    return null
  }

  /** Another process owns by now. */
  protected lostOwnership(service: SimService): void {
    if (!service.isDead) void this.#stopService(service, 'lost the lock')
  }

  /** When an agent with this uid last went to another connection, in ms of virtual time. */
  #lastLinkedAtMs(uid: string): number {
    return Math.max(...this.agents.map((agent) => (agent.uid === uid ? agent.linkedAtMs : 0)))
  }

  /** When an agent of this workload first was unhealthy; null when none ever was. */
  #firstIllMs({ instances }: Workload): number | null {
    const uids = new Set([...instances].map(({ uid }) => uid))
    const times = this.agents.flatMap(({ uid, firstIllMs }) => (uids.has(uid) ? (firstIllMs ?? []) : []))
    return times.length === 0 ? null : Math.min(...times)
  }

  #startLater(delayMs: number): void {
    this.time.after(delayMs, () => this.startService())
  }

  /** Kill the active process; another one starts after `downMs`. */
  crashService(downMs: number): void {
    const service = this.service()
    if (service === null) return
    this.trace(`${service.name} killed`)
    this.#kill(service)
    this.#startLater(downMs)
  }

  #kill(service: SimService): void {
    this.database.bury(service.client)
    service.isReady = false
    this.#services = this.#services.filter((other) => other !== service)
    for (const socket of this.#gateways.all())
      if (socket.service === service) this.time.after(this.dice.between(1, 50), () => socket.lose())
  }

  async #stopService(service: SimService, reason: string): Promise<void> {
    this.trace(`${service.name} ${reason} and stops`)
    service.isReady = false
    await service.stop().catch((error) => this.promises.report(`a stop failed: ${error}`))
    if (service.isDead) return
    this.#kill(service)
    this.#startLater(1_000)
  }

  /** Stop the active process as an upgrade does. */
  upgradeService(): void {
    const service = this.service()
    if (service !== null) void this.#stopService(service, 'is asked to stop')
  }

  /**
   * Let the machine of the active process stand still: the database ends its sessions, and its agents connect
   * elsewhere.
   */
  suspendService(forMs: number): void {
    const service = this.service()
    if (service === null) return
    this.trace(`${service.name} is suspended`)
    this.promises.delays.standsStill(service.name)
    service.client.pausedUntilMs = this.time.nowMs + forMs
    this.time.after(Math.min(20_000, forMs / 2), () => this.database.cutClient(service.client))
    this.time.after(Math.min(15_000, forMs / 2), () => {
      service.isReady = false
      for (const socket of this.#gateways.all()) if (socket.service === service) socket.lose()
    })
    this.time.after(forMs, () => {
      if (service.isDead) return
      this.trace(`${service.name} goes on`)
      this.promises.delays.wentOn(service.name)
      service.isReady = true
    })
  }

  setDatabaseAway(isAway: boolean): void {
    this.trace(isAway ? 'database away' : 'database back')
    this.database.isAway = isAway
    if (isAway) this.database.cutAll()
  }

  addAgent(index: number, host: string): SimAgent {
    const uid = Buffer.from([index + 1, ...this.dice.bytes(15)]).toString('hex')
    const nature = makeNature(index, host, this.dice, this.troubles)
    const agent = new SimAgent(nature, uid, this.#agentSide, this.#gateways)
    this.agents.push(agent)
    return agent
  }

  /** Add an agent with the uid of another, as a cloned machine would have. */
  addTwin(of: SimAgent): SimAgent {
    const nature = { ...of.nature, index: this.agents.length, gateway: this.agents.length, asksForUid: false }
    const agent = new SimAgent(nature, of.uid, this.#agentSide, this.#gateways)
    this.agents.push(agent)
    this.#shared.add(of.uid)
    return agent
  }

  addBrowser(): SimBrowser {
    const browser = new SimBrowser(this)
    this.browsers.push(browser)
    return browser
  }

  /** Some workload that the active service knows; null when it knows none. */
  pickWorkload(): string | null {
    const ids = [...(this.service()?.fleet.state.workloads.keys() ?? [])]
    return ids.length === 0 ? null : this.dice.pick(ids)
  }

  /** The hash of some push of a workload. */
  async pickHash(workloadId: string): Promise<string | null> {
    const rows = await this.#sessions.look<{ config_hash: string }>(
      `select distinct config_hash from pushes where workload_id = $1 order by config_hash`,
      [workloadId],
    )
    return rows.length === 0 ? null : this.dice.pick(rows).config_hash
  }

  /** Rows of what is stored, read without being a process of the world. */
  look<Row extends object>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    // One after the other: all of them use the same session.
    const looked = this.#looking.then(() => this.#sessions.look<Row>(text, params))
    this.#looking = looked
    return looked
  }

  async pickAlert(): Promise<string | null> {
    const rows = await this.#sessions.look<{ id: string }>(
      `select id from alerts where resolved_at is null order by id`,
    )
    return rows.length === 0 ? null : this.dice.pick(rows).id
  }

  /** Let virtual time pass. After each event all real database work is awaited and the promises are checked. */
  async run(ms: number): Promise<void> {
    const untilMs = this.time.nowMs + ms
    while (this.time.step(untilMs)) {
      await this.#sessions.settle()
      await this.promises.afterStep()
    }
  }

  /** Whether nothing is under way that would still end by itself. */
  async isQuiet(): Promise<boolean> {
    if (this.time.nowMs - this.#stirredAtMs < STIR_MS) return false
    if (!this.agents.every(({ isSettled }) => isSettled)) return false
    // Two that poll slowly under one uid take some polls to be told apart.
    if (new Set(this.agents.map(({ uid }) => uid)).size < this.agents.length) return false
    if (this.troubles.campaigns && (await hasOpenCampaigns(this.#watcher))) return false
    return !(await hasOpenEnds(this.#watcher))
  }

  /** The pushes and rollouts that are open and have to end, whoever comes and goes. */
  listLastingEnds(): Promise<readonly string[]> {
    return listLastingEnds(this.#watcher)
  }

  /** Kill all processes and give their sessions back. */
  async end(): Promise<void> {
    for (const service of [...this.#services]) this.#kill(service)
    await this.#sessions.settle()
  }
}

/** The world as agents see it: they connect to `agentsService`, which need not be the process that decides. */
const agentSideOf = (world: World): AgentWorld => ({
  time: world.time,
  dice: world.dice,
  service: () => world.agentsService(),
  nextConnectionId: () => world.nextConnectionId(),
  get dropChance() {
    return world.dropChance
  },
  get lossChance() {
    return world.lossChance
  },
  offered: (...of) => world.offered(...of),
  described: (...of) => world.described(...of),
  stirred: () => world.stirred(),
  trace: (line) => world.trace(line),
})
