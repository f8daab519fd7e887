import { join } from 'node:path'
import { systemClock } from '../../../lib/clock.ts'
import { sweep } from '../../../lib/fleet/janitor.ts'
import { AGENT_LIMITS } from '../../../lib/fleet/state/agent-limits.ts'
import { silentLog } from '../../../lib/log.ts'
import { AGENT_CAPABILITIES, type AgentReport } from '../../../lib/opamp/report.ts'
import { openPool } from '../../../lib/store/pool.ts'
import { inTurns, nextTurn } from '../../../lib/turns.ts'
import { ROOT } from '../../../runtime/build/bundle.mjs'
import { readConfig } from '../../../runtime/config.ts'
import { watchLoop } from '../../../runtime/loop-watch.ts'
import { type RunningService, startService } from '../../../runtime/service.ts'
import { pushConfig } from '../../support/push-config.ts'
import { pause, watchWork } from '../machine.ts'
import { benchYaml } from './bench-yaml.ts'
import { seedOldRows } from './old-rows.ts'

/** The database on which the harness runs the service. */
export interface HarnessOptions {
  dsn: string
}

/**
 * How many agents report in one turn of the event loop. They run in the service's own process, and more at once would
 * count as time of the service.
 */
const SPEAK_CHUNK = 50
const APPLIED_WITHIN_MS = 300_000
const CAPABILITIES =
  AGENT_CAPABILITIES.reportsStatus |
  AGENT_CAPABILITIES.acceptsRemoteConfig |
  AGENT_CAPABILITIES.reportsRemoteConfig |
  AGENT_CAPABILITIES.reportsHealth

/** How long the event loop was held, and how long of that the thread was on the processor. */
export interface Holds {
  heldMs: number
  workedMs: number
}

/**
 * Runs the service together with agents that need no sockets, since a machine has too few sockets for so many agents.
 */
export class Harness {
  readonly #options: HarnessOptions
  readonly #loop = watchLoop(systemClock)
  readonly #work = watchWork()
  #service: RunningService | null = null
  /** The answers of agents that were offered a config and have not reported on it yet. */
  #offered: (() => void)[] = []
  #isAnswering = false

  constructor(options: HarnessOptions) {
    this.#options = options
  }

  /**
   * Start the service on its database; with `oldRows` the database first gets the rows of an old fleet, for the
   * janitor.
   */
  async start({ oldRows }: { oldRows: boolean }): Promise<void> {
    const { dsn } = this.#options
    const read = readConfig(
      {
        JWT_SECRET: 'a secret of the bench that is long enough',
        DB_DSN: dsn,
        LISTEN_ADDR: '127.0.0.1:0',
        OPAMP_ADDR: '127.0.0.1:0',
      },
      'complete',
    )
    if (!read.ok) throw new Error(read.error)
    const files = {
      migrations: join(ROOT, 'migrations'),
      ui: join(ROOT, 'dist', 'ui'),
      workers: join(ROOT, '.cache', 'run'),
    }
    const begin = () =>
      startService({ config: read.config, files, log: silentLog, onFatal: () => process.exit(1) })
    this.#service = await begin()
    if (!oldRows) return
    // The first start has made the schema. The service must start again to load the old rows.
    await this.#service.stop()
    const pool = openPool({
      dsn,
      maxOpen: 4,
      maxIdle: 1,
      idleTimeoutMs: 60_000,
      lifetimeMs: 600_000,
      statementTimeoutMs: 0,
      clock: systemClock,
      log: silentLog,
    })
    await seedOldRows(pool)
    await pool.close()
    this.#service = await begin()
  }

  /** Connect agents of one workload; resolves when their rows are stored. */
  async connect({ agents }: { agents: number }): Promise<Holds> {
    const { fleet } = this.#running()
    this.#takeHolds()
    for await (const numbers of inTurns(Array.from({ length: agents }).keys(), SPEAK_CHUNK))
      for (const n of numbers) this.#connectOne(n)
    await fleet.writer.flush()
    return this.#takeHolds()
  }

  #takeHolds(): Holds {
    return { heldMs: this.#loop.takeLongestMs(), workedMs: this.#work.takeLongestMs() }
  }

  #connectOne(n: number): void {
    const { fleet } = this.#running()
    const uid = n.toString(16).padStart(32, '0')
    let sequenceNum = 0
    let hash = ''
    const report = (more: Partial<AgentReport>): AgentReport => ({
      uid,
      uidOnWire: Buffer.from(uid, 'hex'),
      sequenceNum: sequenceNum++,
      capabilities: CAPABILITIES,
      hasCapabilities: true,
      requestsInstanceUid: false,
      isDisconnect: false,
      attributes: null,
      health: null,
      effectiveConfig: null,
      remoteConfigStatus: null,
      components: null,
      ...more,
    })
    const say = (more: Partial<AgentReport>) => void fleet.receive(connection, report(more), {})
    const connection = {
      id: 1_000_000 + n,
      transport: 'ws' as const,
      send: (_frame: Uint8Array) => {
        hash = this.#hash
        this.#answerLater(() => say({ remoteConfigStatus: { hash, status: 'applied', errorMessage: '' } }))
        return 'sent' as const
      },
      drop() {},
    }
    say({
      attributes: new Map([
        ['service.name', 'gateway'],
        ['k8s.namespace.name', 'edge'],
        ['k8s.deployment.name', 'gateway'],
        ['k8s.pod.name', `gateway-${n}`],
        ['service.version', '0.149.0'],
      ]),
    })
  }

  #hash = ''

  #answerLater(answer: () => void): void {
    this.#offered.push(answer)
    if (this.#isAnswering) return
    this.#isAnswering = true
    void this.#answer()
  }

  async #answer(): Promise<void> {
    while (this.#offered.length > 0) {
      await nextTurn()
      for (const answer of this.#offered.splice(0, SPEAK_CHUNK)) answer()
    }
    this.#isAnswering = false
  }

  /**
   * Push a config to the only workload, and wait until all have applied it and that is stored; returns how long the
   * event loop was held meanwhile, among others.
   */
  async push({
    mark,
  }: {
    mark: number
  }): Promise<{ callMs: number; seconds: number; applied: number } & Holds> {
    const { fleet } = this.#running()
    const [workload] = fleet.state.workloads.values()
    if (workload === undefined) throw new Error('there is no workload')
    const yaml = benchYaml(mark)
    this.#hash = yaml.hash
    await pause(1_500)
    this.#takeHolds()
    const startedAt = performance.now()
    const push = await pushConfig(fleet, workload.id, yaml.text)
    const callMs = performance.now() - startedAt
    while (push.counts.applied < push.counts.target) {
      if (performance.now() - startedAt > APPLIED_WITHIN_MS) throw new Error('not everybody applied it')
      await pause(20)
    }
    await fleet.writer.flush()
    return {
      callMs,
      seconds: (performance.now() - startedAt) / 1_000,
      ...this.#takeHolds(),
      applied: push.counts.applied,
    }
  }

  /** One round of the janitor, as the schedule runs it. */
  async sweep(): Promise<{ seconds: number; done: number } & Holds> {
    const { db, clock, fleet, config } = this.#running()
    const { retentionDays, archiveDays, eventRetentionDays, alertRetentionDays } = config
    await pause(1_500)
    this.#takeHolds()
    const startedAt = performance.now()
    const result = await sweep(
      {
        db,
        clock,
        fleet,
        retentionDays,
        archiveDays,
        eventRetentionDays,
        alertRetentionDays,
        log: silentLog,
        workloadsMax: AGENT_LIMITS.workloads,
      },
      new AbortController().signal,
    )
    return {
      seconds: (performance.now() - startedAt) / 1_000,
      ...this.#takeHolds(),
      done: Object.values(result).reduce((sum, count) => sum + count, 0),
    }
  }

  async end(): Promise<void> {
    await this.#service?.stop()
  }

  #running(): RunningService['ctx'] {
    if (this.#service === null) throw new Error('the service is not started')
    return this.#service.ctx
  }
}
