import { hasWalls } from '../lib/configs/check/sandbox.ts'
import type { Log } from '../lib/log.ts'
import { openPool, type Pool, type PoolOptions } from '../lib/store/pool.ts'
import type { WorkerPool } from '../lib/workers/pool.ts'
import type { Config } from './config.ts'
import { Descriptors, readDescriptorLimit } from './descriptor-room.ts'
import { readMemory, watchMemory } from './memory-guard.ts'
import { createProxyPolicy, type ProxyPolicy } from './proxies.ts'

// What a process starts in the same way whether it is alone (`service.ts`) or one of several (`fronts/member.ts`).

/** Open the pool of database sessions, with the numbers and ages that the settings allow. */
export function openConfiguredPool(
  config: Config,
  rest: Omit<PoolOptions, 'dsn' | 'maxOpen' | 'maxIdle' | 'idleTimeoutMs' | 'lifetimeMs'>,
): Pool {
  return openPool({
    dsn: config.databaseDsn,
    maxOpen: config.databaseMaxOpen,
    maxIdle: config.databaseMaxIdle,
    idleTimeoutMs: config.databaseIdleTimeoutMs,
    lifetimeMs: config.databaseLifetimeMs,
    ...rest,
  })
}

/**
 * Read from the settings whose forwarding headers count. An entry that is no address is logged, and so is that there is
 * none although a proxy has to stand in front: this process speaks no TLS.
 */
export function readProxyPolicy(
  { trustedProxies, publicUrl }: Pick<Config, 'trustedProxies' | 'publicUrl'>,
  log: Log,
): ProxyPolicy {
  const isPublicSecure = publicUrl.startsWith('https:')
  if (isPublicSecure && trustedProxies.length === 0)
    log.warn(
      {},
      'MUSTER_PUBLIC_URL is https, so a proxy stands in front, and MUSTER_TRUSTED_PROXIES names none: all who come through it count as one address, and one of them can use up the failed sign-ins of all',
    )
  const onBadEntry = (entry: string) =>
    log.warn({ entry }, 'MUSTER_TRUSTED_PROXIES holds an entry that is no address and no block')
  return createProxyPolicy(trustedProxies, onBadEntry, isPublicSecure)
}

/** Count what connections hold of the descriptors that this process may have; say where agents' sockets may need more. */
export function openDescriptors(
  { socketLimits }: Pick<Config, 'socketLimits'>,
  log: Log,
  limit: number | null = readDescriptorLimit(),
): Descriptors {
  const { inAll } = socketLimits
  const descriptors = new Descriptors(limit)
  const most = descriptors.mostSocketsOfAgents
  if (most < inAll) log.warn({ most }, FEW_DESCRIPTORS)
  return descriptors
}

const FEW_DESCRIPTORS =
  'this process may not have as many files open as MUSTER_MAX_SOCKETS allows agents beside all else: beyond `most` they are turned away'

/** Say in the log that agents need no credential, where they need none. */
export function warnOfOpenDoor({ opampSharedSecret }: Config, log: Log): void {
  if (opampSharedSecret === '')
    log.warn({}, 'OPAMP_SHARED_SECRET is empty: any client may connect as an agent')
}

/**
 * Say in the log that drafts are not tried in a collector, where that was asked for and this system cannot confine one.
 */
export async function warnOfMissingWalls({ runtimeValidation }: Config, log: Log): Promise<void> {
  if (runtimeValidation.isEnabled && !(await hasWalls()))
    log.warn({}, 'no collector will try drafts: this system does not let muster put one behind walls')
}

/** Cut agents that finish no message when memory runs short, not counting what worker threads take. */
export const watchProcessMemory = (
  log: Log,
  workers: () => readonly Pick<WorkerPool<never, unknown>, 'heapBytes'>[],
  cutQuiet: (sinceMs: number) => number,
) =>
  watchMemory({
    log,
    read: readMemory,
    inWorkers: async () => {
      const taken = await Promise.all(workers().map((pool) => pool.heapBytes()))
      return taken.reduce((sum, bytes) => sum + bytes, 0)
    },
    cutQuiet,
  })
