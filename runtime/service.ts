import type { WebhookNetwork } from '../lib/alerts/webhook-client.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { Alone } from '../lib/cluster/alone.ts'
import { DatabaseWatch } from '../lib/cluster/database-watch.ts'
import { FORGET_MS } from '../lib/cluster/timing.ts'
import { systemTimers } from '../lib/fleet/state/timers.ts'
import type { Log } from '../lib/log.ts'
import type { Db } from '../lib/store/db.ts'
import { removeSilentMembers } from '../lib/store/members.ts'
import { migrate, readMigrations } from '../lib/store/migrate.ts'
import type { Pool } from '../lib/store/pool.ts'
import { openProcessLock, type ProcessLock } from '../lib/store/process-lock.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { drain } from './drain.ts'
import type { RuntimeFiles } from './files.ts'
import { type HealthListener, startHealthListener } from './health-listener.ts'
import type { Listener } from './listener.ts'
import { type LoadedFunctions, loadFunctions } from './loader.ts'
import type { LoopWatch } from './loop-watch.ts'
import { FUNCTIONS } from './manifest.generated.ts'
import { renderMetrics } from './metrics.ts'
import { type MetricsListener, startMetricsListener } from './metrics-listener.ts'
import { type Owner, startOwner } from './owner.ts'
import {
  openConfiguredPool,
  openDescriptors,
  readProxyPolicy,
  warnOfMissingWalls,
  warnOfOpenDoor,
  watchProcessMemory,
} from './process-parts.ts'
import { startSchedules } from './scheduler.ts'
import {
  answerAsStandby,
  createApiHandlers,
  startApiListener,
  startOpampListener,
  startStandbyListener,
} from './server.ts'
import { openStaticFiles } from './static-files.ts'

/** What a service is started with. */
export interface ServiceOptions {
  config: Config
  files: RuntimeFiles
  log: Log
  clock?: Clock
  /** The machine's own unless a test passes another. */
  webhookNetwork?: WebhookNetwork
  /** How many file descriptors the process may have open; what the system says unless a test passes another number. */
  descriptorLimit?: number
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
  const alone = new Alone({ clock, log })
  const lock = openProcessLock({
    connect: () => pool.openReserved('control'),
    clock,
    log,
    onLost: (why) => options.onFatal(why),
    mayClaim: (connection) => alone.mayClaim(connection),
  })
  let standby: Listener | null = null
  try {
    await lock.acquire(signal, () => {
      standby = startStandbyListener(config.listenAddress)
      log.info({ port: standby.port }, 'standby: healthz answers, nothing else does')
    })
    await migrate(lock.connection(), readMigrations(files.migrations), { clock, log })
    // Nobody waits another time for members that were killed and do not come back.
    await removeSilentMembers(lock.connection(), FORGET_MS)
  } catch (error) {
    await lock.release()
    throw error
  } finally {
    // The API listener needs its port.
    ;(standby as Listener | null)?.stopListening()
    ;(standby as Listener | null)?.destroy()
  }
  return lock
}

/** Watch whether the sessions of the lock and of the pool still answer. */
function startWatch(pool: Pool, lock: ProcessLock, clock: Clock): DatabaseWatch {
  const watch = new DatabaseWatch({
    connect: () => pool.openReserved('watch'),
    clock,
    timers: systemTimers,
    onAnswered: () => lock.probe(),
    onHeardAgain: (sinceMs) => pool.endUnheard(sinceMs),
  })
  watch.start()
  return watch
}

/** Start the whole service; rejects when it cannot, with everything closed again. */
export async function startService(
  options: ServiceOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<RunningService> {
  const { config, log } = options
  const clock = options.clock ?? systemClock
  const functions = loadFunctions(FUNCTIONS)
  const health = startHealthListener(config.healthAddress, answerAsStandby)
  const pool = openConfiguredPool(config, { reserved: 2, clock, log })
  try {
    const lock = await takeDatabase(options, pool, clock, signal)
    return await serve(options, { functions, pool, lock, clock, health })
  } catch (error) {
    health?.stop()
    await pool.close()
    throw error
  }
}

/** What a service opens besides its database and the part that decides. */
interface Doors {
  health: HealthListener | null
  api: Listener
  opamp: Listener
  memory: ReturnType<typeof watchProcessMemory>
  metrics: MetricsListener | null
}

/** Close the doors that are open, the last one first. */
function closeDoors({ api, opamp, memory, metrics }: Partial<Doors>): void {
  metrics?.stop()
  memory?.stop()
  opamp?.destroy()
  api?.destroy()
}

/** Open the listeners and watch the memory; rejects when one cannot be opened, with the others closed again. */
async function openDoors(
  { config, files, log, descriptorLimit }: ServiceOptions,
  functions: LoadedFunctions,
  { ctx, workers }: Owner,
  health: HealthListener | null,
): Promise<Doors> {
  const proxies = readProxyPolicy(config, log)
  const descriptors = openDescriptors(config, log, descriptorLimit)
  const opened: Partial<Doors> = {}
  try {
    // It has no links to cut: a process that owns alone and is replaced ends as soon as it hears of it.
    const neverUnsure = async () => null
    const handlers = createApiHandlers(functions, openStaticFiles(files.ui), ctx, proxies, neverUnsure)
    const api = startApiListener(descriptors, config.listenAddress, handlers, proxies)
    opened.api = api
    health?.use(handlers.handle)
    await warnOfMissingWalls(config, log)
    warnOfOpenDoor(config, log)
    const opamp = startOpampListener(functions, ctx, proxies, descriptors)
    opened.opamp = opamp
    const memory = watchProcessMemory(
      log,
      () => Object.values(workers),
      (sinceMs) => opamp.cutQuiet(sinceMs),
    )
    opened.memory = memory
    const measure = (loop: LoopWatch) =>
      renderMetrics(ctx, { loop, pressure: { listeners: { api, opamp }, workers } })
    const metrics =
      config.metricsAddress === '' ? null : startMetricsListener(config.metricsAddress, ctx.clock, measure)
    return { health, api, opamp, memory, metrics }
  } catch (error) {
    closeDoors(opened)
    throw error
  }
}

/** Let clients finish what is under way, write down what waits, and close everything. */
async function stopInOrder(
  { health, api, opamp, memory, metrics }: Doors,
  schedules: ReturnType<typeof startSchedules>,
  owner: Owner,
): Promise<void> {
  const { clock, hub } = owner.ctx
  const untilMs = clock.monotonicMs() + STOP_BUDGET_MS - 2_000
  health?.stop()
  api.stopListening()
  opamp.stopListening()
  memory.stop()
  await Promise.race([schedules.stop(), new Promise((resolve) => setTimeout(resolve, 2_000))])
  await drain([api], untilMs, clock)
  hub.flush()
  for (const socket of api.sockets()) socket.close(GOING_AWAY, 'server is stopping')
  await owner.halt()
  // Agents are cut without a Close frame, which would strand some of them.
  for (const socket of opamp.sockets()) socket.drop()
  api.destroy()
  opamp.destroy()
  metrics?.stop()
  await owner.close()
}

/** Start the deciding part and open the listeners; rejects with everything closed and the lock given back. */
async function serve(
  options: ServiceOptions,
  parts: {
    functions: LoadedFunctions
    pool: Pool
    lock: ProcessLock
    clock: Clock
    health: HealthListener | null
  },
): Promise<RunningService> {
  const { functions, pool, lock, clock, health } = parts
  const watch = startWatch(pool, lock, clock)
  const closers: (() => Promise<unknown> | unknown)[] = [() => lock.release(), () => watch.stop()]
  try {
    const fence = {
      checkEpoch: (tx: Db) => lock.checkEpoch(tx),
      mayOffer: () => lock.isHeld(),
      hears: () => true,
    }
    const owner = await startOwner({ options, functions, pool, lock, clock, fence })
    closers.push(
      () => owner.close(),
      () => owner.halt(),
    )
    const doors = await openDoors(options, functions, owner, health)
    closers.push(() => closeDoors(doors))
    const schedules = startSchedules(functions.schedules, owner.ctx)
    const { api, opamp, metrics } = doors
    const { edition } = options.config
    options.log.info({ api_port: api.port, opamp_port: opamp.port, edition }, 'muster is up')
    return {
      ctx: owner.ctx,
      apiPort: api.port,
      opampPort: opamp.port,
      metricsPort: metrics?.port ?? null,
      async stop() {
        await stopInOrder(doors, schedules, owner)
        await watch.stop()
        await lock.release()
        await pool.close()
      },
    }
  } catch (error) {
    for (const close of closers.reverse()) await close()
    throw error
  }
}
