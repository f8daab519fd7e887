import type { Clock } from '../../lib/clock.ts'
import { openRuntimeCheck } from '../../lib/configs/check/runtime-check.ts'
import { openConfigEngine } from '../../lib/configs/engine.ts'
import { systemTimers } from '../../lib/fleet/state/timers.ts'
import { FrontAgents } from '../../lib/links/front-agents.ts'
import { OfferTexts } from '../../lib/links/offer-texts.ts'
import { ReportedTexts } from '../../lib/links/reported-texts.ts'
import { createOpampExchange } from '../../lib/opamp/exchange.ts'
import type { Pool } from '../../lib/store/pool.ts'
import { openConfigWorkers, readingWith } from '../compose.ts'
import { workerUrl } from '../files.ts'
import type { Listener } from '../listener.ts'
import type { LoadedFunctions } from '../loader.ts'
import type { ProxyPolicy } from '../proxies.ts'
import { startOpampListener } from '../server.ts'
import type { ServiceOptions } from '../service.ts'

/** The agents of this process: their listener, and what tells an owner of them. */
export interface FrontOpamp {
  listener: Listener
  agents: FrontAgents
  workers: ReturnType<typeof openConfigWorkers>
  close(): Promise<void>
}

/** Listen to agents, for whoever owns. `isCutOff` says that others reach the owner and this process does not. */
export function startFrontOpamp(parts: {
  options: ServiceOptions
  functions: LoadedFunctions
  proxies: ProxyPolicy
  pool: Pool
  clock: Clock
  isCutOff(): boolean
}): FrontOpamp {
  const { options, functions, proxies, pool: db, clock, isCutOff } = parts
  const { config, files, log } = options
  const workers = openConfigWorkers({ workerUrl: (name) => workerUrl(files, name), log })
  const configs = openConfigEngine({
    workers,
    runtimeCheck: openRuntimeCheck(config.runtimeValidation, clock),
  })
  const reported = new ReportedTexts({ db, clock, timers: systemTimers, log })
  const agents = new FrontAgents({
    ...{ clock, timers: systemTimers, reported, texts: new OfferTexts(db) },
    normalise: readingWith(configs).normalise,
  })
  const exchange = createOpampExchange({
    ...{ fleet: agents, clock, log, messageBytesMax: config.opampMessageBytesMax },
  })
  const opamp = { ...exchange, isOverloaded: () => exchange.isOverloaded() || isCutOff() }
  const listener = startOpampListener(functions, { config, log, opamp }, proxies)
  return {
    ...{ listener, agents, workers },
    async close() {
      agents.stop()
      listener.destroy()
      await reported.store()
      await workers.close()
    },
  }
}
