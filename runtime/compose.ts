import { getHeapStatistics } from 'node:v8'
import type { AlertNotices } from '../lib/alerts/engine.ts'
import type { WebhookNetwork } from '../lib/alerts/webhook-client.ts'
import { type CommitFollowers, noFollowers } from '../lib/audit/commit-followers.ts'
import { type AuditedDatabase, openAuditedDatabase } from '../lib/audit/database.ts'
import { AutoApply } from '../lib/auto-apply/auto-apply.ts'
import { Campaigns } from '../lib/campaigns/campaigns.ts'
import { STAGED_ABOVE } from '../lib/campaigns/run/start-targets.ts'
import { whyNotFurther } from '../lib/campaigns/run/why-not-further.ts'
import { readStanding } from '../lib/changes/approval-standing.ts'
import type { Clock } from '../lib/clock.ts'
import { isCompatible } from '../lib/configs/check/components.ts'
import { openRuntimeCheck } from '../lib/configs/check/runtime-check.ts'
import { CONFIG_ROOMS, CONFIG_THREADS, type ConfigEngine, openConfigEngine } from '../lib/configs/engine.ts'
import { type ConfigJob, type ConfigJobResult, heapOfConfigJob } from '../lib/configs/jobs.ts'
import { classifyAgentError } from '../lib/configs/redact/agent-error.ts'
import { CommitDoubts } from '../lib/fleet/commit-doubts.ts'
import { Fleet } from '../lib/fleet/fleet.ts'
import {
  AGENT_LIMITS,
  type AgentLimits,
  FLEET_LIMITS,
  FLEET_POLLERS,
  keptBytesOf,
} from '../lib/fleet/state/agent-limits.ts'
import { FleetCounters } from '../lib/fleet/state/counters.ts'
import type { FleetDeps, FleetNotices } from '../lib/fleet/state/deps.ts'
import type { Workload } from '../lib/fleet/state/model.ts'
import type { Timers } from '../lib/fleet/state/timers.ts'
import { type CompareConfigs, EffectiveMatches } from '../lib/fleet/views/effective-matches.ts'
import { FleetViews } from '../lib/fleet/views/fleet-views.ts'
import { FleetConfigs } from '../lib/fleet-configs/fleet-configs.ts'
import { Hub } from '../lib/hub/hub.ts'
import { HubNotices } from '../lib/hub/notices.ts'
import { type Identity, type IdentityParts, openIdentity } from '../lib/identity/identity.ts'
import { PASSWORD_HEAP_BYTES, type PasswordJob, type PasswordResult } from '../lib/identity/password-job.ts'
import { openPasswords, type Passwords } from '../lib/identity/passwords.ts'
import type { Random } from '../lib/ids.ts'
import { LabelRules } from '../lib/label-rules/label-rules.ts'
import type { Log } from '../lib/log.ts'
import { grantsOf, scopesOf } from '../lib/model/scopes.ts'
import { createOpampExchange } from '../lib/opamp/exchange.ts'
import { openConfigTargets } from '../lib/posture/config-targets.ts'
import { RecommendedVersion } from '../lib/posture/recommended-version.ts'
import type { ReportJob, ReportJobResult } from '../lib/reports/jobs.ts'
import { KeptPacks } from '../lib/reports/kept-packs.ts'
import { ReportTurns } from '../lib/reports/turns.ts'
import { type ChangeReach, isReachWithin } from '../lib/selectors/within-scope.ts'
import type { Database, Db } from '../lib/store/db.ts'
import { listUserGroups } from '../lib/store/groups.ts'
import type { PoolStatistics } from '../lib/store/pool.ts'
import type { AgentError } from '../lib/store/pushes.ts'
import { openWorkerPool, type WorkerPool } from '../lib/workers/pool.ts'
import { openAlerting } from './alerting.ts'
import type { Config } from './config.ts'
import type { Context, Readiness } from './context.ts'
import type { Edition } from './editions.ts'
import { createIssuerFetch } from './issuer-fetch.ts'

const DAY_MS = 86_400_000

/** What the fleet and the alert engine call when something happens. */
export type Notices = FleetNotices & AlertNotices

/**
 * What all parts are made with. The service passes the machine's clock, timers and randomness; a test passes its own,
 * such as a clock that it moves.
 */
export interface Ground {
  config: Config
  edition: Edition
  clock: Clock
  timers: Timers
  random: Random
  log: Log
  /** The database of the process that decides; it refuses every transaction once another process decides. */
  db: Database
  running: Context['running']
  readiness: Readiness
  databaseStatistics: (() => PoolStatistics) | null
  cluster: Context['cluster']
  /** The network through which the alert webhook is called. */
  network: WebhookNetwork
  mayOffer: FleetDeps['mayOffer']
  hears: FleetDeps['hears']
  /** Nobody is told where it is absent: this process alone reads what agents report. */
  textsGone?: FleetDeps['textsGone']
  busyMs: FleetDeps['busyMs']
  openApi: Context['openApi']
  /** The bundled entry of a worker thread. */
  workerUrl(name: string): URL
  /** The most threads for passwords and for reports; for configs CONFIG_THREADS says. */
  threads: { password: number; report: number }
  /** In place of the engine over the config workers, for a test that wants no thread in between. */
  configs?: ConfigEngine
  /** Replaces how the fleet reads agents' configs, for a test. */
  readConfigs?: { normalise: FleetDeps['normalise']; compare: CompareConfigs }
  /** Wraps the notices, so that a test hears what the fleet tells browsers and alerts. */
  overhear?: (notices: Notices) => Notices
  agentLimits?: AgentLimits
  /** Campaigns go in stages through a workload with more instances than this; 20 where it is absent. */
  stagedAbove?: number
}

/** The parts of a process, ready to be started: only listeners, schedules and the fleet's own start are missing. */
export interface Composed {
  ctx: Context
  passwords: Passwords
  doubts: CommitDoubts
  workers: Readonly<Record<'password' | 'config' | 'report', WorkerPool<never, unknown>>>
  closeWorkers(): Promise<void>
}

/**
 * Make all parts of a process that decides, and connect them: for the service, for the tests, and for the processes of
 * the simulation (`test/sim/service`). Processes that need few of the parts have their own functions below.
 */
export function compose(ground: Ground): Composed {
  const { config, edition, clock, random, log, running, readiness, openApi, databaseStatistics, cluster } =
    ground
  const workers = openWorkers(ground)
  const passwords = openPasswords(workers.password, random)
  const { doubts, ...parts } = openParts(ground, workers.config, passwords)
  const ctx: Context = {
    ...parts,
    config,
    edition,
    clock,
    random,
    log,
    running,
    readiness,
    openApi,
    databaseStatistics,
    cluster,
    reportWorkers: workers.report,
    reportTurns: new ReportTurns(),
    keptReports: new KeptPacks(clock),
    opamp: createOpampExchange({
      fleet: parts.fleet,
      clock,
      log,
      messageBytesMax: config.opampMessageBytesMax,
      ...(config.cluster !== null && { pollersMax: FLEET_POLLERS }),
    }),
  }
  return {
    ctx,
    passwords,
    doubts,
    workers,
    closeWorkers: async () => {
      await Promise.all(Object.values(workers).map((pool) => pool.close()))
    },
  }
}

/** What decides, follows and tells: all that has a say in what the fleet does, with the database that they share. */
function openParts(ground: Ground, configWorkers: ConfigWorkers, passwords: Passwords) {
  const { config, clock, timers, log } = ground
  const hub = new Hub({ clock, timers })
  // The fleet stores agents' reports through this database, and before each change this database has the fleet store
  // them.
  const db: AuditedDatabase = openAuditedDatabase({
    ...ground,
    sink: ground.edition.auditSink,
    writeReports: () => fleet.writer.flush(),
    standsUnheard: () => doubts.note(),
  })
  const doubts: CommitDoubts = new CommitDoubts({
    db,
    timers,
    log,
    readRunsAgain() {
      campaigning.campaigns.doubtsEnded()
      campaigning.autoApply.doubtsEnded()
    },
    tellBrowsers: () => hub.announce({ type: 'resync' }),
  })
  const configs =
    ground.configs ??
    openConfigEngine({
      workers: configWorkers,
      runtimeCheck: openRuntimeCheck(config.runtimeValidation, clock),
      clock,
    })
  const identity = openPeople(ground, db, passwords, { followers: doubts, sockets: hub })
  const recommendedVersion = new RecommendedVersion({
    fallback: config.minAgentVersion,
    db,
    followers: doubts,
    workloadIds: () => fleet.state.workloads.keys(),
    shownAnew: (workloadId) => counters.shownAnew(workloadId),
  })
  const labelRules = new LabelRules({ db, hub, fleet: () => fleet, followers: doubts })
  const shared = { db, configs, hub, recommendedVersion, labelRules }
  const { fleet, views, counters, notices } = openFleet(ground, {
    ...shared,
    followers: doubts,
    fleetConfigs: () => fleetConfigs,
  })
  const fleetConfigs: FleetConfigs = new FleetConfigs({ db, clock, fleet, followers: doubts })
  const alerting = openAlerting(config, {
    ...ground,
    recommendedVersion,
    db,
    fleet,
    notices,
    findConflicts: () => fleetConfigs.conflicts(),
  })
  const deciding = { db, fleet, fleetConfigs, counters, hub, configs, news: alerting.news }
  const campaigning = openCampaigns(ground, deciding)
  return { ...shared, identity, fleet, fleetConfigs, views, counters, ...alerting, ...campaigning, doubts }
}

/** Users, sessions and rights. */
const openPeople = (
  { config, clock, random, log }: Pick<Ground, 'config' | 'clock' | 'random' | 'log'>,
  db: AuditedDatabase,
  passwords: Passwords,
  hearing: Pick<IdentityParts, 'followers' | 'sockets'>,
) =>
  openIdentity({
    ...hearing,
    db,
    clock,
    random,
    log,
    passwords,
    jwtSecret: config.jwtSecret,
    keptAdministrators: [config.seedAdmin?.email ?? [], config.onlyPasswordLogin ?? []].flat(),
    onlyPasswordLogin: config.onlyPasswordLogin,
    oidc: config.oidc,
    fetchFromIssuer: createIssuerFetch(config.outboundProxies),
  })

/** Users, sessions and rights without a fleet, for a command that changes users and ends. `close` ends its thread. */
export function composePeople(
  ground: Pick<Ground, 'config' | 'edition' | 'clock' | 'random' | 'log' | 'db' | 'workerUrl'>,
): { identity: Identity; close(): Promise<void> } {
  const { edition, clock, random, log } = ground
  const workers = openPasswordWorkers(ground, 1)
  const db = openAuditedDatabase({
    db: ground.db,
    clock,
    random,
    log,
    sink: edition.auditSink,
    // No fleet runs in this process, and nobody asks later whether a commit went through.
    writeReports: async () => {},
    standsUnheard: () => {},
  })
  // No socket of a browser ends in this process.
  const sockets = { sessionIds: () => [], endSessions: () => {} }
  const identity = openPeople(ground, db, openPasswords(workers, random), { followers: noFollowers, sockets })
  return { identity, close: () => workers.close() }
}

/** Whether a user may approve all of this now. */
const mayApprove = async (db: Db, userId: string, reach: ChangeReach): Promise<boolean> =>
  isReachWithin(scopesOf(grantsOf(await listUserGroups(db, userId)), 'config:approve'), reach)

/** What brings a config to many workloads: campaigns and auto-apply, and how these find their workloads. */
function openCampaigns(
  { config, clock, random, log, stagedAbove = STAGED_ABOVE }: Ground,
  parts: Pick<Context, 'db' | 'fleet' | 'fleetConfigs' | 'counters' | 'hub' | 'configs' | 'news'>,
): Pick<Context, 'configTargets' | 'campaigns' | 'autoApply'> {
  const { db, fleet, fleetConfigs } = parts
  const configTargets = openConfigTargets(fleet, db)
  const campaignParts = {
    ...parts,
    config,
    clock,
    random,
    log,
    configTargets,
    mayApprove: (userId: string, reach: ChangeReach) => mayApprove(db, userId, reach),
    reservationOf: (workload: Workload) => fleetConfigs.reservationOf(workload),
    whoReserves: (workload: Workload) => fleetConfigs.whoReserves(workload),
    freezeOf: (workload: Workload) => fleetConfigs.freezeOf(workload),
    stagedAbove,
  }
  const campaigns = new Campaigns(campaignParts)
  return { configTargets, campaigns, autoApply: new AutoApply(campaignParts) }
}

type ConfigWorkers = ReturnType<typeof openConfigWorkers>

/** Threads that read configs. */
export const openConfigWorkers = ({ workerUrl, log }: Pick<Ground, 'workerUrl' | 'log'>) =>
  openWorkerPool<ConfigJob, ConfigJobResult>({
    name: 'config',
    entry: workerUrl('config'),
    maxThreads: CONFIG_THREADS,
    maxQueued: 0,
    rooms: CONFIG_ROOMS,
    timeoutMs: 30_000,
    heapMbMax: 512,
    heapBytesOf: heapOfConfigJob,
    log,
  })

/** Threads that hash passwords. */
const openPasswordWorkers = ({ workerUrl, log }: Pick<Ground, 'workerUrl' | 'log'>, maxThreads: number) =>
  openWorkerPool<PasswordJob, PasswordResult>({
    name: 'password',
    entry: workerUrl('password'),
    maxThreads,
    heapBytesOf: () => PASSWORD_HEAP_BYTES,
    log,
    maxQueued: 64,
    timeoutMs: 15_000,
  })

function openWorkers({ workerUrl, threads, log }: Ground) {
  return {
    password: openPasswordWorkers({ workerUrl, log }, threads.password),
    config: openConfigWorkers({ workerUrl, log }),
    report: openWorkerPool<ReportJob, ReportJobResult>({
      name: 'report',
      entry: workerUrl('report'),
      maxThreads: threads.report,
      maxQueued: 8,
      timeoutMs: 60_000,
      heapMbMax: 2_048,
      log,
    }),
  }
}

/**
 * What agents say of themselves may take a quarter of the heap: what else is kept of an agent that says as much as a
 * collector does takes the rest.
 */
function limitsOf({ cluster }: Config): AgentLimits {
  const kept = keptBytesOf(Math.floor(getHeapStatistics().heap_size_limit / 4))
  return { ...(cluster === null ? AGENT_LIMITS : FLEET_LIMITS), ...kept }
}

/** What is asked before a campaign goes further in its stages, inside the transaction that would begin one. */
const furtherParts = (config: Config, fleetConfigs: FleetConfigs, tx: Db) => ({
  fleetConfigs,
  config,
  mayApprove: (userId: string, reach: ChangeReach) => mayApprove(tx, userId, reach),
})

/** The fleet, its counters, its form on the wire, and its notices to browsers. */
function openFleet(
  ground: Ground,
  parts: Pick<Context, 'db' | 'configs' | 'hub' | 'recommendedVersion' | 'labelRules'> & {
    followers: CommitFollowers
    fleetConfigs: () => FleetConfigs
  },
) {
  const { db, configs, hub, recommendedVersion, labelRules, followers } = parts
  const { config, clock, timers, random, log } = ground
  // Counters, notices and fleet call each other: each uses the others only in functions that run later, when all
  // exist.
  const counters = new FleetCounters(followers, (workloadId) => {
    const workload = fleet.workload(workloadId)
    if (workload !== null) notices.workloadChanged(workload)
  })
  const hubNotices = new HubNotices(hub, counters, () => views)
  const notices: Notices = ground.overhear?.(hubNotices) ?? hubNotices
  const read = ground.readConfigs ?? readingWith(configs)
  const fleet: Fleet = new Fleet({
    db,
    clock,
    log,
    random,
    timers,
    notices,
    followers,
    isCompatible,
    mayOffer: ground.mayOffer,
    hears: ground.hears,
    textsGone: ground.textsGone ?? (() => {}),
    busyMs: ground.busyMs,
    classifyError: classifyForFleet,
    normalise: read.normalise,
    // Whether they were too old was asked at the push, for all its stages.
    isStillApproved: async (tx, approval, workload) =>
      (await readStanding(tx, approval, workload, approval.pushedAt ?? clock.now())).judgement.isEnough,
    whyNotFurther: (tx, workload, push) =>
      whyNotFurther(furtherParts(config, parts.fleetConfigs(), tx), tx, workload, push),
    ruleLabels: (fingerprintKeys) => labelRules.labelsFor(fingerprintKeys),
    graceMs: config.disconnectGraceMs,
    agentLimits: ground.agentLimits ?? limitsOf(config),
  })
  const views: FleetViews = new FleetViews({
    fleet,
    counters,
    clock,
    classifyError: classifyForFleet,
    matches: new EffectiveMatches(db, read.compare),
    learnt: (workload) => notices.workloadChanged(workload),
    recommendedVersion,
    retentionMs: config.retentionDays * DAY_MS,
  })
  return { fleet, views, counters, notices }
}

/**
 * Read agents' configs in worker threads. Where no thread is free, `normalise` says 'busy' and `compare` null, and the
 * fleet asks again later; also where a thread gave a text up, after a while.
 */
export const readingWith = (configs: ConfigEngine): NonNullable<Ground['readConfigs']> => ({
  async normalise(text, own) {
    const read = await configs.normalForm(text, own)
    if (read.ok) return read.form
    return read.gaveUp === true ? 'given-up' : 'busy'
  },
  async compare(asked, reported) {
    const compared = await configs.effectiveMatch(asked, reported)
    return compared.ok ? { matches: compared.match.verdict, paths: compared.match.paths } : null
  },
})

/** Classify an agent's error, and keep only the fields that the fleet keeps. */
function classifyForFleet(raw: string, options?: { withText: boolean }): AgentError {
  const { cause, title, parameters, text } = classifyAgentError(raw, options)
  return { cause, title, parameters: { ...parameters }, text }
}
