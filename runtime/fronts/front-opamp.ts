import type { Clock } from '../../lib/clock.ts'
import { systemTimers } from '../../lib/fleet/state/timers.ts'
import type { FrontAgents } from '../../lib/links/front-agents.ts'
import type { Pool } from '../../lib/store/pool.ts'
import { composeFront } from '../compose-front.ts'
import type { Descriptors } from '../descriptor-room.ts'
import { workerUrl } from '../files.ts'
import type { Listener } from '../listener.ts'
import type { LoadedFunctions } from '../loader.ts'
import type { ProxyPolicy } from '../proxies.ts'
import { startOpampListener } from '../server.ts'
import type { ServiceOptions } from '../service.ts'

/** The agents of this process: their listener, and what tells the owner of them. */
export interface FrontOpamp {
  listener: Listener
  agents: FrontAgents
  workers: ReturnType<typeof composeFront>['workers']
  close(): Promise<void>
}

/**
 * Listen to agents on the owner's behalf. `isCutOff` says whether other members reach the owner while this process
 * does not.
 */
export function startFrontOpamp(parts: {
  options: ServiceOptions
  functions: LoadedFunctions
  proxies: ProxyPolicy
  descriptors: Descriptors
  pool: Pool
  clock: Clock
  isCutOff(): boolean
}): FrontOpamp {
  const { options, functions, proxies, descriptors, pool: db, clock, isCutOff } = parts
  const { config, files, log } = options
  const front = composeFront({
    config,
    clock,
    timers: systemTimers,
    log,
    db,
    workerUrl: (name) => workerUrl(files, name),
  })
  const { agents, reported, workers } = front
  const opamp = { ...front.opamp, isOverloaded: () => front.opamp.isOverloaded() || isCutOff() }
  const listener = startOpampListener(functions, { config, log, clock, opamp }, proxies, descriptors)
  return {
    listener,
    agents,
    workers,
    async close() {
      agents.stop()
      listener.destroy()
      await reported.storeAll()
      await workers.close()
    },
  }
}
