import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import { ASK_FOR_HISTORY, ASK_FOR_LOCK } from '../../../lib/store/lock-statements.ts'
import {
  EpochLost,
  openProcessLock,
  type ProcessLock,
  type ProcessLockOptions,
} from '../../../lib/store/process-lock.ts'
import { checkServer } from '../../../lib/store/server-version.ts'
import { startDatabaseProxy } from '../../support/database-proxy.ts'
import { type RecordingLog, recordingLog } from '../../support/fakes.ts'
import { createTestDatabase, openTestConnection, type TestDatabase } from '../../support/postgres.ts'

const POLL_MS = 20
const PATIENCE_MS = 50
const BY_ANOTHER = 'another process has become the active one'

interface Process {
  lock: ProcessLock
  log: RecordingLog
  lost: string[]
  name: string
}

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

function startProcess(
  database: TestDatabase,
  name: string,
  {
    dsn = database.dsn,
    pause,
    mayClaim,
    statementTimeoutMs,
    connected,
  }: { dsn?: string; statementTimeoutMs?: number; connected?: () => Promise<unknown> } & Pick<
    ProcessLockOptions,
    'pause' | 'mayClaim'
  > = {},
): Process {
  const pool = database.openPool({
    applicationName: name,
    dsn,
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
  })
  const log = recordingLog()
  const state: Process = { log, lost: [], name, lock: undefined as unknown as ProcessLock }
  state.lock = openProcessLock({
    async connect() {
      const connection = await pool.openReserved('control')
      await connected?.()
      return connection
    },
    clock: systemClock,
    log,
    onLost: (why) => void state.lost.push(why),
    pollMs: POLL_MS,
    standbyPatienceMs: PATIENCE_MS,
    ...(pause === undefined ? {} : { pause }),
    ...(mayClaim === undefined ? {} : { mayClaim }),
  })
  cleanups.push(() => state.lock.release())
  return state
}

const acquire = (process: Process, onStandby?: () => void) =>
  process.lock.acquire(new AbortController().signal, onStandby)

async function endSessions(database: TestDatabase, ...names: string[]): Promise<void> {
  const connection = await openTestConnection(database.dsn)
  await connection.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ANY($1)',
    [names],
  )
  await connection.close()
}

const readEpoch = async (database: TestDatabase) =>
  (await database.pool.query<{ epoch: number }>('SELECT epoch FROM process_epoch'))[0]!.epoch

describe('process lock', () => {
  it('gives the lock to one process, and to the standby once it is free, raising the epoch each time', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    const second = startProcess(database, 'second')
    await acquire(first)
    const before = await readEpoch(database)
    let hasStoodBy = false
    const waiting = acquire(second, () => {
      hasStoodBy = true
    })
    await expect.poll(() => hasStoodBy).toBe(true)
    await expect.poll(() => JSON.stringify(second.log.lines)).toContain('held by first pid')
    expect(second.lock.isHeld()).toBe(false)
    expect(await second.lock.ping(1_000)).toBe(false)
    await first.lock.release()
    await waiting
    expect(second.lock.isHeld()).toBe(true)
    expect(await second.lock.ping(1_000)).toBe(true)
    expect(await readEpoch(database)).toBe(before + 1)
  })

  it('asks the database once for all who ask at the same time whether it answers, and anew for who asks later', async () => {
    const database = await freshDatabase()
    const pool = database.openPool({ applicationName: 'asked' })
    let asked = 0
    const lock = openProcessLock({
      async connect() {
        const connection = await pool.openReserved('control')
        const { query } = connection
        connection.query = (text, ...more) => {
          if (text === 'SELECT 1') asked++
          return query.call(connection, text, ...more) as never
        }
        return connection
      },
      clock: systemClock,
      log: recordingLog(),
      onLost: () => undefined,
    })
    cleanups.push(() => lock.release())
    await lock.acquire(new AbortController().signal)
    expect(await Promise.all([lock.ping(1_000), lock.ping(1_000), lock.ping(1_000)])).toEqual([
      true,
      true,
      true,
    ])
    expect(asked).toBe(1)
    expect(await lock.ping(1_000)).toBe(true)
    expect(asked).toBe(2)
  })

  it('lets a process that lost only its connection go on with the same epoch', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    await acquire(first)
    const epoch = await readEpoch(database)
    await endSessions(database, 'first')
    await expect.poll(() => JSON.stringify(first.log.lines)).toContain('connection lost')
    await expect.poll(() => first.lock.isHeld()).toBe(true)
    await database.pool.transaction('test', (tx) => first.lock.checkEpoch(tx))
    expect(await readEpoch(database)).toBe(epoch)
    expect(first.lost).toEqual([])
  })

  it('goes on when the answer to its second attempt at the lock is lost, and the session of that one lives on', async () => {
    const database = await freshDatabase()
    let lost = 0
    let attempts = 0
    const lock = openProcessLock({
      async connect() {
        // Each connection comes from a pool of its own: a session that only the server still knows counts for no pool.
        const connection = await database.openPool({ applicationName: 'first' }).openReserved('control')
        const query = connection.query.bind(connection)
        const close = connection.close.bind(connection)
        connection.query = async <Row extends object>(text: string, params?: readonly unknown[]) => {
          const rows = await query<Row>(text, params)
          if (text !== ASK_FOR_LOCK || ++attempts !== 2) return rows
          // Close only this end of the connection: the server has given the lock and does not know that the client is
          // gone.
          connection.close = async () => {
            cleanups.push(close)
          }
          throw new DatabaseUnavailable('connection lost')
        }
        return connection
      },
      clock: systemClock,
      log: recordingLog(),
      onLost: () => lost++,
      pollMs: 20,
      standbyPatienceMs: 50,
    })
    cleanups.push(() => lock.release())
    await lock.acquire(new AbortController().signal)
    await endSessions(database, 'first')
    await expect.poll(() => attempts > 2 && lock.isHeld()).toBe(true)
    await database.pool.transaction('test', (tx) => lock.checkEpoch(tx))
    expect(lost).toBe(0)
  })

  it('stops a process whose lock was taken by another while it was cut off', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    await acquire(first)
    // The other process asks for the lock just as the first loses its connection.
    const thief = await openTestConnection(database.dsn, 'thief')
    cleanups.push(() => thief.close())
    const stealing = thief.query('SELECT pg_advisory_lock(1836413812, 1)')
    await endSessions(database, 'first')
    await stealing
    await expect.poll(() => first.lost).toEqual([BY_ANOTHER])
    expect(first.lock.isHeld()).toBe(false)
  })

  it('says of a database that a replica has replaced that it may lack commits, and not that another process is active', async () => {
    const database = await freshDatabase()
    const pool = database.openPool({ applicationName: 'first' })
    const lost: string[] = []
    let timeline = 1
    const lock = openProcessLock({
      async connect() {
        const connection = await pool.openReserved('control')
        const query = connection.query.bind(connection)
        connection.query = async <Row extends object>(text: string, params?: readonly unknown[]) => {
          const rows = await query<Row>(text, params)
          return text === ASK_FOR_HISTORY
            ? rows.map((row) => ({ ...row, timeline, isReplicated: false }))
            : rows
        }
        return connection
      },
      clock: systemClock,
      log: recordingLog(),
      onLost: (why) => void lost.push(why),
      pollMs: POLL_MS,
    })
    cleanups.push(() => lock.release())
    await lock.acquire(new AbortController().signal)
    timeline = 2
    await endSessions(database, 'first')
    await expect.poll(() => lost).toEqual([expect.stringContaining('may lack what was committed last')])
    // Nobody has raised the epoch since, and yet it writes no more.
    expect(lock.isHeld()).toBe(false)
    const write = () => pool.transaction('test', (tx) => lock.checkEpoch(tx))
    await expect(write()).rejects.toBeInstanceOf(EpochLost)
    await expect(write()).rejects.toBeInstanceOf(EpochLost)
  })

  it.each([
    [
      'a replica takes the place of the database, which acknowledged commits without it for a while',
      false,
      3,
    ],
    ['a replica takes the place of the database, which had each of them before it was acknowledged', true, 3],
    ['the former database is back in the place of the replica that had replaced it', true, 1],
  ])('where %s', async (_, isReplicated, then) => {
    const isTaken = isReplicated && then === 3
    const database = await freshDatabase()
    const pool = database.openPool({ applicationName: 'first' })
    const lost: string[] = []
    const log = recordingLog()
    let history = { timeline: '00000002', isReplicated: true }
    const at = (rows: object[]) =>
      rows.map((row) => ('timeline' in row ? { ...row, ...history } : row)) as never
    const lock = openProcessLock({
      async connect() {
        const connection = await pool.openReserved('control')
        const query = connection.query.bind(connection)
        connection.query = async (text, params) => at(await query(text, params))
        return connection
      },
      clock: systemClock,
      log,
      onLost: (why) => void lost.push(why),
      pollMs: POLL_MS,
    })
    cleanups.push(() => lock.release())
    await lock.acquire(new AbortController().signal)
    const write = () =>
      pool.transaction('test', (tx) =>
        lock.checkEpoch({
          execute: (...of) => tx.execute(...of),
          query: async (text, params) => at(await tx.query(text, params)),
        }),
      )
    await write()
    // Somebody takes the replica out of the server's settings, and puts it back, while the process runs.
    history = { timeline: '00000002', isReplicated }
    await write()
    history = { timeline: '00000002', isReplicated: true }
    await write()
    history = { timeline: `0000000${then}`, isReplicated: true }
    await endSessions(database, 'first')
    if (isTaken) await expect.poll(() => JSON.stringify(log.lines)).toContain('process lock taken again')
    else await expect.poll(() => lost).toEqual([expect.stringContaining('may lack what was committed last')])
    expect(lock.isHeld()).toBe(isTaken)
  })

  it('heeds no answer of the former database that comes once it has the lock at the replica', async () => {
    const database = await freshDatabase()
    const control = database.openPool({ applicationName: 'first' })
    const pool = database.openPool({ applicationName: 'writes' })
    const log = recordingLog()
    let history = { timeline: '00000001', isReplicated: true }
    const at = (rows: object[], then = history) =>
      rows.map((row) => ('timeline' in row ? { ...row, ...then } : row)) as never
    const lock = openProcessLock({
      async connect() {
        const connection = await control.openReserved('control')
        const query = connection.query.bind(connection)
        connection.query = async (text, params) => at(await query(text, params))
        return connection
      },
      clock: systemClock,
      log,
      onLost: () => undefined,
      pollMs: POLL_MS,
    })
    cleanups.push(() => lock.release())
    await lock.acquire(new AbortController().signal)
    const write = (delay = () => Promise.resolve()) => {
      const then = history
      return pool.transaction('test', (tx) =>
        lock.checkEpoch({
          execute: (...of) => tx.execute(...of),
          async query(text, params) {
            const rows = await tx.query(text, params)
            await delay()
            return at(rows, then)
          },
        }),
      )
    }
    let answer = () => {}
    let late: Promise<void> = Promise.resolve()
    await new Promise<void>((asked) => {
      late = write(() => {
        asked()
        return new Promise((resolve) => {
          answer = resolve
        })
      })
    })
    history = { timeline: '00000002', isReplicated: true }
    await endSessions(database, 'first')
    await expect.poll(() => JSON.stringify(log.lines)).toContain('process lock taken again')
    answer()
    await expect(late).rejects.toBeInstanceOf(DatabaseUnavailable)
    await write()
  })

  it('writes nothing into a replica that took the place of the database, until it has the lock there', async () => {
    const database = await freshDatabase()
    const lost: string[] = []
    const pool = database.openPool({ applicationName: 'first' })
    const lock = openProcessLock({
      connect: () => pool.openReserved('control'),
      clock: systemClock,
      log: recordingLog(),
      onLost: (why) => void lost.push(why),
      pollMs: POLL_MS,
    })
    cleanups.push(() => lock.release())
    await lock.acquire(new AbortController().signal)
    let statements = 0
    /** A transaction; on the replica the same rows are there, and writes go on in a timeline of its own. */
    const write = (isOnReplica: boolean) =>
      pool.transaction('test', (tx) =>
        lock.checkEpoch({
          execute: (...of) => tx.execute(...of),
          async query<Row extends object>(text: string, params?: readonly unknown[]) {
            statements++
            const rows = await tx.query<Row>(text, params)
            return isOnReplica ? rows.map((row) => ({ ...row, timeline: '000000FF' })) : rows
          },
        }),
      )
    await write(false)
    await expect(write(true)).rejects.toThrow(DatabaseUnavailable)
    await write(false)
    expect(statements).toBe(3)
    expect(lost).toEqual([])
  })

  it('writes nothing between the loss of its connection and the time when it has the lock again', async () => {
    const database = await freshDatabase()
    let goOn = () => {}
    const away = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const pool = database.openPool({ applicationName: 'writes' })
    let connections = 0
    const control = database.openPool({ applicationName: 'first' })
    const lock = openProcessLock({
      async connect() {
        if (++connections > 1) await away
        return control.openReserved('control')
      },
      clock: systemClock,
      log: recordingLog(),
      onLost: () => undefined,
      pollMs: POLL_MS,
    })
    cleanups.push(() => lock.release())
    await lock.acquire(new AbortController().signal)
    const write = () => pool.transaction('test', (tx) => lock.checkEpoch(tx))
    await write()
    await endSessions(database, 'first')
    await expect.poll(() => connections).toBe(2)
    await expect(write()).rejects.toBeInstanceOf(DatabaseUnavailable)
    await expect(write()).rejects.not.toBeInstanceOf(EpochLost)
    goOn()
    await expect.poll(() => lock.isHeld()).toBe(true)
    await write()
  })

  it('lets one of two write that own the same epoch, as where a replica lacks that it was raised', async () => {
    const database = await freshDatabase()
    const [first, second] = [startProcess(database, 'first'), startProcess(database, 'second')]
    await acquire(first)
    const admin = await openTestConnection(database.dsn)
    cleanups.push(() => admin.close())
    const write = ({ lock }: Process) => database.pool.transaction('test', (tx) => lock.checkEpoch(tx))
    await admin.query('update process_epoch set epoch = epoch - 1')
    // The lock is free on the other database, and the first process has not noticed that yet.
    await first.lock.connection().query('SELECT pg_advisory_unlock(1836413812, 1)')
    await acquire(second)
    expect(second.lock.epoch).toBe(first.lock.epoch)
    await write(second)
    await expect(write(first)).rejects.toBeInstanceOf(EpochLost)
  })

  it('refuses a batch once another process raised the epoch', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    await acquire(first)
    await database.pool.execute('UPDATE process_epoch SET epoch = epoch + 1')
    const batch = database.pool.transaction('test', (tx) => first.lock.checkEpoch(tx))
    await expect(batch).rejects.toBeInstanceOf(EpochLost)
    expect(first.lost).toEqual([BY_ANOTHER])
  })

  it('stays a standby whose connection breaks in the moment in which it gets the lock', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    await acquire(first)
    const pool = database.openPool({ applicationName: 'second' })
    const log = recordingLog()
    let hasBroken = false
    const lock = openProcessLock({
      async connect() {
        const connection = await pool.openReserved('control')
        const query = connection.query.bind(connection)
        connection.query = async <Row extends object>(text: string, params?: readonly unknown[]) => {
          const rows = await query<Row>(text, params)
          if (hasBroken || text !== ASK_FOR_LOCK) return rows
          if (!(rows[0] as { taken?: boolean }).taken) return rows
          hasBroken = true
          await endSessions(database, 'second')
          return rows
        }
        return connection
      },
      clock: systemClock,
      log,
      onLost: () => undefined,
      pollMs: 20,
      standbyPatienceMs: 50,
    })
    cleanups.push(() => lock.release())
    let hasStoodBy = false
    const waiting = lock.acquire(new AbortController().signal, () => {
      hasStoodBy = true
    })
    await expect.poll(() => hasStoodBy).toBe(true)
    await first.lock.release()
    await waiting
    expect(hasBroken).toBe(true)
    expect(lock.isHeld()).toBe(true)
    expect(JSON.stringify(log.lines)).toContain('standby lost its database connection')
  })

  it('stays a standby where a statement takes too long as it gets the lock, and asks again', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    await acquire(first)
    // A transaction of the owner on another session, which has checked the epoch and takes its time.
    const writer = await openTestConnection(database.dsn)
    cleanups.push(() => writer.close())
    await writer.query('begin')
    await writer.query('select epoch from process_epoch where id = 1 for share')
    const second = startProcess(database, 'second', { statementTimeoutMs: 100 })
    let hasStoodBy = false
    const waiting = acquire(second, () => {
      hasStoodBy = true
    })
    await expect.poll(() => hasStoodBy).toBe(true)
    await first.lock.release()
    await expect
      .poll(() => JSON.stringify(second.log.lines))
      .toContain('could not become the active process now')
    await writer.query('commit')
    await waiting
    expect(second.lock.isHeld()).toBe(true)
  })

  it('of several says that it had the lock where a statement takes too long then, and leaves it to others', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    await acquire(first)
    const writer = await openTestConnection(database.dsn)
    cleanups.push(() => writer.close())
    await writer.query('begin')
    await writer.query('select epoch from process_epoch where id = 1 for share')
    const mayClaim = async () => true
    const second = startProcess(database, 'second', { statementTimeoutMs: 100, mayClaim })
    let hasStoodBy = false
    const waiting = acquire(second, () => {
      hasStoodBy = true
    })
    await expect.poll(() => hasStoodBy).toBe(true)
    expect(second.lock.hadLock).toBe(false)
    await first.lock.release()
    await expect(waiting).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect([second.lock.hadLock, second.lock.isHeld()]).toEqual([true, false])
    await writer.query('commit')
    await second.lock.letGo()
    const third = startProcess(database, 'third')
    await acquire(third)
    expect(third.lock.isHeld()).toBe(true)
  })

  it('lets go of the lock only once it tries no more to take it again, on a session that comes late', async () => {
    const database = await freshDatabase()
    let late = false
    const waiting: (() => void)[] = []
    const process = startProcess(database, 'first', {
      connected: async () => late && new Promise<void>((resolve) => waiting.push(resolve)),
    })
    await acquire(process)
    const { epoch } = process.lock
    late = true
    await endSessions(database, 'first')
    await expect.poll(() => waiting.length).toBe(1)
    let hasLetGo = false
    const lettingGo = process.lock.letGo().then(() => {
      hasLetGo = true
    })
    await database.pool.query('select 1')
    expect(hasLetGo).toBe(false)
    late = false
    waiting[0]!()
    await lettingGo
    await acquire(process)
    expect([process.lock.isHeld(), process.lock.epoch, process.lost]).toEqual([true, epoch + 1, []])
  })

  it('can let go of the lock and stand by again, behind whoever has taken it', async () => {
    const database = await freshDatabase()
    const [first, second] = [startProcess(database, 'first'), startProcess(database, 'second')]
    await acquire(first)
    await first.lock.letGo()
    expect(first.lock.isHeld()).toBe(false)
    await acquire(second)
    const waiting = acquire(first)
    await second.lock.release()
    await waiting
    expect(first.lock.isHeld()).toBe(true)
    expect(first.lock.epoch).toBe(second.lock.epoch + 1)
    expect(first.lost).toEqual([])
  })

  it('gives up a session on which a standby hears nothing more, and takes the lock that is free', {
    timeout: 20_000,
  }, async () => {
    const database = await freshDatabase()
    const proxy = await startDatabaseProxy(database.dsn)
    cleanups.push(() => proxy.close())
    const first = startProcess(database, 'first')
    const second = startProcess(database, 'second', { dsn: proxy.dsn })
    await acquire(first)
    let hasStoodBy = false
    const waiting = acquire(second, () => {
      hasStoodBy = true
    })
    await expect.poll(() => hasStoodBy).toBe(true)
    proxy.fallSilent()
    await first.lock.release()
    await waiting
    expect(second.lock.isHeld()).toBe(true)
  })

  it('takes the lock again where its session hangs while the database answers elsewhere', async () => {
    const database = await freshDatabase()
    const proxy = await startDatabaseProxy(database.dsn)
    cleanups.push(() => proxy.close())
    const first = startProcess(database, 'first', { dsn: proxy.dsn })
    await acquire(first)
    const former = first.lock.connection()
    for (let times = 0; times < 5; times++) {
      first.lock.probe()
      await first.lock.ping(1_000)
    }
    expect(first.lock.connection()).toBe(former)
    proxy.fallSilent()
    for (let times = 0; times < 4; times++) first.lock.probe()
    expect(first.lock.isHeld()).toBe(false)
    await expect.poll(() => first.lock.isHeld(), { timeout: 10_000 }).toBe(true)
    await database.pool.transaction('test', (tx) => first.lock.checkEpoch(tx))
    expect(first.lost).toEqual([])
  })

  it('lets the active process come first when the database dropped everybody', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    // The standby is patient for as long as the test says.
    let goOn = () => {}
    const patience = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const second = startProcess(database, 'second', {
      pause: (ms) => (ms === PATIENCE_MS ? patience : new Promise((resolve) => setTimeout(resolve, ms))),
    })
    await acquire(first)
    let hasStoodBy = false
    const waiting = acquire(second, () => {
      hasStoodBy = true
    })
    await expect.poll(() => hasStoodBy).toBe(true)
    // In this order: the standby could take the lock between the ends of the two.
    await endSessions(database, 'second')
    await expect
      .poll(() => JSON.stringify(second.log.lines))
      .toContain('standby lost its database connection')
    await endSessions(database, 'first')
    await expect.poll(() => JSON.stringify(first.log.lines)).toContain('process lock taken again')
    goOn()
    await first.lock.release()
    await waiting
    expect(second.lock.isHeld()).toBe(true)
    expect(first.lost).toEqual([])
  })

  it('comes back from a database that was away, with the same epoch', async () => {
    const database = await freshDatabase()
    const proxy = await startDatabaseProxy(database.dsn)
    cleanups.push(() => proxy.close())
    const first = startProcess(database, 'first', { dsn: proxy.dsn })
    await acquire(first)
    proxy.goAway()
    await expect.poll(() => first.lock.isHeld()).toBe(false)
    expect(await first.lock.ping(1_000)).toBe(false)
    await expect.poll(() => JSON.stringify(first.log.lines)).toContain('database is away')
    proxy.comeBack()
    await expect.poll(() => first.lock.isHeld(), { timeout: 5_000 }).toBe(true)
    await database.pool.transaction('test', (tx) => first.lock.checkEpoch(tx))
    expect(first.lost).toEqual([])
  })

  it('stops a process that comes back to a lock that is free, but was held by another meanwhile', async () => {
    const database = await freshDatabase()
    const proxy = await startDatabaseProxy(database.dsn)
    cleanups.push(() => proxy.close())
    const first = startProcess(database, 'first', { dsn: proxy.dsn })
    await acquire(first)
    proxy.goAway()
    await expect.poll(() => first.lock.isHeld()).toBe(false)
    const second = startProcess(database, 'second')
    await acquire(second)
    await second.lock.release()
    proxy.comeBack()
    await expect.poll(() => first.lost, { timeout: 5_000 }).toEqual([BY_ANOTHER])
    expect(first.lock.isHeld()).toBe(false)
  })

  it('ends its own former session where the server still keeps it', async () => {
    const database = await freshDatabase()
    const proxy = await startDatabaseProxy(database.dsn)
    cleanups.push(() => proxy.close())
    const first = startProcess(database, 'first', { dsn: proxy.dsn })
    await acquire(first)
    proxy.loseClients()
    // The process may have the lock again before anything looks.
    await expect.poll(() => JSON.stringify(first.log.lines)).toContain('process lock connection lost')
    await expect.poll(() => first.lock.isHeld(), { timeout: 5_000 }).toBe(true)
    await database.pool.transaction('test', (tx) => first.lock.checkEpoch(tx))
    expect(first.lost).toEqual([])
  })

  it('stops waiting when it is told to', async () => {
    const database = await freshDatabase()
    const first = startProcess(database, 'first')
    const second = startProcess(database, 'second')
    await acquire(first)
    const stop = new AbortController()
    const waiting = second.lock.acquire(stop.signal, () => stop.abort(new Error('stopping')))
    await expect(waiting).rejects.toThrow('stopping')
  })

  it('refuses a server older than PostgreSQL 15 by name, and takes that one', async () => {
    const server = (number: string, name: string) => ({
      query: async <Row extends object>() => [{ number, name, encoding: 'UTF8' }] as unknown as Row[],
      execute: async () => 0,
    })
    await expect(checkServer(server('140013', '14.13'))).rejects.toThrow(
      'PostgreSQL 15 or newer is needed, this server is PostgreSQL 14.13',
    )
    await checkServer(server('150000', '15.0'))
  })

  it('refuses a database that is not in UTF-8 by name', async () => {
    const { pool } = await freshDatabase()
    const name = `muster_${randomBytes(6).toString('hex')}`
    await pool.execute(
      `create database ${name} encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0`,
    )
    cleanups.push(() => pool.execute(`drop database ${name} with (force)`))
    const database = await freshDatabase()
    const dsn = new URL(database.dsn)
    dsn.pathname = `/${name}`
    const { lock } = startProcess(database, 'first', { dsn: dsn.toString() })
    await expect(lock.acquire(new AbortController().signal, () => {})).rejects.toThrow(
      'A database in UTF-8 is needed, this one is in SQL_ASCII',
    )
  })
})
