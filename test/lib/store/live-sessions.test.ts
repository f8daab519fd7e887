import { describe, expect, it } from 'vitest'
import { openConnection, type ServerSession } from '../../../lib/store/connection.ts'
import { type Database, DatabaseUnavailable } from '../../../lib/store/db.ts'
import { fenced } from '../../../lib/store/fenced.ts'
import { LiveSessions } from '../../../lib/store/live-sessions.ts'
import { nextTurn } from '../../../lib/turns.ts'
import { startDatabaseProxy } from '../../support/database-proxy.ts'
import { eventually } from '../../support/eventually.ts'
import { fakeClock } from '../../support/fakes.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

function sessionOf(timeline: string | null): ServerSession & { isBroken: boolean } {
  const session = {
    timeline,
    heardMs: 0,
    asksSinceMs: null,
    isBroken: false,
    proveAlive() {},
    end() {
      session.isBroken = true
    },
  }
  return session as never
}

it('a session of a newer timeline ends all of older ones, whatever they are for, and no older one is taken any more', () => {
  const sessions = new LiveSessions()
  const [lock, pooled, follower, newer] = ['00000009', '00000009', null, '0000000A'].map(sessionOf)
  sessions.admit(lock!, true)
  sessions.admit(pooled!, false)
  sessions.admit(follower!, false)
  sessions.admit(newer!, true)
  expect([lock, pooled, follower, newer].map((one) => one!.isBroken)).toEqual([true, true, false, false])
  expect(() => sessions.admit(sessionOf('00000009'), false)).toThrow(DatabaseUnavailable)
  // A database that was restored may begin at an older one, once the former is gone.
  newer!.isBroken = true
  sessions.admit(sessionOf('00000001'), false)
})

describe('idle sessions with a server of a newer timeline, where another server says that it is of an older one', () => {
  /** Sessions that say of their server that it is of this timeline, as one after a fail-over is. */
  async function open(sessions: LiveSessions, dsn: string, timeline: string) {
    const options = { dsn, applicationName: 'test', connectTimeoutMs: 5_000, statementTimeoutMs: 30_000 }
    const judge = (session: ServerSession) => {
      Object.assign(session, { timeline })
      sessions.admit(session, false)
    }
    return openConnection({ ...options, clock: fakeClock(), judge })
  }

  it('refuse it only until they are found to answer nothing, as where their host has vanished', async () => {
    const proxy = await startDatabaseProxy(database.dsn)
    const sessions = new LiveSessions(300)
    const hanging = [await open(sessions, proxy.dsn, '00000005'), await open(sessions, proxy.dsn, '00000005')]
    proxy.fallSilent()
    const restored = () => open(sessions, database.dsn, '00000001')
    await expect(restored()).rejects.toThrow(DatabaseUnavailable)
    await eventually('all of them have ended', () => hanging.every((session) => session.isBroken))
    const taken = await restored()
    expect(await taken.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
    await taken.close()
    await proxy.close()
  })

  it('refuse it as long as one of them answers, and what is asked on that meanwhile is answered', async () => {
    const proxy = await startDatabaseProxy(database.dsn)
    const sessions = new LiveSessions(300)
    const alive = await open(sessions, database.dsn, '00000005')
    const hanging = await open(sessions, proxy.dsn, '00000005')
    proxy.fallSilent()
    const former = () => open(sessions, database.dsn, '00000001')
    for (let n = 0; n < 2; n++) {
      await expect(former()).rejects.toThrow(DatabaseUnavailable)
      expect(await alive.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
      await eventually('the other one has ended', () => hanging.isBroken)
    }
    expect(alive.isBroken).toBe(false)
    // Nor is one ended on which a statement is long at work: it is not idle.
    const long = alive.query('SELECT 2 AS n FROM pg_sleep(0.6)')
    await expect(former()).rejects.toThrow(DatabaseUnavailable)
    expect(await long).toEqual([{ n: 2 }])
    await alive.close()
    await proxy.close()
  })
})

it('a pool ends the sessions on which it has heard nothing since a question was given up, but for the reserved ones', async () => {
  const clock = fakeClock()
  const pool = database.openPool({ maxOpen: 6, maxIdle: 6, clock })
  const reserved = await pool.openReserved('control')
  await pool.query('SELECT 1')
  const hanging = pool.query('SELECT pg_sleep(20)')
  const other = pool.query('SELECT 1')
  await other
  clock.advance(1_000)
  const sinceMs = clock.monotonicMs()
  await pool.query('SELECT 1')
  pool.endUnheard(sinceMs)
  await expect(hanging).rejects.toThrow(DatabaseUnavailable)
  expect(pool.statistics()).toMatchObject({ idle: 1, inUse: 1 })
  expect(await reserved.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
  await reserved.close()
})

it('a pool that was not heard because this process stood still loses nothing of what is answered then', async () => {
  const clock = fakeClock()
  const pool = database.openPool({ maxOpen: 6, maxIdle: 6, clock })
  await pool.query('SELECT 1')
  const late = pool.query('SELECT 1 AS n FROM pg_sleep(0.2)')
  await nextTurn()
  clock.advance(4_000)
  const sinceMs = clock.monotonicMs()
  clock.advance(3_000)
  pool.endUnheard(sinceMs)
  expect(await late).toEqual([{ n: 1 }])
  await pool.query('SELECT pg_sleep(1.2)')
  await pool.close()
})

it('who knows that it may not write does not ask the database first', async () => {
  const begun: string[] = []
  const db = { transaction: async (name: string) => void begun.push(name) } as never as Database
  const mayBegin = () => {
    throw new DatabaseUnavailable('not now')
  }
  const work = fenced(db, async () => undefined, mayBegin).transaction('test', async () => undefined)
  await expect(work).rejects.toThrow('not now')
  expect(begun).toEqual([])
})
