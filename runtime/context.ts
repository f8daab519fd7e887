import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { Database } from '../lib/store/db.ts'
import type { Config } from './config.ts'

/** Everything a function may reach, built once in `main.ts` and frozen. Tests pass their own. */
export interface Context {
  config: Config
  clock: Clock
  random: Random
  log: Log
  db: Database
}
