import type { WebhookNetwork } from '../lib/alerts/webhook-client.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { hasWalls } from '../lib/configs/check/sandbox.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../lib/store/db.ts'
import { migrate, readMigrations } from '../lib/store/migrate.ts'
import { openPool, type Pool } from '../lib/store/pool.ts'
import { openProcessLock, type ProcessLock } from '../lib/store/process-lock.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import type { RuntimeFiles } from './files.ts'
import type { Listener } from './listener.ts'
import { type LoadedFunctions, loadFunctions } from './loader.ts'
import { FUNCTIONS } from './manifest.generated.ts'
import { readMemory, watchMemory } from './memory-guard.ts'
import { renderMetrics } from './metrics.ts'
import { type MetricsListener, startMetricsListener } from './metrics-listener.ts'
import { startOwner } from './owner.ts'
import { createProxyPolicy } from './proxies.ts'
import { startSchedules } from './scheduler.ts'
import { startApiListener, startOpampListener, startStandbyListener } from './server.ts'
import { loadStaticFiles } from './static-files.ts'

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
  const closers: (() => Promise<unknown> | unknown)[] = [() => lock.release()]
  const unwind = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const fence = { checkEpoch: (tx: Db) => lock.checkEpoch(tx), mayOffer: () => lock.isHeld() }
    const owner = await startOwner({ options, functions, pool, lock, clock, fence })
    const { ctx, workers } = owner
    closers.push(
      () => owner.close(),
      () => owner.halt(),
    )
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
        : startMetricsListener(config.metricsAddress, clock, (loop) =>
            renderMetrics(ctx, { loop, pressure: { listeners: { api, opamp }, workers } }),
          )
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
        await owner.halt()
        // Agents are cut without a Close frame, which would strand some of them.
        for (const socket of opamp.sockets()) socket.drop()
        api.destroy()
        opamp.destroy()
        metrics?.stop()
        await owner.close()
        await lock.release()
        await pool.close()
      },
    }
  } catch (error) {
    await unwind()
    throw error
  }
}
