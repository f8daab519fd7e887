import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection } from '../../lib/store/connection.ts'
import { createTestDatabase, openTestConnection, type TestDatabase } from '../support/postgres.ts'
import { useStore } from './check-seeds.ts'
import { runSeed } from './run-seed.ts'

/** The first has a standby, operators who pick among what is stored, and busy worker threads; the second campaigns. */
const SEEDS = [3003, 3008]
const OTHERS = [3007, 3014]

describe('a seed', () => {
  const store = useStore()
  let database: TestDatabase
  let beside: Connection
  beforeAll(async () => {
    database = await createTestDatabase()
    beside = await openTestConnection(database.dsn)
    await beside.execute('set idle_in_transaction_session_timeout = 0')
  })
  afterAll(async () => {
    await beside.close()
    await database.drop()
  })

  it.each(SEEDS)(
    'takes the same course whatever ran before it, and runs beside it: %i',
    {
      timeout: 360_000,
    },
    async (seed) => {
      const { course } = await runSeed(seed, store())
      const courses = new Set<string>()
      for (const other of OTHERS) {
        courses.add((await runSeed(other, store())).course)
        // A transaction of another database on the same server, as a test that runs beside this one has them.
        await beside.execute('begin')
        await beside.query('select pg_current_xact_id()')
        expect((await runSeed(seed, store())).course).toBe(course)
        await beside.execute('rollback')
      }
      courses.add(course)
      expect(courses.size).toBe(1 + OTHERS.length)
    },
  )
})
