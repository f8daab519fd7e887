import { connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { startDatabaseProxy } from '../../support/database-proxy.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, untilOwner } from '../../support/members.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { startTestService } from '../../support/service.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

/** The parameters with which a session of PostgreSQL begins, by name; null for what begins none. */
function readStartup(first: Buffer): Record<string, string> | null {
  if (first.length < 8 || first.readInt32BE(4) !== 196_608) return null
  const texts = first.subarray(8, first.readInt32BE(0)).toString('utf8').split('\0')
  const found: Record<string, string> = {}
  for (let at = 0; at + 1 < texts.length; at += 2) if (texts[at] !== '') found[texts[at]!] = texts[at + 1]!
  return found
}

/** A way to the database that notes with what each session begins. */
async function startWatchedWay(database: TestDatabase) {
  const to = new URL(database.dsn)
  const begun: Record<string, string>[] = []
  const sockets = new Set<Socket>()
  const server = createServer((from) => {
    const onward = connect(Number(to.port || 5432), to.hostname)
    for (const socket of [from, onward]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    from.once('data', (first: Buffer) => {
      const startup = readStartup(first)
      if (startup !== null) begun.push(startup)
    })
    from.pipe(onward).pipe(from)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const dsn = new URL(database.dsn)
  dsn.hostname = '127.0.0.1'
  dsn.port = String((server.address() as { port: number }).port)
  return { dsn: dsn.toString(), begun }
}

it('the database ends each transaction of a member that is idle for three seconds, whatever the session is for', async () => {
  const database = await freshDatabase()
  const { dsn, begun } = await startWatchedWay(database)
  const member = await startTestMember(database, { databaseDsn: dsn })
  cleanups.push(() => member.stop())
  await untilOwner(member)
  const as = await member.token()
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => member.call('GET', '/api/audit/events', { as })),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  // The lock, the renewals, and what requests and the fleet use.
  expect(begun.length).toBeGreaterThan(2)
  expect(new Set(begun.map((session) => session['idle_in_transaction_session_timeout']))).toEqual(
    new Set(['3000']),
  )
})

/** Wait until a change is stored through this process, and so all that the fleet had to store before it. */
async function untilStored(call: (theme: string) => Promise<{ status: number }>): Promise<number> {
  const fromMs = performance.now()
  await eventually('a change is stored', async () => (await call('dark')).status === 200, {
    withinMs: 20_000,
  })
  return performance.now() - fromMs
}

/** An agent that reports another health each 100 ms, each of which is to be stored. */
async function startReporting(opampPort: number) {
  const agent = startSimulatedAgent({
    url: `ws://127.0.0.1:${opampPort}/v1/opamp`,
    reconnectMs: 100,
    identifying: { 'service.name': 'otelcol' },
    behaviour: { kind: 'silent' },
  })
  let isHealthy = false
  const timer = setInterval(() => {
    agent.say({ health: { healthy: isHealthy } })
    isHealthy = !isHealthy
  }, 100)
  cleanups.push(() => {
    clearInterval(timer)
    agent.stop()
  })
  await eventually('it is there', () => agent.isConnected())
}

/** Sessions that were opened before pass nothing on any more; then a change is to be stored within these seconds. */
const HANGING_MS = 10_000

it('an owner takes its lock again where its sessions to the database hang and new ones get through, and changes are stored', {
  timeout: 60_000,
}, async () => {
  const database = await freshDatabase()
  const way = await startDatabaseProxy(database.dsn)
  cleanups.push(() => way.close())
  const owner = await startTestMember(database, { databaseDsn: way.dsn })
  cleanups.push(() => owner.stop())
  await untilOwner(owner)
  const as = await owner.token()
  await startReporting(owner.member.opampPort)
  way.fallSilent()
  const isTakenAgain = () =>
    owner.log.lines.some(({ message }) => message.startsWith('process lock taken again'))
  const took = await untilStored((theme) =>
    owner.call('PUT', '/api/me/preferences', { as, body: { theme, language: 'en' } }),
  )
  await eventually('it has taken its lock again', isTakenAgain, { withinMs: 15_000 })
  expect([owner.fatal(), owner.member.owner() !== null]).toEqual([null, true])
  expect(took).toBeLessThan(HANGING_MS)
})

it('an owner whose lock alone is on a session that hangs takes it again, and no process that waits for it gets it', {
  timeout: 60_000,
}, async () => {
  const database = await freshDatabase()
  const way = await startDatabaseProxy(database.dsn)
  cleanups.push(() => way.close())
  const owner = await startTestMember(database, { databaseDsn: way.dsn })
  cleanups.push(() => owner.stop())
  await untilOwner(owner)
  for (let index = 0; index < 2; index++) {
    const front = await startTestMember(database)
    cleanups.push(() => front.stop())
    await eventually('it is ready', async () => (await fetch(`${front.url}/readyz`)).status === 200)
  }
  const takenAgain = () =>
    owner.log.lines.filter(({ message }) => message.startsWith('process lock taken again')).length
  for (let times = 1; times <= 3; times++) {
    const [holder] = await database.pool.query<{ port: number }>(
      `select a.client_port as port from pg_locks l join pg_stat_activity a on a.pid = l.pid
         join pg_database d on d.oid = l.database
       where l.locktype = 'advisory' and l.granted and l.objid = 1 and l.objsubid = 2
         and d.datname = current_database()`,
    )
    way.fallSilent(holder!.port)
    await eventually(
      'it has taken its lock again, or has ended',
      () => takenAgain() === times || owner.fatal(),
    )
    expect([owner.fatal(), owner.member.owner() !== null]).toEqual([null, true])
  }
})

it('a process that is alone takes its lock again where its sessions to the database hang, and changes are stored', {
  timeout: 60_000,
}, async () => {
  const database = await freshDatabase()
  const way = await startDatabaseProxy(database.dsn)
  cleanups.push(() => way.close())
  const alone = await startTestService(database, { databaseDsn: way.dsn })
  cleanups.push(() => alone.stop())
  const as = await alone.token()
  await startReporting(alone.service.opampPort)
  expect((await alone.call('GET', '/readyz')).status).toBe(200)
  way.fallSilent()
  const took = await untilStored((theme) =>
    alone.call('PUT', '/api/me/preferences', { as, body: { theme, language: 'en' } }),
  )
  expect(took).toBeLessThan(HANGING_MS)
  const isReady = async () => (await alone.call('GET', '/readyz')).status === 200
  await eventually('it is ready', isReady, { withinMs: 15_000 })
  expect(alone.fatal()).toBeNull()
})

it('an owner whose clock comes to be minutes off goes on answering the others, and leaves the fleet to none of them', async () => {
  const database = await freshDatabase()
  let aheadMs = 0
  const clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + aheadMs) }
  const owner = await startTestMember(database, {}, { clock })
  cleanups.push(() => owner.stop())
  await untilOwner(owner)
  const front = await startTestMember(database)
  cleanups.push(() => front.stop())
  const readiness = async (url: string) => (await fetch(`${url}/readyz`)).status
  await eventually('the front is ready', async () => (await readiness(front.url)) === 200)
  const as = await owner.token()
  for (const off of [180_000, -180_000]) {
    aheadMs = off
    await eventually('it says that it is off', async () => (await readiness(owner.url)) === 503)
    expect((await front.call('GET', '/api/workloads', { as })).status).toBe(200)
    aheadMs = 0
    await eventually('it is ready', async () => (await readiness(owner.url)) === 200)
  }
  expect([owner.fatal(), owner.member.owner() !== null]).toEqual([null, true])
})

it('a member whose clock is more than two seconds off that of the database is not ready, whoever owns', async () => {
  const database = await freshDatabase()
  const owner = await startTestMember(database)
  cleanups.push(() => owner.stop())
  await untilOwner(owner)
  let aheadMs = 0
  const clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + aheadMs) }
  const front = await startTestMember(database, {}, { clock })
  cleanups.push(() => front.stop())
  const readiness = async () => (await fetch(`${front.url}/readyz`)).status
  const untilIs = (status: number) =>
    eventually(`it is ${status}`, async () => (await readiness()) === status)
  await untilIs(200)
  for (const off of [3_000, -3_000]) {
    aheadMs = off
    await untilIs(503)
    expect((await fetch(`${front.url}/healthz`)).status).toBe(200)
    aheadMs = 0
    await untilIs(200)
  }
  aheadMs = 1_000
  await owner.stop()
  await untilOwner(front)
  expect(await readiness()).toBe(200)
  aheadMs = 3_000
  await untilIs(503)
})
