import { systemWebhookNetwork, type WebhookNetwork } from '../lib/alerts/webhook-client.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { hasWalls } from '../lib/configs/check/sandbox.ts'
import { CommitDoubts } from '../lib/fleet/commit-doubts.ts'
import { systemTimers } from '../lib/fleet/state/timers.ts'
import { seedAdministrator } from '../lib/identity/bootstrap.ts'
import { systemRandom } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { migrate, readMigrations } from '../lib/store/migrate.ts'
import { openPool, type Pool } from '../lib/store/pool.ts'
import { openProcessLock, type ProcessLock } from '../lib/store/process-lock.ts'
import { compose } from './compose.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { createCommunityEdition, createCompleteEdition } from './editions.ts'
import { type RuntimeFiles, workerUrl } from './files.ts'
import { type LoadedFunctions, loadFunctions } from './loader.ts'
import { FUNCTIONS } from './manifest.generated.ts'
import { readMemory, watchMemory } from './memory-guard.ts'
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

/** The parts of this process, over its lock and the machine's clock, timers and network. */
function composeService(
  options: ServiceOptions,
  functions: LoadedFunctions,
  pool: Pool,
  lock: ProcessLock,
  clock: Clock,
) {
  const { config, files, log } = options
  // Made when somebody asks: the start need not wait for it.
  let openApiText: string | null = null
  const composed = compose({
    ...{ config, clock, log, db: pool, timers: systemTimers, random: systemRandom },
    edition: config.edition === 'complete' ? createCompleteEdition() : createCommunityEdition(),
    running: { version: VERSION, nodeVersion: process.versions.node, startedAt: clock.now() },
    readiness: { ping: (timeoutMs) => lock.ping(timeoutMs) },
    databaseStatistics: () => pool.statistics(),
    network: options.webhookNetwork ?? { ...systemWebhookNetwork, proxies: config.outboundProxies },
    checkEpoch: (tx) => lock.checkEpoch(tx),
    mayOffer: () => lock.isHeld(),
    openApi: () => (openApiText ??= JSON.stringify(buildOpenApi(functions.http, VERSION))),
    workerUrl: (name) => workerUrl(files, name),
    threads: { password: 2, report: 2 },
  })
  const { counters, fleet, hub } = composed.ctx
  const doubts = new CommitDoubts({
    ...{ db: pool, timers: systemTimers, log, counters, fleet },
    tellBrowsers: () => hub.announce({ type: 'resync' }),
  })
  pool.onCommitInDoubt = () => doubts.note()
  return { ...composed, ctx: Object.freeze(composed.ctx), doubts }
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
  const parts = composeService(options, functions, pool, lock, clock)
  const { ctx, passwords, workers, closeWorkers, doubts } = parts
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
    await ctx.recommendedVersion.load(pool)
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
    const memory = watchMemory({
      log,
      read: readMemory,
      inWorkers: async () => {
        const taken = await Promise.all(Object.values(workers).map((pool) => pool.heapBytes()))
        return taken.reduce((sum, bytes) => sum + bytes, 0)
      },
      cutQuiet: (sinceMs) => opamp.cutQuiet(sinceMs),
    })
    closers.push(() => memory.stop())
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
        memory.stop()
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
