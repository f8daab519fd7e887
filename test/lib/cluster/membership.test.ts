import { afterEach, describe, expect, it } from 'vitest'
import { Membership } from '../../../lib/cluster/membership.ts'
import { deriveFleetKeys } from '../../../lib/cluster/proofs.ts'
import type { Connection } from '../../../lib/store/connection.ts'
import { DatabaseUnavailable } from '../../../lib/store/db.ts'
import { MEMBERS_MAX, sessionNameOf } from '../../../lib/store/members.ts'
import { openProcessLock, type ProcessLock } from '../../../lib/store/process-lock.ts'
import {
  FAKE_START,
  type FakeClock,
  fakeClock,
  type RecordingLog,
  recordingLog,
} from '../../support/fakes.ts'
import { type ManualTimers, manualTimers } from '../../support/manual-timers.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

const KEYS = deriveFleetKeys('a secret that is long enough for tests')

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

interface Process {
  membership: Membership
  lock: ProcessLock
  clock: FakeClock
  timers: ManualTimers
  pool: ReturnType<TestDatabase['openPool']>
  session: Connection
  heard: string[]
  log: RecordingLog
  /** Become the owner, as after getting the process lock. */
  own(): Promise<void>
  /** Let a second pass, and wait until the renewal that is due then is answered. */
  second(): Promise<void>
}

const KNOWS = { newestMigration: 9_000, newestBreaking: 0 }

async function startProcess(
  database: TestDatabase,
  id: string,
  startedAt = FAKE_START,
  knows: { newestMigration: number; newestBreaking: number; address?: string } = KNOWS,
): Promise<Process> {
  const clock = fakeClock(new Date().toISOString())
  const timers = manualTimers(clock)
  const pool = database.openPool({ applicationName: sessionNameOf(id), reserved: 2 })
  const session = await database.openPool({ applicationName: `asks for ${id}` }).openReserved('test')
  const heard: string[] = []
  const log = recordingLog()
  let renewed = 0
  const membership: Membership = new Membership({
    self: {
      id,
      address: `${id}:1`,
      host: 'box',
      pid: 7,
      version: '1',
      linkVersion: 1,
      startedAt: new Date(startedAt),
      ...knows,
    },
    keys: KEYS,
    connect: () => pool.openReserved('members'),
    clock,
    timers,
    log,
    onRenewed: () => void renewed++,
    onLate: () => void heard.push('late'),
    suitOf: (other) => (other === membership.owner?.id && other !== id ? null : 'good'),
    onOwnershipLost: () => void heard.push('ownership lost'),
    onOutdated: () => void heard.push('outdated'),
  })
  const lock = openProcessLock({
    connect: () => pool.openReserved('control'),
    clock,
    log: recordingLog(),
    pollMs: 20,
    onLost: () => void heard.push('lock lost'),
    mayClaim: (connection, holder) => membership.mayClaim(connection, holder),
  })
  cleanups.push(async () => {
    await membership.stop()
    await lock.release()
    await session.close()
  })
  const untilRenewed = async (act: () => void) => {
    const before = renewed
    act()
    await expect.poll(() => renewed).toBeGreaterThan(before)
  }
  await untilRenewed(() => membership.start())
  return {
    membership,
    lock,
    clock,
    timers,
    pool,
    session,
    heard,
    log,
    async own() {
      await membership.own(lock.epoch)
      membership.decide(clock.now())
      await membership.renewNow()
    },
    second: () => untilRenewed(() => timers.advance(1_000)),
  }
}

const acquire = ({ lock }: Process) => lock.acquire(new AbortController().signal)

/** Ask whether a process may claim the lock that this member holds, or nobody (null). */
const mayClaim = ({ membership, session }: Process, holder: string | null) =>
  membership.mayClaim(
    session,
    holder === null
      ? null
      : { pid: 1, application: sessionNameOf(holder), address: 'local socket', since: new Date(0) },
  )

/** Make a member look as if it had not renewed its row for this many seconds. */
const silence = ({ pool }: TestDatabase, id: string, seconds: number) =>
  pool.execute(`update members set seen_at = clock_timestamp() - make_interval(secs => $2) where id = $1`, [
    id,
    seconds,
  ])

describe('members', () => {
  it('know of each other and of the owner, and of one that stopped no more', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await acquire(a)
    await a.own()
    const b = await startProcess(database, 'b', '2026-07-01T08:00:01.000Z')
    await a.second()
    await a.second()
    expect(a.membership.members.map(({ id }) => id)).toEqual(['b', 'a'])
    expect(b.membership.owner).toMatchObject({ id: 'a', address: 'a:1', epoch: a.lock.epoch })
    await b.membership.stop()
    await a.second()
    expect(a.membership.members.map(({ id }) => id)).toEqual(['a'])
  })

  it('say how far their clocks are off, and are out of time beyond two seconds', async () => {
    const a = await startProcess(await freshDatabase(), 'a')
    expect(a.membership.isInTime).toBe(true)
    a.clock.set(new Date(Date.now() + 60_000))
    await a.second()
    expect(a.membership.isInTime).toBe(false)
    expect(a.membership.skewMs).toBeGreaterThan(50_000)
  })

  it('state their host also where they joined before the schema had a place for it', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await a.second()
    await a.session.execute('update members set host = null, pid = null')
    await a.second()
    await a.second()
    expect(a.membership.members).toMatchObject([{ id: 'a', host: 'box', pid: 7 }])
  })

  it('hear that they stood still', async () => {
    const a = await startProcess(await freshDatabase(), 'a')
    await a.second()
    expect(a.heard).toEqual([])
    // The timer fires late, when the process that stood still goes on.
    a.clock.advance(3_500)
    await a.second()
    expect(a.heard).toEqual(['late'])
  })
})

describe('rows that prove nothing', () => {
  it('are not told of a process to itself, whose row is from before there was a place for proofs', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await a.second()
    await database.pool.execute(`update members set proof = null`)
    await a.second()
    expect(a.membership.unproven).toBe(0)
    expect(a.log.lines.filter(({ message }) => /do not prove/.test(message))).toEqual([])
  })

  const forge = ({ pool }: TestDatabase, count: number) =>
    pool.execute(
      `insert into members (id, address, version, link_version, started_at, seen_at)
       select 'forged ' || n, 'nowhere:1', '1', 4, '2020-01-01', clock_timestamp() from generate_series(1, $1) n`,
      [count],
    )

  it('are read up to a number, and not counted', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await acquire(a)
    await a.own()
    await forge(database, MEMBERS_MAX + 100)
    await a.second()
    expect(a.membership.members.map(({ id }) => id)).toEqual(['a'])
    expect(a.membership.owner).toMatchObject({ id: 'a' })
    expect(a.membership.unproven).toBe(MEMBERS_MAX - 1)
    await a.second()
    const said = a.log.lines.filter(({ message }) => /do not prove/.test(message))
    expect(said.map(({ fields }) => fields)).toEqual([expect.objectContaining({ count: MEMBERS_MAX - 1 })])
  })

  it('hold up nobody who claims, and break no migration: a process that breaks them need not wait', async () => {
    const database = await freshDatabase()
    await forge(database, 3)
    await database.pool.execute(`update members set started_at = now() + interval '1 hour'`)
    const a = await startProcess(database, 'a', FAKE_START, { newestMigration: 9_001, newestBreaking: 9_001 })
    await a.second()
    expect(a.membership.olderMembers).toEqual([])
    expect(await mayClaim(a, null)).toBe(true)
  })

  it("do not last where they are a member's, whatever of them was changed", async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await a.second()
    const read = async () =>
      (await database.pool.query('select * from members'))[0] as Record<string, unknown>
    const before = await read()
    await database.pool.execute(
      `update members set address = 'x:1', version = 'x', link_version = 99, started_at = now(), owned_epoch = 99,
         owned_since = now(), linked_epoch = 99, newest_migration = 99, newest_breaking = 99, host = 'x', pid = 99, proof = 'x'`,
    )
    await a.second()
    expect(await read()).toEqual({ ...before, seen_at: expect.anything() })
  })

  it('of an owner that stands still have its sessions ended all the same', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await acquire(a)
    await a.own()
    const b = await startProcess(database, 'b')
    await database.pool.execute(`update members set proof = null where id = 'a'`)
    await silence(database, 'a', 5)
    b.clock.advance(10_000)
    await b.second()
    expect(b.membership.owner).toBeNull()
    await acquire(b)
    expect(b.lock.epoch).toBe(a.lock.epoch + 1)
  })
})

describe('the owner', () => {
  it('acts only for three seconds after a renewal began', async () => {
    const a = await startProcess(await freshDatabase(), 'a')
    expect(a.membership.mayAct()).toBe(false)
    await acquire(a)
    await a.own()
    expect(a.membership.mayAct()).toBe(true)
    a.clock.advance(2_999)
    expect(a.membership.mayAct()).toBe(true)
    a.clock.advance(1)
    expect(a.membership.mayAct()).toBe(false)
    await a.second()
    expect(a.membership.mayAct()).toBe(true)
  })

  it('is replaced when it falls silent, with its open transaction taken back, and stops', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await acquire(a)
    await a.own()
    const b = await startProcess(database, 'b')
    // A process that stands still in a transaction that checks the epoch blocks whoever raises it.
    let goOn = () => {}
    const standsStill = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const work = a.pool.transaction('test', async (tx) => {
      await a.lock.checkEpoch(tx)
      await standsStill
      await tx.execute(`update process_epoch set raised_at = raised_at`)
    })
    b.clock.advance(10_000)
    await silence(database, 'a', 3)
    await b.second()
    expect(await mayClaim(b, 'a')).toBe(false)
    await silence(database, 'a', 5)
    await b.second()
    await acquire(b)
    await b.own()
    expect(b.lock.epoch).toBe(a.lock.epoch + 1)
    expect(b.membership.owner).toMatchObject({ id: 'b' })
    goOn()
    await expect(work).rejects.toBeInstanceOf(DatabaseUnavailable)
    await expect.poll(() => a.heard).toContain('lock lost')
    a.timers.advance(1_000)
    await expect.poll(() => a.heard).toContain('ownership lost')
    expect(a.membership.mayAct()).toBe(false)
  })

  it('is left alone for ten seconds after a member could not reach the database itself', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await acquire(a)
    await a.own()
    const b = await startProcess(database, 'b')
    await database.pool.execute(`alter table members rename to members_away`)
    b.timers.advance(1_000)
    await expect.poll(() => JSON.stringify(b.log.lines)).toContain('could not renew itself')
    await database.pool.execute(`alter table members_away rename to members`)
    await b.second()
    await silence(database, 'a', 60)
    await b.second()
    expect(await mayClaim(b, 'a')).toBe(false)
    b.clock.advance(10_000)
    await silence(database, 'a', 60)
    await b.second()
    expect(await mayClaim(b, 'a')).toBe(true)
  })

  it('that lets go leaves to the member that started last, and to the others only a second later', async () => {
    const database = await freshDatabase()
    const older = await startProcess(database, 'a', '2026-07-01T08:00:00.000Z')
    const newer = await startProcess(database, 'b', '2026-07-01T09:00:00.000Z')
    await older.second()
    await newer.second()
    expect(await mayClaim(newer, null)).toBe(true)
    expect(await mayClaim(older, null)).toBe(false)
    older.clock.advance(1_000)
    expect(await mayClaim(older, null)).toBe(true)
    // One that takes it and does not come to decide costs the others no time.
    await acquire(newer)
    await newer.membership.own(newer.lock.epoch)
    await older.second()
    expect(await mayClaim(older, 'b')).toBe(false)
    expect(await mayClaim(older, null)).toBe(true)
    // Once one has decided, the time for which they wait begins anew.
    newer.membership.decide(newer.clock.now())
    await newer.membership.renewNow()
    await startProcess(database, 'c', '2026-07-01T10:00:00.000Z')
    await older.second()
    expect(await mayClaim(older, 'b')).toBe(false)
    expect(await mayClaim(older, null)).toBe(false)
  })

  it('that left it to others waits for them as any other: how long it was free before it owned counts no more', async () => {
    const database = await freshDatabase()
    const former = await startProcess(database, 'a', '2026-07-01T08:00:00.000Z')
    await acquire(former)
    await former.own()
    const newer = await startProcess(database, 'b', '2026-07-01T09:00:00.000Z')
    await former.second()
    former.clock.advance(60_000)
    former.membership.disown()
    await former.lock.letGo()
    await former.second()
    await newer.second()
    expect(await mayClaim(former, null)).toBe(false)
    former.clock.advance(1_000)
    expect(await mayClaim(former, null)).toBe(true)
  })

  it('is none that would break others, until these have fallen silent; one of them need not wait for it', async () => {
    const database = await freshDatabase()
    const older = await startProcess(database, 'a', '2026-07-01T08:00:00.000Z')
    const breaks = { newestMigration: 9_001, newestBreaking: 9_001 }
    const newer = await startProcess(database, 'b', '2026-07-01T09:00:00.000Z', breaks)
    await older.second()
    await newer.second()
    expect(await mayClaim(newer, null)).toBe(false)
    expect(newer.membership.olderMembers.map(({ id }) => id)).toEqual(['a'])
    expect(await mayClaim(older, null)).toBe(true)
    newer.clock.advance(10_000)
    await silence(database, 'a', 5)
    await newer.second()
    expect(newer.membership.olderMembers).toEqual([])
    expect(await mayClaim(newer, null)).toBe(true)
    // The one that was silent goes on in a database that it does not know.
    await database.pool.execute(
      `insert into schema_migrations (version, name, is_breaking, applied_at) values (9001, 'next', true, now())`,
    )
    older.timers.advance(1_000)
    await expect.poll(() => older.heard).toContain('outdated')
    expect(older.membership.mayAct()).toBe(false)
  })
})

describe('a process that has just begun, when the database may have been away until then', () => {
  const idsOf = async ({ pool }: TestDatabase) =>
    (await pool.query<{ id: string }>(`select id from members order by id`)).map(({ id }) => id)

  it('leaves a free lock to the owner that has a row, for ten seconds', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await acquire(a)
    await a.own()
    await silence(database, 'a', 300)
    const b = await startProcess(database, 'b')
    expect(await mayClaim(b, null)).toBe(false)
    b.clock.advance(9_999)
    expect(await mayClaim(b, null)).toBe(false)
    b.clock.advance(1)
    await b.second()
    expect(await mayClaim(b, null)).toBe(true)
  })

  it('takes nobody for gone by silence: not a holder of the lock, not those that started later, not those that it would break', async () => {
    const database = await freshDatabase()
    await startProcess(database, 'a')
    await startProcess(database, 'z', '2026-07-02T08:00:00.000Z')
    for (const id of ['a', 'z']) await silence(database, id, 300)
    const b = await startProcess(database, 'b', '2026-07-01T09:00:00.000Z')
    await b.second()
    expect(await mayClaim(b, 'a')).toBe(false)
    expect(await mayClaim(b, null)).toBe(false)
    b.clock.advance(1_000)
    expect(await mayClaim(b, null)).toBe(true)
    const breaks = { newestMigration: 9_001, newestBreaking: 9_001 }
    const newest = await startProcess(database, 'c', '2026-07-03T08:00:00.000Z', breaks)
    expect(await mayClaim(newest, null)).toBe(false)
    expect(newest.membership.olderMembers.map(({ id }) => id)).toEqual(['z', 'b', 'a'])
    expect(newest.membership.departures).toEqual([])
    newest.clock.advance(10_000)
    await silence(database, 'b', 300)
    await newest.second()
    expect(await mayClaim(newest, null)).toBe(true)
  })

  const losesTheDatabase = async ({ pool }: TestDatabase, { timers, log }: Process) => {
    await pool.execute(`alter table members rename to members_away`)
    timers.advance(1_000)
    await expect.poll(() => JSON.stringify(log.lines)).toContain('could not renew itself')
  }

  it('does not go by what it read before the outage', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await acquire(a)
    await a.own()
    const b = await startProcess(database, 'b')
    await b.second()
    await losesTheDatabase(database, b)
    expect(await mayClaim(b, 'a')).toBe(false)
    await database.pool.execute(`alter table members_away rename to members`)
    await silence(database, 'a', 60)
    await b.second()
    expect(await mayClaim(b, 'a')).toBe(false)
    expect(await mayClaim(b, null)).toBe(false)
    b.clock.advance(10_000)
    expect(await mayClaim(b, 'a')).toBe(true)
  })

  it('keeps the rows of silent members, and deletes them later', async () => {
    const database = await freshDatabase()
    await startProcess(database, 'a')
    const b = await startProcess(database, 'b')
    await silence(database, 'a', 300)
    // The first time to look after rows comes while the database has just come back.
    b.clock.advance(29_000)
    await losesTheDatabase(database, b)
    await database.pool.execute(`alter table members_away rename to members`)
    await b.second()
    expect(await idsOf(database)).toEqual(['a', 'b'])
    b.clock.advance(40_000)
    await b.second()
    await b.second()
    expect(await idsOf(database)).toEqual(['b'])
  })

  it('waits for nothing where a member holds the lock and all of them speak', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    await acquire(a)
    await a.own()
    const b = await startProcess(database, 'b')
    await b.second()
    expect(await mayClaim(b, 'a')).toBe(false)
    await silence(database, 'a', 5)
    await b.second()
    expect(await mayClaim(b, 'a')).toBe(true)
  })

  it('waits for nobody who was reached at its own address on its own machine: it is there now', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a', FAKE_START, { ...KNOWS, address: 'b:1' })
    await acquire(a)
    await a.own()
    await a.lock.release()
    const elsewhere = await startProcess(database, 'c')
    expect(await mayClaim(elsewhere, null)).toBe(false)
    const b = await startProcess(database, 'b')
    expect(await mayClaim(b, null)).toBe(true)
    expect(await idsOf(database)).toEqual(['b', 'c'])
  })
})

describe('whoever holds the lock and stops', () => {
  it('is replaced where it stopped before it wrote down what it owns', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    const b = await startProcess(database, 'b')
    await acquire(a)
    b.clock.advance(10_000)
    await silence(database, 'a', 5)
    await b.second()
    await acquire(b)
    expect(b.lock.epoch).toBe(a.lock.epoch + 1)
    await expect.poll(() => a.heard).toContain('lock lost')
  })

  it('is replaced four seconds after it was seen, where it has no row', async () => {
    const database = await freshDatabase()
    const a = await startProcess(database, 'a')
    const b = await startProcess(database, 'b')
    await acquire(a)
    await database.pool.execute(`delete from members where id = 'a'`)
    b.clock.advance(10_000)
    await b.second()
    expect(await mayClaim(b, 'a')).toBe(false)
    b.clock.advance(3_999)
    expect(await mayClaim(b, 'a')).toBe(false)
    b.clock.advance(1)
    expect(await mayClaim(b, 'a')).toBe(true)
    await acquire(b)
    await expect.poll(() => a.heard).toContain('lock lost')
  })

  it('keeps the lock where it is no member', async () => {
    const database = await freshDatabase()
    const b = await startProcess(database, 'b')
    const alone = { pid: 1, application: 'muster', address: 'local socket', since: new Date(0) }
    for (let n = 0; n < 3; n++) {
      expect(await b.membership.mayClaim(b.session, alone)).toBe(false)
      b.clock.advance(10_000)
    }
  })
})
