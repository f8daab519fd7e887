import { openRuntimeCheck } from '../lib/configs/check/runtime-check.ts'
import { openConfigEngine } from '../lib/configs/engine.ts'
import { FrontAgents } from '../lib/links/front-agents.ts'
import { OfferTexts } from '../lib/links/offer-texts.ts'
import { ReportedTexts } from '../lib/links/reported-texts.ts'
import { createOpampExchange } from '../lib/opamp/exchange.ts'
import { type Ground, openConfigWorkers, readingWith } from './compose.ts'

/**
 * The part of a front that serves agents: it passes what they say on to the owner and keeps it until the owner has
 * taken it.
 */
export function composeFront(
  ground: Pick<Ground, 'config' | 'clock' | 'timers' | 'log' | 'db' | 'workerUrl'>,
) {
  const { config, clock, timers, log, db } = ground
  const workers = openConfigWorkers(ground)
  const configs = openConfigEngine({
    workers,
    runtimeCheck: openRuntimeCheck(config.runtimeValidation, clock),
    clock,
  })
  const reported = new ReportedTexts({ db, clock, timers, log })
  const agents = new FrontAgents({
    clock,
    timers,
    reported,
    texts: new OfferTexts(db, log),
    normalise: readingWith(configs).normalise,
  })
  const opamp = createOpampExchange({
    fleet: agents,
    clock,
    log,
    messageBytesMax: config.opampMessageBytesMax,
  })
  return { agents, reported, opamp, workers }
}
