import { systemWebhookNetwork } from '../lib/alerts/webhook-client.ts'
import type { Clock } from '../lib/clock.ts'
import type { FleetDeps } from '../lib/fleet/state/deps.ts'
import { systemTimers } from '../lib/fleet/state/timers.ts'
import { requirePasswordAdministrator, seedAdministrator } from '../lib/identity/bootstrap.ts'
import { systemRandom } from '../lib/ids.ts'
import type { Db } from '../lib/store/db.ts'
import { fenced } from '../lib/store/fenced.ts'
import type { Pool } from '../lib/store/pool.ts'
import type { ProcessLock } from '../lib/store/process-lock.ts'
import { type Composed, compose } from './compose.ts'
import type { Context } from './context.ts'
import { createCommunityEdition, createCompleteEdition } from './editions.ts'
import { workerUrl } from './files.ts'
import type { LoadedFunctions } from './loader.ts'
import { buildOpenApi } from './openapi.ts'
import type { ServiceOptions } from './service.ts'
import { VERSION } from './version.ts'

/** What the deciding part of a process is started with. */
export interface OwnerGround {
  options: ServiceOptions
  functions: LoadedFunctions
  pool: Pool
  lock: ProcessLock
  clock: Clock
  /** The processes of which this is one; absent where it is alone. */
  cluster?: Context['cluster']
  textsGone?: FleetDeps['textsGone']
  /** Keeps a process that may not decide any more from storing and from offering. */
  fence: {
    /** Throws where this process knows of itself that it may not store anything now; nothing to ask for one that is alone. */
    mayBegin?(): void
    /** Throws, which takes the transaction back, when another process has become the active one. */
    checkEpoch(tx: Db): Promise<void>
    mayOffer: FleetDeps['mayOffer']
    hears: FleetDeps['hears']
  }
}

/** The part of a process that decides: the fleet over what is stored, without listeners and schedules. */
export interface Owner {
  ctx: Context
  workers: Composed['workers']
  /** Stop deciding, and store what waits to be stored. */
  halt(): Promise<void>
  /** End the worker threads. */
  close(): Promise<void>
}

/**
 * Make the deciding part of a process that holds the lock, load what is stored and begin to decide. Rejects with
 * everything closed again.
 */
export async function startOwner(ground: OwnerGround): Promise<Owner> {
  const { pool, options } = ground
  const { ctx, passwords, workers, closeWorkers, doubts } = composeOwner(ground)
  const halt = async () => {
    await ctx.fleet.stop()
    doubts.stop()
  }
  try {
    const { seedAdmin, onlyPasswordLogin } = options.config
    if (seedAdmin !== null) await seedAdministrator(seedAdmin, { ...ctx, passwords })
    await ctx.identity.oidc?.noteMissingGroups()
    if (onlyPasswordLogin !== null) await requirePasswordAdministrator(pool, onlyPasswordLogin)
    await ctx.counters.load(pool)
    await ctx.recommendedVersion.load(pool)
    await ctx.fleetConfigs.load(pool)
    await ctx.labelRules.load(pool)
    await ctx.fleet.start()
  } catch (error) {
    doubts.stop()
    // What it has begun may not write any more once this process holds the lock again.
    await ctx.fleet.stop().catch(() => undefined)
    await closeWorkers()
    throw error
  }
  return { ctx, workers, halt, close: closeWorkers }
}

/** The parts of this process, over its lock and the machine's clock, timers and network. */
function composeOwner({ options, functions, pool, lock, clock, fence, cluster, textsGone }: OwnerGround) {
  const { config, files, log } = options
  // Made when somebody asks: the start need not wait for it.
  let openApiText: string | null = null
  const composed = compose({
    config,
    clock,
    log,
    timers: systemTimers,
    random: systemRandom,
    edition: config.edition === 'complete' ? createCompleteEdition() : createCommunityEdition(),
    running: { version: VERSION, nodeVersion: process.versions.node, startedAt: clock.now() },
    readiness: { ping: (timeoutMs) => lock.ping(timeoutMs) },
    databaseStatistics: () => pool.statistics(),
    cluster: cluster ?? null,
    network: options.webhookNetwork ?? { ...systemWebhookNetwork, proxies: config.outboundProxies },
    db: fenced(
      pool,
      (tx) => fence.checkEpoch(tx),
      () => fence.mayBegin?.(),
    ),
    mayOffer: () => fence.mayOffer(),
    hears: () => fence.hears(),
    ...(textsGone !== undefined && { textsGone }),
    busyMs: () => performance.eventLoopUtilization().active,
    openApi: () => (openApiText ??= JSON.stringify(buildOpenApi(functions.http, VERSION))),
    workerUrl: (name) => workerUrl(files, name),
    threads: { password: 2, report: 2 },
  })
  return { ...composed, ctx: Object.freeze(composed.ctx) }
}
