import { randomBytes } from 'node:crypto'
import { afterAll, inject } from 'vitest'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { silentLog } from '../../lib/log.ts'
import { type Connection, openConnection } from '../../lib/store/connection.ts'
import { openPool, type Pool, type PoolOptions } from '../../lib/store/pool.ts'

/** A database of a test's own, with the whole schema. */
export interface TestDatabase {
  dsn: string
  pool: Pool
  /** Another pool on the same database, closed with the rest. */
  openPool(options?: Partial<PoolOptions>): Pool
  drop(): Promise<void>
}

/** Clone the migrated template. The caller drops it; `useTestDatabase` does that by itself. */
export async function createTestDatabase(
  options: { clock?: Clock } & Partial<PoolOptions> = {},
): Promise<TestDatabase> {
  const admin = inject('postgresUrl')
  const name = `muster_${randomBytes(6).toString('hex')}`
  // Two clones at once are refused while one reads the template, so clones take turns.
  await withAdmin(admin, async (connection) => {
    await connection.query('SELECT pg_advisory_lock(1)')
    await connection.query(`CREATE DATABASE ${name} TEMPLATE muster_template`)
  })
  const url = new URL(admin)
  url.pathname = `/${name}`
  const dsn = url.toString()
  const pools: Pool[] = []
  const open = (more: Partial<PoolOptions> = {}) => {
    const pool = openPool({
      dsn,
      maxOpen: 12,
      maxIdle: 10,
      idleTimeoutMs: 300_000,
      lifetimeMs: 1_800_000,
      clock: systemClock,
      log: silentLog,
      ...options,
      ...more,
    })
    pools.push(pool)
    return pool
  }
  return {
    dsn,
    pool: open(),
    openPool: open,
    async drop() {
      await Promise.all(pools.map((pool) => pool.close()))
      await withAdmin(admin, (connection) => connection.query(`DROP DATABASE ${name} WITH (FORCE)`))
    },
  }
}

/** A test database that is dropped after the file's tests. Call it at the top of a file or `describe`. */
export async function useTestDatabase(options: Partial<PoolOptions> = {}): Promise<TestDatabase> {
  const database = await createTestDatabase(options)
  afterAll(() => database.drop())
  return database
}

/** One session on a database, for what a test must do beside the pool. */
export function openTestConnection(dsn: string, applicationName = 'muster-test'): Promise<Connection> {
  const limits = { connectTimeoutMs: 5_000, statementTimeoutMs: 30_000, clock: systemClock }
  return openConnection({ dsn, applicationName, ...limits })
}

async function withAdmin(dsn: string, work: (connection: Connection) => Promise<unknown>): Promise<void> {
  const connection = await openTestConnection(dsn)
  try {
    await work(connection)
  } finally {
    await connection.close()
  }
}
