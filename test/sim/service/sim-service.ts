import { openAuditedDatabase } from '../../../lib/audit/database.ts'
import { noAuditSink } from '../../../lib/audit/delivery.ts'
import type { ApprovalParts } from '../../../lib/changes/approval-parts.ts'
import { isCompatible } from '../../../lib/configs/check/components.ts'
import type { ConfigEngine } from '../../../lib/configs/engine.ts'
import { CommitDoubts } from '../../../lib/fleet/commit-doubts.ts'
import { Fleet } from '../../../lib/fleet/fleet.ts'
import { sweep } from '../../../lib/fleet/janitor.ts'
import { AGENT_LIMITS } from '../../../lib/fleet/state/agent-limits.ts'
import { FleetCounters } from '../../../lib/fleet/state/counters.ts'
import type { FleetDeps, FleetNotices } from '../../../lib/fleet/state/deps.ts'
import { EffectiveMatches } from '../../../lib/fleet/views/effective-matches.ts'
import { FleetViews } from '../../../lib/fleet/views/fleet-views.ts'
import { Hub } from '../../../lib/hub/hub.ts'
import { HubNotices } from '../../../lib/hub/notices.ts'
import type { Log } from '../../../lib/log.ts'
import { createOpampExchange, type OpampExchange } from '../../../lib/opamp/exchange.ts'
import { openConfigTargets } from '../../../lib/posture/config-targets.ts'
import { classifyAgentError } from '../../../lib/redact/agent-error.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import { fenced } from '../../../lib/store/fenced.ts'
import { openProcessLock, type ProcessLock } from '../../../lib/store/process-lock.ts'
import type { AgentError } from '../../../lib/store/pushes.ts'
import { openAlerting } from '../../../runtime/alerting.ts'
import { TEST_CONFIG } from '../../support/invoke.ts'
import type { Client, SimDatabase } from '../database/sim-database.ts'
import { newClient } from '../database/sim-database.ts'
import type { Dice } from '../time/dice.ts'
import type { VirtualTime } from '../time/virtual-time.ts'

export const GRACE_MS = 20_000
const ALERTS_MS = 30_000
/** Virtual time is short: what is away for longer than the slowest agent between two polls is archived and forgotten. */
export const ARCHIVED_AFTER_MS = 300_000
/** And deleted when it has been in the archive for as long again. */
const DELETED_AFTER_MS = 180_000
const DAY_MS = 86_400_000
const JANITOR_MS = 120_000
/** A standby asks seldom here: each time costs the simulation real time. */
const LOCK_POLL_MS = 5_000

/** What a service is made of and whom it tells. */
export interface SimServiceParts {
  database: SimDatabase
  time: VirtualTime
  dice: Dice
  configs: ConfigEngine
  minAgentVersion: string
  /** How likely the threads that read configs are to be busy. */
  busyChance(): number
  /** Hears what the fleet tells, beside the hub. */
  notices: Pick<FleetNotices, 'pushChanged' | 'offerSent' | 'autoRolledBack'>
  /** Something was logged as an error. */
  loggedError(service: SimService, message: string): void
  /** Another process has taken over. */
  lostLock(service: SimService): void
  trace(line: string): void
}

/** One process: everything that `runtime/service.ts` puts together, over the simulated database and time. */
export class SimService {
  readonly client: Client = newClient()
  readonly name: string
  readonly fleet: Fleet
  readonly hub: Hub
  readonly counters: FleetCounters
  readonly views: FleetViews
  readonly exchange: OpampExchange
  readonly parts: ApprovalParts
  readonly alerts: ReturnType<typeof openAlerting>['alerts']
  readonly lock: ProcessLock
  readonly #sim: SimServiceParts
  readonly #doubts: CommitDoubts
  readonly #stop = new AbortController()
  /** It has the lock, holds what is stored, and takes connections. */
  isReady = false
  isStandby = false

  constructor(name: string, sim: SimServiceParts) {
    this.name = name
    this.#sim = sim
    const { database, time, dice, configs } = sim
    const { clock } = time
    const timers = time.timersOf(this.client)
    const log = this.#openLog()
    this.lock = openProcessLock({
      connect: () => database.openControl(this.client),
      ...{ clock, log, onLost: () => sim.lostLock(this), pollMs: LOCK_POLL_MS },
      pause: (ms, signal) =>
        new Promise((resolve, reject) => {
          timers.after(ms, () => (signal.aborted ? reject(signal.reason) : resolve()))
        }),
    })
    const db = openAuditedDatabase({
      ...{ clock, random: dice, log, sink: noAuditSink },
      db: fenced(database.openFor(this.client), (tx) => this.lock.checkEpoch(tx)),
      writeReports: () => this.fleet.writer.flush(),
      commitInDoubt: () => this.#doubts.note(),
    })
    this.hub = new Hub({ clock, timers })
    this.counters = new FleetCounters((workloadId) => {
      const workload = this.fleet.workload(workloadId)
      if (workload !== null) notices.workloadChanged(workload)
    })
    const notices = new HubNotices(this.hub, this.counters, () => this.views)
    this.fleet = new Fleet({
      ...{ db, clock, log, random: dice, timers, isCompatible },
      notices: alsoTelling(notices, sim.notices),
      mayOffer: () => this.lock.isHeld(),
      classifyError,
      normalise: (text) => this.#normalise(text),
      graceMs: GRACE_MS,
      agentLimits: AGENT_LIMITS,
    })
    const { fleet, counters, hub } = this
    this.views = new FleetViews({
      ...{ fleet, counters, clock, classifyError },
      recommendedVersion: { version: sim.minAgentVersion },
      matches: new EffectiveMatches(db, async (asked, reported) => {
        const compared = await configs.effectiveMatch(asked, reported)
        return compared.ok ? { matches: compared.match.verdict, paths: compared.match.paths } : null
      }),
      retentionMs: ARCHIVED_AFTER_MS,
    })
    const settings = { ...TEST_CONFIG, disconnectGraceMs: GRACE_MS, minAgentVersion: sim.minAgentVersion }
    this.alerts = openAlerting(settings, {
      ...{ db, clock, random: dice, log, fleet, notices },
      network: null as never,
      recommendedVersion: { version: sim.minAgentVersion },
    }).alerts
    this.exchange = createOpampExchange({ fleet, clock, log, messageBytesMax: 1_048_576 })
    const doubtParts = { db, timers, log, counters, fleet }
    this.#doubts = new CommitDoubts({
      ...doubtParts,
      tellBrowsers: () => hub.announce({ type: 'resync' }),
    })
    this.parts = {
      ...{ db, clock, random: dice, fleet, counters, hub, configs },
      configTargets: openConfigTargets(fleet, db),
      config: TEST_CONFIG,
    }
  }

  get isDead(): boolean {
    return this.client.isDead
  }

  /** Wait for the lock, take over what is stored, and begin; rejects when the database is away. */
  async start(): Promise<void> {
    await this.lock.acquire(this.#stop.signal, () => {
      this.isStandby = true
      this.#sim.trace(`${this.name} stands by`)
    })
    this.isStandby = false
    await this.counters.load(this.parts.db)
    await this.fleet.start()
    this.isReady = true
    this.#every(ALERTS_MS, () => this.alerts.run(this.#stop.signal))
    this.#every(JANITOR_MS, () => this.sweep())
  }

  /** A schedule of the runtime: it never overlaps itself, and goes on after a failure. */
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
    const { db, clock } = this.parts
    await sweep(
      {
        ...{ db, clock, fleet: this.fleet, log: this.#openLog() },
        retentionDays: ARCHIVED_AFTER_MS / DAY_MS,
        archiveDays: DELETED_AFTER_MS / DAY_MS,
        ...{ eventRetentionDays: 1, alertRetentionDays: 1, workloadsMax: AGENT_LIMITS.workloads },
      },
      this.#stop.signal,
    )
  }

  /** End in good order, as on SIGTERM or after the loss of the lock. The caller buries it after. */
  async stop(): Promise<void> {
    this.isReady = false
    this.#stop.abort()
    await this.fleet.stop()
    this.#doubts.stop()
    await this.lock.release()
  }

  async #normalise(text: string): ReturnType<FleetDeps['normalise']> {
    const { time, dice, configs, busyChance } = this.#sim
    await new Promise<void>((resolve) => void time.after(dice.between(1, 200), resolve, this.client))
    const read = await configs.normalForm(text)
    return read.ok && !dice.chance(busyChance()) ? read.form : 'busy'
  }

  /** What is logged as an error is a fault, unless it says that the database is away. */
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

function classifyError(raw: string): AgentError {
  const { cause, title, parameters, text } = classifyAgentError(raw)
  return { cause, title, parameters: { ...parameters }, text }
}

/** The hub's notices, with somebody who listens in. */
function alsoTelling(hub: FleetNotices, other: SimServiceParts['notices']): FleetNotices {
  return {
    workloadChanged: (workload) => hub.workloadChanged(workload),
    workloadRemoved: (...removed) => hub.workloadRemoved(...removed),
    eventStored: (event) => hub.eventStored(event),
    configStatusReported: (workload, instance) => hub.configStatusReported(workload, instance),
    pushChanged: (workload, push) => {
      hub.pushChanged(workload, push)
      other.pushChanged(workload, push)
    },
    offerSent: (...sent) => other.offerSent(...sent),
    alertsResolved: (alerts) => hub.alertsResolved(alerts),
    autoRolledBack: (rollback) => {
      hub.autoRolledBack(rollback)
      other.autoRolledBack(rollback)
    },
  }
}
