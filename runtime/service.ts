import { systemWebhookNetwork, type WebhookNetwork } from '../lib/alerts/webhook-client.ts'
import { deliverAfterCommit } from '../lib/audit/after-commit.ts'
import { openAuditTrail } from '../lib/audit/trail.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { isCompatible } from '../lib/configs/check/components.ts'
import { openRuntimeCheck } from '../lib/configs/check/runtime-check.ts'
import { hasWalls } from '../lib/configs/check/sandbox.ts'
import { CONFIG_ROOMS, CONFIG_THREADS, type ConfigEngine, openConfigEngine } from '../lib/configs/engine.ts'
import type { ConfigJob, ConfigJobResult } from '../lib/configs/jobs.ts'
import { CommitDoubts } from '../lib/fleet/commit-doubts.ts'
import { Fleet } from '../lib/fleet/fleet.ts'
import { AGENT_LIMITS } from '../lib/fleet/state/agent-limits.ts'
import { FleetCounters } from '../lib/fleet/state/counters.ts'
import type { FleetDeps } from '../lib/fleet/state/deps.ts'
import { systemTimers } from '../lib/fleet/state/timers.ts'
import { EffectiveMatches } from '../lib/fleet/views/effective-matches.ts'
import { FleetViews } from '../lib/fleet/views/fleet-views.ts'
import { Hub } from '../lib/hub/hub.ts'
import { HubNotices } from '../lib/hub/notices.ts'
import { seedAdministrator } from '../lib/identity/bootstrap.ts'
import { openIdentity } from '../lib/identity/identity.ts'
import type { PasswordJob, PasswordResult } from '../lib/identity/password-job.ts'
import { openPasswords } from '../lib/identity/passwords.ts'
import { systemRandom } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createOpampExchange } from '../lib/opamp/exchange.ts'
import { openConfigTargets } from '../lib/posture/config-targets.ts'
import { classifyAgentError } from '../lib/redact/agent-error.ts'
import type { ReportJob, ReportJobResult } from '../lib/reports/jobs.ts'
import { ReportTurns } from '../lib/reports/turns.ts'
import { migrate, readMigrations } from '../lib/store/migrate.ts'
import { openPool, type Pool } from '../lib/store/pool.ts'
import { openProcessLock, type ProcessLock } from '../lib/store/process-lock.ts'
import type { AgentError } from '../lib/store/pushes.ts'
import { openWorkerPool } from '../lib/workers/pool.ts'
import { openAlerting } from './alerting.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { createCommunityEdition, createCompleteEdition } from './editions.ts'
import { type RuntimeFiles, workerUrl } from './files.ts'
import { type LoadedFunctions, loadFunctions } from './loader.ts'
import { FUNCTIONS } from './manifest.generated.ts'
import { type MetricsListener, startMetricsListener } from './metrics-listener.ts'
import { buildOpenApi } from './openapi.ts'
import { createProxyPolicy } from './proxies.ts'
import { startSchedules } from './scheduler.ts'
import { startApiListener, startOpampListener, startStandbyListener } from './server.ts'
import { loadStaticFiles } from './static-files.ts'
import type { Listener } from './uws.ts'
import { VERSION } from './version.ts'

/** What a service is started with. */
export interface ServiceOptions {
  config: Config
  files: RuntimeFiles
  log: Log
  clock?: Clock
  /** The machine's own unless a test passes another. */
  webhookNetwork?: WebhookNetwork
  /** Runs when the service cannot go on: another process has taken over. */
  onFatal(reason: string): void
}

/** A service that is up. */
export interface RunningService {
  ctx: Context
  apiPort: number
  opampPort: number
  /** Null when metrics are off. */
  metricsPort: number | null
  /** Stop in good order within the budget; never throws. */
  stop(): Promise<void>
}

/** How long a graceful stop may take in all. */
export const STOP_BUDGET_MS = 10_000
const GOING_AWAY = 1001
const DAY_MS = 86_400_000

/** Open the database, become the active process, bring the schema up to date. */
async function takeDatabase(
  options: ServiceOptions,
  pool: Pool,
  clock: Clock,
  signal: AbortSignal,
): Promise<ProcessLock> {
  const { config, files, log } = options
  const lock = openProcessLock({
    connect: () => pool.openReserved('control'),
    clock,
    log,
    onLost: () => options.onFatal('another process has become the active one'),
  })
  let standby: Listener | null = null
  try {
    await lock.acquire(signal, () => {
      standby = startStandbyListener(config.listenAddress)
      log.info({ port: standby.port }, 'standby: healthz answers, nothing else does')
    })
    await migrate(lock.connection(), await readMigrations(files.migrations), { clock, log })
  } catch (error) {
    await lock.release()
    throw error
  } finally {
    // Its port is needed by the listener proper.
    ;(standby as Listener | null)?.stopListening()
    ;(standby as Listener | null)?.destroy()
  }
  return lock
}

function openContext(
  options: ServiceOptions,
  functions: LoadedFunctions,
  pool: Pool,
  lock: ProcessLock,
  clock: Clock,
) {
  const { config, files, log } = options
  const edition = config.edition === 'complete' ? createCompleteEdition() : createCommunityEdition()
  const random = systemRandom
  const passwordWorkers = openWorkerPool<PasswordJob, PasswordResult>({
    name: 'password',
    entry: workerUrl(files, 'password'),
    maxThreads: 2,
    maxQueued: 64,
    timeoutMs: 15_000,
    log,
  })
  const passwords = openPasswords(passwordWorkers, random)
  const checkEpoch: FleetDeps['checkEpoch'] = (tx) => lock.checkEpoch(tx)
  const audit = openAuditTrail({ db: pool, clock, random, log, sink: edition.auditSink, checkEpoch })
  const identity = openIdentity({
    ...{ db: pool, clock, random, log, audit, passwords },
    jwtSecret: config.jwtSecret,
    seedAdminEmail: config.seedAdmin?.email ?? null,
  })
  const configWorkers = openWorkerPool<ConfigJob, ConfigJobResult>({
    name: 'config',
    entry: workerUrl(files, 'config'),
    maxThreads: CONFIG_THREADS,
    maxQueued: 0,
    rooms: CONFIG_ROOMS,
    timeoutMs: 30_000,
    heapMbMax: 512,
    log,
  })
  const configs = openConfigEngine({
    workers: configWorkers,
    runtimeCheck: openRuntimeCheck(config.runtimeValidation, clock),
  })
  const counters = new FleetCounters()
  const hub = new Hub({ clock, timers: systemTimers })
  identity.onSessionsEnded((sessionIds) => hub.endSessions(sessionIds))
  const notices = new HubNotices(hub, counters)
  const fleet = new Fleet(fleetDeps(options, pool, lock, clock, audit, notices, configs))
  const views = new FleetViews({
    ...{ fleet, counters, clock },
    matches: new EffectiveMatches(pool, compareWith(configs)),
    classifyError: classifyForFleet,
    minAgentVersion: config.minAgentVersion,
    retentionMs: config.retentionDays * DAY_MS,
  })
  notices.attach(views)
  counters.changed = (workloadId) => {
    const workload = fleet.workload(workloadId)
    if (workload !== null) notices.workloadChanged(workload)
  }
  const { alerts, webhooks } = openAlerting(config, {
    ...{ db: pool, clock, random, log, fleet, notices },
    network: options.webhookNetwork ?? systemWebhookNetwork,
    checkEpoch,
  })
  const opamp = createOpampExchange({
    ...{ fleet, clock, log },
    messageBytesMax: config.opampMessageBytesMax,
  })
  const reportWorkers = openWorkerPool<ReportJob, ReportJobResult>({
    name: 'report',
    entry: workerUrl(files, 'report'),
    maxThreads: 2,
    maxQueued: 8,
    timeoutMs: 60_000,
    heapMbMax: 2_048,
    log,
  })
  const doubts = new CommitDoubts({
    ...{ db: pool, timers: systemTimers, log, counters, fleet },
    tellBrowsers: () => hub.announce({ type: 'resync' }),
  })
  pool.onCommitInDoubt = () => doubts.note()
  // Made when somebody asks: the start need not wait for it.
  let openApiText: string | null = null
  const ctx: Context = Object.freeze({
    ...{ config, edition, clock, random, log, db: pool, identity, audit, opamp, fleet, views, hub, counters },
    ...{ alerts, webhooks, reportWorkers, reportTurns: new ReportTurns() },
    running: { version: VERSION, nodeVersion: process.versions.node, startedAt: clock.now() },
    openApi: () => (openApiText ??= JSON.stringify(buildOpenApi(functions.http, VERSION))),
    configs,
    configTargets: openConfigTargets(fleet, pool),
    databaseStatistics: () => pool.statistics(),
    readiness: { ping: (timeoutMs: number) => lock.ping(timeoutMs) },
  })
  const workers = { password: passwordWorkers, config: configWorkers, report: reportWorkers }
  const closeWorkers = async () => {
    await Promise.all(Object.values(workers).map((pool) => pool.close()))
  }
  return { ctx, passwords, workers, closeWorkers, doubts }
}

/** An agent's error without what the fleet does not keep. */
function classifyForFleet(raw: string, options?: { withText: boolean }): AgentError {
  const { cause, title, parameters, text } = classifyAgentError(raw, options)
  return { cause, title, parameters: { ...parameters }, text }
}

const compareWith = (configs: ConfigEngine) => async (asked: string, reported: string) => {
  const compared = await configs.effectiveMatch(asked, reported)
  return compared.ok ? { matches: compared.match.verdict, paths: compared.match.paths } : null
}

function fleetDeps(
  { config, log }: ServiceOptions,
  db: Pool,
  lock: ProcessLock,
  clock: Clock,
  audit: Context['audit'],
  notices: FleetDeps['notices'],
  configs: ConfigEngine,
): FleetDeps {
  const audited = deliverAfterCommit(db, audit)
  return {
    ...{ db: audited.db, clock, log, random: systemRandom, timers: systemTimers },
    notices,
    mayOffer: () => lock.isHeld(),
    checkEpoch: (tx) => lock.checkEpoch(tx),
    recordAudit: audited.record,
    classifyError: classifyForFleet,
    isCompatible,
    async normalise(text) {
      const read = await configs.normalForm(text)
      return read.ok ? read.form : 'busy'
    },
    graceMs: config.disconnectGraceMs,
    agentLimits: AGENT_LIMITS,
  }
}

async function drain(listener: Listener, untilMs: number, clock: Clock): Promise<void> {
  while (listener.inFlight() > 0 && clock.monotonicMs() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Start the whole service; rejects when it cannot, with everything closed again. */
export async function startService(
  options: ServiceOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<RunningService> {
  const { config, log } = options
  const clock = options.clock ?? systemClock
  const functions = loadFunctions(FUNCTIONS)
  const pool = openPool({
    dsn: config.databaseDsn,
    maxOpen: config.databaseMaxOpen,
    maxIdle: config.databaseMaxIdle,
    idleTimeoutMs: config.databaseIdleTimeoutMs,
    lifetimeMs: config.databaseLifetimeMs,
    clock,
    log,
  })
  try {
    const lock = await takeDatabase(options, pool, clock, signal)
    return await serve(options, functions, pool, lock, clock)
  } catch (error) {
    await pool.close()
    throw error
  }
}

async function serve(
  options: ServiceOptions,
  functions: LoadedFunctions,
  pool: Pool,
  lock: ProcessLock,
  clock: Clock,
): Promise<RunningService> {
  const { config, log } = options
  const { ctx, passwords, workers, closeWorkers, doubts } = openContext(options, functions, pool, lock, clock)
  const closers: (() => Promise<unknown> | unknown)[] = [
    () => lock.release(),
    closeWorkers,
    () => doubts.stop(),
  ]
  const unwind = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    if (config.seedAdmin !== null) await seedAdministrator(config.seedAdmin, { ...ctx, db: pool, passwords })
    await ctx.counters.load(pool)
    await ctx.fleet.start()
    closers.push(() => ctx.fleet.stop())
    const proxies = createProxyPolicy(config.trustedProxies, (entry) =>
      log.warn({ entry }, 'MUSTER_TRUSTED_PROXIES holds an entry that is no address and no block'),
    )
    const api = startApiListener(functions, loadStaticFiles(options.files.ui), ctx, proxies)
    closers.push(() => api.destroy())
    if (config.runtimeValidation.isEnabled && !(await hasWalls()))
      log.warn({}, 'no collector will try drafts: this system does not let muster put one behind walls')
    if (config.opampSharedSecret === '')
      log.warn({}, 'OPAMP_SHARED_SECRET is empty: any client may connect as an agent')
    const opamp = startOpampListener(functions, ctx, proxies)
    closers.push(() => opamp.destroy())
    const metrics: MetricsListener | null =
      config.metricsAddress === ''
        ? null
        : startMetricsListener(config.metricsAddress, ctx, { listeners: { api, opamp }, workers })
    closers.push(() => metrics?.stop())
    const schedules = startSchedules(functions.schedules, ctx)
    log.info({ api_port: api.port, opamp_port: opamp.port, edition: config.edition }, 'muster is up')
    return {
      ctx,
      apiPort: api.port,
      opampPort: opamp.port,
      metricsPort: metrics?.port ?? null,
      async stop() {
        const untilMs = clock.monotonicMs() + STOP_BUDGET_MS - 2_000
        api.stopListening()
        opamp.stopListening()
        await Promise.race([schedules.stop(), new Promise((resolve) => setTimeout(resolve, 2_000))])
        await drain(api, untilMs, clock)
        ctx.hub.flush()
        for (const socket of api.sockets()) socket.close(GOING_AWAY, 'server is stopping')
        await ctx.fleet.stop()
        doubts.stop()
        // Agents are cut without a Close frame, which would strand some of them.
        for (const socket of opamp.sockets()) socket.drop()
        api.destroy()
        opamp.destroy()
        metrics?.stop()
        await closeWorkers()
        await lock.release()
        await pool.close()
      },
    }
  } catch (error) {
    await unwind()
    throw error
  }
}
