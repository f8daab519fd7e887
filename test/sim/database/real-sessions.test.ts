import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextTurn } from '../../../lib/turns.ts'
import { createTestDatabase, openTestConnection, type TestDatabase } from '../../support/postgres.ts'
import { RealSessions } from './real-sessions.ts'

const LOCK = 'select pg_advisory_lock(7)'
const UNLOCK = 'select pg_advisory_unlock(7)'

describe('the real sessions under the simulation', () => {
  let database: TestDatabase
  let sessions: RealSessions
  beforeAll(async () => {
    database = await createTestDatabase()
    sessions = new RealSessions(database.dsn, await openTestConnection(database.dsn))
    await sessions.open(2)
  })
  afterAll(async () => {
    await sessions.close()
    await database.drop()
  })

  it('answers what freed a lock before what waited for it, whichever answer arrives first', async () => {
    const [holder, waiter] = [sessions.take(), sessions.take()]
    const answered: string[] = []
    void sessions.run(holder, (connection) => connection.query(LOCK)).then(() => answered.push('held'))
    await sessions.settle()
    let arrive = () => {}
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const lock = sessions.run(waiter, async (connection) => {
      await connection.query(LOCK)
      arrive()
    })
    void lock.then(() => answered.push('waited'))
    await sessions.settle()
    expect(answered).toEqual(['held'])
    const unlock = sessions.run(holder, async (connection) => {
      await connection.query(UNLOCK)
      await arrived
    })
    void unlock.then(() => answered.push('freed'))
    await sessions.settle()
    expect(answered).toEqual(['held', 'freed', 'waited'])
    await waiter.connection.query(UNLOCK)
    for (const session of [waiter, holder]) sessions.give(session)
  })

  it('gives a lock to the statement that was asked first, however long it takes until it needs it', async () => {
    const [first, second] = [sessions.take(), sessions.take()]
    const answered: string[] = []
    const late = `with nap as materialized (select pg_sleep(0.05)) select pg_advisory_lock(7) from nap`
    void sessions.run(first, (connection) => connection.query(late)).then(() => answered.push('first'))
    void sessions.run(second, (connection) => connection.query(LOCK)).then(() => answered.push('second'))
    await sessions.settle()
    expect(answered).toEqual(['first'])
    void sessions.run(first, (connection) => connection.query(UNLOCK))
    await sessions.settle()
    expect(answered).toEqual(['first', 'second'])
    await second.connection.query(UNLOCK)
    for (const session of [second, first]) sessions.give(session)
  })

  it('waits for work that goes in turns of the event loop, and for what it asks then', async () => {
    const session = sessions.take()
    let isDone = false
    const work = async () => {
      await sessions.run(session, (connection) => connection.query('select 1'))
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      await sessions.run(session, (connection) => connection.query('select 2'))
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      isDone = true
    }
    void work()
    await sessions.settle()
    expect(isDone).toBe(true)
    sessions.give(session)
  })
})
