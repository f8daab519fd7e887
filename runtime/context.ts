import type { Clock } from '../lib/clock.ts'
import type { Gate } from '../lib/gates.ts'
import type { Random } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import type { OpampExchange } from '../lib/opamp/exchange.ts'
import type { Permission } from '../lib/permissions.ts'
import type { Database } from '../lib/store/db.ts'
import type { Config } from './config.ts'

/** Who a credential stands for, with the authority as it is now. */
export interface SignedInUser {
  userId: string
  email: string
  groups: readonly string[]
  permissions: readonly Permission[]
  sessionId: string
  expiresAt: Date
}

/** Turns a credential into a user. */
export interface Authenticator {
  authenticate(
    token: string,
  ): Promise<{ ok: true; user: SignedInUser } | { ok: false; code: 'unauthorized' | 'database-unavailable' }>
}

/** What an edition of the product switches on. */
export interface EditionGates {
  gates: ReadonlySet<Gate>
}

/** Everything a function may reach, built once in `main.ts` and frozen. Tests pass their own. */
export interface Context {
  config: Config
  edition: EditionGates
  clock: Clock
  random: Random
  log: Log
  db: Database
  identity: Authenticator
  opamp: OpampExchange
}
