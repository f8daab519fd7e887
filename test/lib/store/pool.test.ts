import { describe, expect, it } from 'vitest'
import { CommitInDoubt, DatabaseUnavailable } from '../../../lib/store/db.ts'
import { fakeClock, recordingLog } from '../../support/fakes.ts'
import { openTestConnection, useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()

const sleep = 'SELECT pg_sleep(0.2)'

describe('pool', () => {
  it('gives timestamps as dates, int8 as numbers, dates as text', async () => {
    const rows = await database.pool.query(
      `SELECT '2026-07-01T08:00:00.123Z'::timestamptz AS at, 9007199254740991::int8 AS n,
         ARRAY[1, 2]::int8[] AS list, '2026-07-01'::date AS day`,
    )
    expect(rows).toEqual([
      { at: new Date('2026-07-01T08:00:00.123Z'), n: 9007199254740991, list: [1, 2], day: '2026-07-01' },
    ])
  })

  it('commits what resolves and rolls back what throws', async () => {
    const { pool } = database
    await pool.execute('CREATE TABLE t_commit (n integer)')
    await pool.transaction('test', (tx) => tx.execute('INSERT INTO t_commit VALUES (1)'))
    const failing = pool.transaction('test', async (tx) => {
      await tx.execute('INSERT INTO t_commit VALUES (2)')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await pool.query('SELECT n FROM t_commit')).toEqual([{ n: 1 }])
  })

  it('refuses to call a transaction committed in which a failed statement was ignored', async () => {
    const work = database.pool.transaction('test', (tx) => tx.query('SELECT 1/0').catch(() => []))
    await expect(work).rejects.toThrow('rolled back')
  })

  it('says that a commit is in doubt when its connection was lost, and not when the server refused it', async () => {
    const pool = database.openPool()
    await pool.execute('CREATE TABLE t_doubt (n integer UNIQUE DEFERRABLE INITIALLY DEFERRED)')
    const refused = pool.transaction('test', (tx) => tx.execute('INSERT INTO t_doubt VALUES (1), (1)'))
    await expect(refused).rejects.toMatchObject({ code: '23505' })
    const lostBefore = pool.transaction('test', (tx) =>
      tx.query('SELECT pg_terminate_backend(pg_backend_pid())'),
    )
    await expect(lostBefore).rejects.toMatchObject({ name: 'DatabaseUnavailable' })

    await pool.execute(`CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'`)
    await pool.execute(`CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON t_doubt
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION end_session()`)
    const lost = pool.transaction('test', (tx) => tx.execute('INSERT INTO t_doubt VALUES (2)'))
    await expect(lost).rejects.toThrow(CommitInDoubt)
  })

  it('refuses statements after the end of their transaction', async () => {
    const tx = await database.pool.transaction('test', async (open) => open)
    await expect(tx.query('SELECT 1')).rejects.toThrow('after the end')
  })

  it('keeps the SQLSTATE of the server and the connection with it', async () => {
    await expect(database.pool.query('SELECT 1/0')).rejects.toMatchObject({ code: '22012' })
    expect(await database.pool.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
  })

  it('opens at most the limit less the reserved one, and counts who waited', async () => {
    const pool = database.openPool({ maxOpen: 5, maxIdle: 5 })
    await Promise.all(Array.from({ length: 5 }, () => pool.query(sleep)))
    const counters = pool.statistics()
    expect(counters).toMatchObject({
      maxOpenConnections: 5,
      openConnections: 4,
      inUse: 0,
      idle: 4,
      waitCount: 1,
    })
    expect(counters.waitDurationMs).toBeGreaterThan(100)
  })

  it('raises a limit under 4 to 4 and says so', async () => {
    const log = recordingLog()
    const pool = database.openPool({ maxOpen: 1, log })
    expect(pool.statistics().maxOpenConnections).toBe(4)
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { asked: 1, used: 4 } }])
  })

  it('closes idle connections beyond their limit when they are released', async () => {
    const pool = database.openPool({ maxOpen: 6, maxIdle: 1 })
    await Promise.all([pool.query(sleep), pool.query(sleep), pool.query(sleep)])
    expect(pool.statistics()).toMatchObject({ idle: 1, openConnections: 1, maxIdleClosed: 2 })
  })

  it('closes connections past their lifetime', async () => {
    const clock = fakeClock()
    const pool = database.openPool({ clock, lifetimeMs: 60_000 })
    await pool.query('SELECT 1')
    clock.advance(60_000)
    await pool.query('SELECT 1')
    expect(pool.statistics()).toMatchObject({ idle: 1, maxLifetimeClosed: 1 })
  })

  it('closes connections that were idle too long', async () => {
    const pool = database.openPool({ idleTimeoutMs: 10 })
    await pool.query('SELECT 1')
    await expect.poll(() => pool.statistics()).toMatchObject({ idle: 0, maxIdleTimeClosed: 1 })
  })

  it('counts the reserved session as in use until it closes, and has one', async () => {
    const pool = database.openPool()
    const first = await pool.openReserved('control')
    expect(pool.statistics()).toMatchObject({ inUse: 1, openConnections: 1 })
    await expect(pool.openReserved('another')).rejects.toThrow('no reserved session left')
    await first.close()
    expect(pool.statistics()).toMatchObject({ inUse: 0 })
    await (await pool.openReserved('control')).close()
  })

  it('answers DatabaseUnavailable when nobody listens, without hanging', async () => {
    const pool = database.openPool({ dsn: 'postgres://postgres:test@127.0.0.1:1/none' })
    await expect(pool.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(pool.statistics()).toMatchObject({ openConnections: 0 })
  })

  it('answers DatabaseUnavailable when the server ends the session, and recovers', async () => {
    const pool = database.openPool({ applicationName: 'to-be-killed' })
    const running = pool.query('SELECT pg_sleep(20)')
    const lost = expect(running).rejects.toBeInstanceOf(DatabaseUnavailable)
    const other = await openTestConnection(database.dsn)
    const kill =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'to-be-killed' AND state = 'active'"
    await expect.poll(() => other.execute(kill)).toBe(1)
    await lost
    await other.close()
    expect(await pool.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
  })

  it('drops an idle connection that the server ended', async () => {
    const pool = database.openPool({ applicationName: 'idle-killed' })
    await pool.query('SELECT 1')
    const other = await openTestConnection(database.dsn)
    await other.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idle-killed'`,
    )
    await other.close()
    await expect.poll(() => pool.statistics().openConnections).toBe(0)
    expect(await pool.query('SELECT 1 AS n')).toEqual([{ n: 1 }])
  })

  it('ends a statement that runs too long and keeps the SQLSTATE', async () => {
    const pool = database.openPool({ statementTimeoutMs: 50 })
    await expect(pool.query('SELECT pg_sleep(5)')).rejects.toMatchObject({
      name: 'DatabaseUnavailable',
      cause: { code: '57014' },
    })
  })

  it('tells a caller that waited too long for a connection', async () => {
    const pool = database.openPool({ maxOpen: 4, waitTimeoutMs: 20 })
    const busy = [1, 2, 3].map(() => pool.query(sleep))
    await expect(pool.query('SELECT 1')).rejects.toThrow('no database connection became free')
    await Promise.all(busy)
  })
})
