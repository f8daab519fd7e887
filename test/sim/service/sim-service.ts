import { systemWebhookNetwork } from '../../../lib/alerts/webhook-client.ts'
import type { Membership } from '../../../lib/cluster/membership.ts'
import type { ConfigEngine } from '../../../lib/configs/engine.ts'
import type { CommitDoubts } from '../../../lib/fleet/commit-doubts.ts'
import type { Fleet } from '../../../lib/fleet/fleet.ts'
import { sweep } from '../../../lib/fleet/janitor.ts'
import { AGENT_LIMITS } from '../../../lib/fleet/state/agent-limits.ts'
import type { FleetDeps } from '../../../lib/fleet/state/deps.ts'
import type { Timers } from '../../../lib/fleet/state/timers.ts'
import type { Log } from '../../../lib/log.ts'
import type { OwnAttributes } from '../../../lib/model/own-attributes.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import { DatabaseUnavailable, type Db } from '../../../lib/store/db.ts'
import { fenced } from '../../../lib/store/fenced.ts'
import type { Holder } from '../../../lib/store/lock-statements.ts'
import { sessionNameOf } from '../../../lib/store/members.ts'
import { openProcessLock, type ProcessLock } from '../../../lib/store/process-lock.ts'
import { compose, type Ground, type Notices } from '../../../runtime/compose.ts'
import type { Config } from '../../../runtime/config.ts'
import type { Context } from '../../../runtime/context.ts'
import { createCommunityEdition } from '../../../runtime/editions.ts'
import { TEST_CONFIG } from '../../support/invoke.ts'
import { alsoTelling } from '../../support/overhear.ts'
import type { Client, SimDatabase } from '../database/sim-database.ts'
import { newClient } from '../database/sim-database.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

/** For how long a workload without a live instance still counts as connected. */
export const GRACE_MS = 20_000
const ALERTS_MS = 30_000
/**
 * A disconnected workload is archived after this, which is short because virtual time is, but longer than the longest
 * poll interval of an agent.
 */
export const ARCHIVED_AFTER_MS = 300_000
/** An archived workload is deleted after this. */
const DELETED_AFTER_MS = 180_000
/** Campaigns and versions that apply by themselves are worked at more seldom than by the schedules of `functions/`. */
const CAMPAIGNS_MS = 1_000
const AUTO_APPLY_MS = 2_500
const MEMBERS_MS = 45_000
const DAY_MS = 86_400_000
const JANITOR_MS = 120_000
/** No worker thread is ever started: the simulation asks for no work that needs one. */
const NO_THREADS = new URL('file:///nowhere')
/** A standby asks for the process lock seldom here, because each time costs the simulation real time. */
export const LOCK_POLL_MS = 5_000

/**
 * A fault put into a process on purpose: `ground` changes what the process is built on, `service` its parts once they
 * are put together.
 */
export interface Flaw {
  ground?: (ground: Ground) => Ground
  service?: (service: SimService) => void
}

/** What a simulated service process is built from, and whom it tells what happens to it. */
export interface SimServiceParts {
  database: SimDatabase
  time: VirtualTime
  dice: Dice
  /** Dice of their own for the marks of ownerships, which decide nothing: they change no seed's course. */
  marks: Dice
  configs: ConfigEngine
  minAgentVersion: string
  /** Whether the process works at campaigns; the others have none, and save the time. */
  hasCampaigns: boolean
  /** Campaigns go in stages through workloads with more instances than this; as in the service where it is null. */
  stagedAbove: number | null
  /** The chance that the worker threads that read configs are all busy. */
  busyChance(): number
  /** Is told the notices of the fleet and the alerts, after the hub. */
  told: Partial<Notices>
  /** The fault of this process; null except in tests that ask whether the simulation would find it. */
  flaw: Flaw | null
  /** Makes the process one of several; null where it is alone. */
  join(service: SimService): Membership | null
  /** Called when the process logs an error. */
  loggedError(service: SimService, message: string): void
  /** Called when the process has lost the process lock. */
  lostLock(service: SimService): void
  trace(line: string): void
}

/** One process: everything that `runtime/compose.ts` puts together, over the simulated database and time. */
export class SimService {
  readonly client: Client
  readonly name: string
  readonly membership: Membership | null
  readonly ctx: Context
  readonly doubts: CommitDoubts
  readonly lock: ProcessLock
  readonly #sim: SimServiceParts
  readonly #stop = new AbortController()
  /** It has the lock, has loaded what is stored, and takes connections. */
  isReady = false
  isStandby = false
  #plans = 0

  constructor(name: string, sim: SimServiceParts) {
    this.name = name
    this.#sim = sim
    const { database, time } = sim
    this.client = newClient(sessionNameOf(name))
    const membership = sim.join(this)
    this.membership = membership
    const timers = time.timersOf(this.client)
    this.lock = openProcessLock({
      connect: () => database.openControl(this.client),
      clock: time.clock,
      random: sim.marks,
      log: this.#openLog(),
      onLost: () => sim.lostLock(this),
      pollMs: LOCK_POLL_MS,
      ...(membership !== null && {
        mayClaim: (connection: Connection, holder: Holder | null) => membership.mayClaim(connection, holder),
      }),
      pause: (ms, signal) =>
        new Promise((resolve, reject) => {
          timers.after(ms, () => (signal.aborted ? reject(signal.reason) : resolve()))
        }),
    })
    const ground = this.#layGround(timers)
    const { ctx, doubts } = compose(sim.flaw?.ground?.(ground) ?? ground)
    this.ctx = ctx
    this.doubts = doubts
    this.#countPlans()
    sim.flaw?.service?.(this)
  }

  /** What the process is built on: simulated clock, timers and database, and no threads. */
  #layGround(timers: Timers): Ground {
    const { database, time, dice, minAgentVersion, stagedAbove, told } = this.#sim
    const { clock } = time
    const configs = this.#openEngine()
    const config: Config = {
      ...TEST_CONFIG,
      disconnectGraceMs: GRACE_MS,
      minAgentVersion,
      retentionDays: ARCHIVED_AFTER_MS / DAY_MS,
    }
    return {
      config,
      clock,
      timers,
      random: dice,
      log: this.#openLog(),
      configs,
      db: fenced(database.openFor(this.client), (tx) => this.#checkEpoch(tx)),
      edition: createCommunityEdition(),
      running: { version: '0.0.0', nodeVersion: process.versions.node, startedAt: clock.now() },
      readiness: { ping: (timeoutMs) => this.lock.ping(timeoutMs) },
      databaseStatistics: null,
      cluster: null,
      network: systemWebhookNetwork,
      mayOffer: () => this.lock.isHeld() && this.#mayAct(),
      // One that is alone hears its agents itself; see `runtime/service.ts`.
      hears: () => this.membership === null || (this.lock.isHeld() && this.membership.mayAct()),
      busyMs: () => 0,
      openApi: () => '',
      workerUrl: () => NO_THREADS,
      threads: { password: 0, report: 0 },
      readConfigs: {
        normalise: (text, own) => this.#normalise(text, own),
        async compare(asked, reported) {
          const compared = await configs.effectiveMatch(asked, reported)
          return compared.ok ? { matches: compared.match.verdict, paths: compared.match.paths } : null
        },
      },
      overhear: (notices) => alsoTelling(notices, told),
      ...(stagedAbove !== null && { stagedAbove }),
    }
  }

  /** Whether this process has renewed itself lately, where it is one of several; as `runtime/fronts/member.ts` asks. */
  #mayAct(): boolean {
    return this.membership === null || this.membership.mayAct()
  }

  async #checkEpoch(tx: Db): Promise<void> {
    if (!this.#mayAct()) throw new DatabaseUnavailable('this process has not renewed itself')
    await this.lock.checkEpoch(tx)
  }

  /** The engine that reads configs: in a world with campaigns each judgement takes a while, and threads may be busy. */
  #openEngine(): ConfigEngine {
    const { configs, hasCampaigns, time, dice, busyChance } = this.#sim
    if (!hasCampaigns) return configs
    const slowly = async <Answer>(
      work: () => Promise<Answer>,
    ): Promise<Answer | { ok: false; code: 'server-busy' }> => {
      await new Promise<void>((resolve) => void time.after(dice.between(0, 20), resolve, this.client))
      // The planner waits for a free thread by a real timer, which the world does not have.
      if (this.#plans === 0 && dice.chance(busyChance())) return { ok: false, code: 'server-busy' }
      return work()
    }
    return {
      ...configs,
      validate: (...asked) => slowly(() => configs.validate(...asked)),
      policy: (request) => slowly(() => configs.policy(request)),
      render: (request) => slowly(() => configs.render(request)),
      patch: (...asked) => slowly(() => configs.patch(...asked)),
    }
  }

  /** Count the plans that are being made. */
  #countPlans(): void {
    const { planner } = this.ctx.campaigns
    const begin = planner.begin.bind(planner)
    planner.begin = (...asked) => {
      this.#plans++
      const begun = begin(...asked)
      void begun.done.finally(() => this.#plans--)
      return begun
    }
  }

  get fleet(): Fleet {
    return this.ctx.fleet
  }

  get isDead(): boolean {
    return this.client.isDead
  }

  /** Wait for the lock, load what is stored and begin to serve; rejects when the database is away. */
  async start(): Promise<void> {
    this.membership?.start()
    await this.lock.acquire(this.#stop.signal, () => {
      this.isStandby = true
      this.#sim.trace(`${this.name} stands by`)
    })
    await this.membership?.own(this.lock.epoch)
    this.isStandby = false
    const { hasCampaigns } = this.#sim
    await this.ctx.counters.load(this.ctx.db)
    if (hasCampaigns) await this.ctx.fleetConfigs.load(this.ctx.db)
    await this.ctx.labelRules.load(this.ctx.db)
    await this.fleet.start()
    this.membership?.decide(this.#sim.time.clock.now())
    this.isReady = true
    this.#every(ALERTS_MS, () => this.ctx.alerts.run(this.#stop.signal))
    this.#every(JANITOR_MS, () => this.sweep())
    if (hasCampaigns) this.#workAtCampaigns()
  }

  /** The schedules in `functions/campaigns`, `functions/auto-apply` and `functions/fleet-configs`. */
  #workAtCampaigns(): void {
    const { campaigns, autoApply, fleetConfigs } = this.ctx
    this.#every(CAMPAIGNS_MS, () => campaigns.work(this.#stop.signal))
    this.#every(AUTO_APPLY_MS, () => autoApply.work(this.#stop.signal))
    this.#every(MEMBERS_MS, async () => {
      await fleetConfigs.load()
      await fleetConfigs.storeMemberships()
    })
  }

  /** Run a schedule as the runtime does: it never overlaps itself, and goes on after a failure. */
  #every(intervalMs: number, work: () => Promise<unknown>): void {
    this.#sim.time.after(
      intervalMs,
      () => {
        work().then(
          () => this.#every(intervalMs, work),
          () => this.#every(intervalMs, work),
        )
      },
      this.client,
    )
  }

  async sweep(): Promise<void> {
    const { db, clock } = this.ctx
    await sweep(
      {
        db,
        clock,
        fleet: this.fleet,
        log: this.#openLog(),
        retentionDays: ARCHIVED_AFTER_MS / DAY_MS,
        archiveDays: DELETED_AFTER_MS / DAY_MS,
        eventRetentionDays: 1,
        alertRetentionDays: 1,
        workloadsMax: AGENT_LIMITS.workloads,
      },
      this.#stop.signal,
    )
  }

  /** Stop as on SIGTERM or after the loss of the lock. The caller marks the process as dead afterwards. */
  async stop(): Promise<void> {
    this.isReady = false
    this.#stop.abort()
    await this.fleet.stop()
    this.doubts.stop()
    await this.membership?.stop()
    await this.lock.release()
  }

  async #normalise(text: string, own: OwnAttributes): ReturnType<FleetDeps['normalise']> {
    const { time, dice, configs, busyChance } = this.#sim
    await new Promise<void>((resolve) => void time.after(dice.between(1, 200), resolve, this.client))
    const read = await configs.normalForm(text, own)
    return read.ok && !dice.chance(busyChance()) ? read.form : 'busy'
  }

  /**
   * A log in which each error with an exception counts as a fault, unless the exception says that the database is away
   * or the process is dead.
   */
  #openLog(): Log {
    const quiet = () => {}
    return {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: (fields, message) => {
        const { err } = fields as { err?: unknown }
        if (!(err instanceof Error) || err instanceof DatabaseUnavailable || this.isDead) return
        this.#sim.loggedError(this, `${message}: ${err.stack}`)
      },
    }
  }
}
