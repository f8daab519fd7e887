import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { Config } from '../../../runtime/config.ts'
import { startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { startDatabaseProxy } from '../../support/database-proxy.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'
import { findFreePort } from '../../support/service.ts'

// Processes that others do not reach, or that do not reach the database, where others do.

const NOBODY_LISTENS = { cluster: { advertiseAddress: '127.0.0.1:1' } as never }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

async function startOne(database: TestDatabase, config: Partial<Config> = {}): Promise<TestMember> {
  const member = await startTestMember(database, config)
  cleanups.push(() => member.stop())
  return member
}

async function startAgent({ member }: TestMember, reconnectMs = 50) {
  const agent = startSimulatedAgent({
    url: `ws://127.0.0.1:${member.opampPort}/v1/opamp`,
    reconnectMs,
    identifying: { 'service.name': 'otelcol' },
    behaviour: { kind: 'silent' },
  })
  cleanups.push(() => agent.stop())
  await eventually('it is there', () => member.agents.counts.agents === 1)
  return agent
}

/** A way to an internal port that can be closed to all connections but some. */
async function startClosingWay(internalPort: number) {
  const pairs = new Map<Socket, Socket>()
  let kept = new Set<Socket>()
  let isClosed = false
  const server = createServer((from) => {
    from.on('error', () => undefined)
    if (isClosed) return
    const onward = connect(internalPort, '127.0.0.1').on('error', () => undefined)
    pairs.set(from, onward)
    from.on('close', () => onward.destroy())
    onward.on('close', () => from.destroy())
    from.pipe(onward).pipe(from)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    for (const from of pairs.keys()) from.destroy()
    server.close()
  })
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    keepThoseThatAreThere() {
      kept = new Set(pairs.keys())
    },
    closeToOthers() {
      isClosed = true
      for (const [from, onward] of pairs) if (!kept.has(from)) onward.destroy()
    },
  }
}

/** Wait until so many have said that they have a link to the owner, and each has read that. */
async function untilLinksAreKnown(database: TestDatabase, count: number): Promise<void> {
  await eventually('each has said that it has a link', async () => {
    const [said] = await database.pool.query<{ n: number }>(
      'select count(*)::int as n from members join process_epoch on epoch = linked_epoch',
    )
    return said!.n === count
  })
  await pause(3_000)
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const readiness = async (member: TestMember) => (await member.call('GET', '/readyz')).status

it('a process that is not reached at its own address is not ready, and leaves the lock to one that is', {
  timeout: 60_000,
}, async () => {
  const database = await freshDatabase()
  const first = await startOne(database)
  await untilOwner(first)
  const reached = await startOne(database)
  const unreached = await startOne(database, NOBODY_LISTENS)
  const token = await first.token()
  await eventually('it is ready', async () => (await readiness(reached)) === 200)
  await eventually('the other one is linked', () => first.member.owner()!.ctx.cluster!().members.length === 3)
  expect(await readiness(unreached)).toBe(503)
  await first.stop()
  await eventually('one follows', () => reached.member.owner() ?? unreached.member.owner(), {
    withinMs: 20_000,
  })
  expect(unreached.member.owner()).toBeNull()
  expect((await reached.call('GET', '/api/workloads', { as: token })).status).toBe(200)
})

it('an owner that is not reached at its own address leaves the fleet to another process, and serves its sockets on', {
  timeout: 90_000,
}, async () => {
  const database = await freshDatabase()
  const unreached = await startOne(database, NOBODY_LISTENS)
  await untilOwner(unreached)
  const token = await unreached.token()
  const agent = await startAgent(unreached, 0)
  const reached = await startOne(database)
  const next = await eventually('another one owns', () => reached.member.owner(), { withinMs: 40_000 })
  await eventually('it knows the agent', () => next.ctx.fleet.state.instances.size === 1)
  expect([unreached.fatal(), unreached.member.owner(), agent.isConnected()]).toEqual([null, null, true])
  expect((await unreached.call('GET', '/api/workloads', { as: token })).status).toBe(200)

  await reached.stop()
  await eventually('it owns again, as the only one', () => unreached.member.owner(), { withinMs: 20_000 })
  const body = { theme: 'dark', language: 'fr' }
  expect((await unreached.call('PUT', '/api/me/preferences', { as: token, body })).status).toBe(200)
})

it('an owner that alone has lost the database, and was replaced, is not ready and sends its agents to the others', {
  timeout: 120_000,
}, async () => {
  const database = await freshDatabase()
  const way = await startDatabaseProxy(database.dsn)
  cleanups.push(() => way.close())
  const former = await startOne(database, { databaseDsn: way.dsn })
  await untilOwner(former)
  const next = await startOne(database)
  await eventually('it is ready', async () => (await readiness(next)) === 200)
  await eventually('the owner knows it', () => former.member.owner()!.ctx.cluster!().members.length === 2)
  await startAgent(former)
  way.goAway()
  await eventually('another one follows', () => next.member.owner(), { withinMs: 20_000 })
  await eventually('it is not ready', async () => (await readiness(former)) === 503, { withinMs: 20_000 })
  await eventually('its agent is sent away', () => former.member.agents.counts.agents === 0, {
    withinMs: 45_000,
  })
})

it('a front that alone has lost the database, so that offers stay with it, is not ready and sends its agents to the others', {
  timeout: 120_000,
}, async () => {
  const database = await freshDatabase()
  const way = await startDatabaseProxy(database.dsn)
  cleanups.push(() => way.close())
  const owner = await startOne(database)
  await untilOwner(owner)
  const front = await startOne(database, { databaseDsn: way.dsn })
  await eventually('it is ready', async () => (await readiness(front)) === 200)
  await startAgent(front)
  const { fleet } = owner.member.owner()!.ctx
  const [instance] = await eventually('the owner knows it', () => {
    const known = [...fleet.state.instances.values()]
    return known[0]?.workload ? known : null
  })
  way.goAway()
  await pause(12_000)
  // Nothing is offered: it is as good as any other one.
  expect(await readiness(front)).toBe(200)
  await pushConfig(fleet, instance!.workload!.id, configYaml())
  await eventually('it is not ready', async () => (await readiness(front)) === 503, { withinMs: 20_000 })
  await eventually('its agent is sent away', () => front.member.agents.counts.agents === 0, {
    withinMs: 45_000,
  })
  way.comeBack()
  await eventually('it is ready again', async () => (await readiness(front)) === 200, { withinMs: 20_000 })
  await eventually('its agent is back', () => front.member.agents.counts.agents === 1)
})

it('an owner that itself alone reaches leaves the fleet to another process, where two others run', {
  timeout: 120_000,
}, async () => {
  const database = await freshDatabase()
  const internalPort = await findFreePort()
  const way = await startClosingWay(internalPort)
  const cluster = { internalAddress: `127.0.0.1:${internalPort}`, advertiseAddress: way.address }
  const former = await startOne(database, { cluster: cluster as never })
  await untilOwner(former)
  await eventually('it has a link to itself', async () => (await readiness(former)) === 200)
  const token = await former.token()
  const agent = await startAgent(former, 0)
  way.keepThoseThatAreThere()
  const fronts = [await startOne(database), await startOne(database)]
  for (const front of fronts) await eventually('it is ready', async () => (await readiness(front)) === 200)
  await untilLinksAreKnown(database, 3)
  way.closeToOthers()
  const next = await eventually('another one owns', () => fronts.find(({ member }) => member.owner()), {
    withinMs: 60_000,
  })
  await eventually('it knows the agent', () => next.member.owner()!.ctx.fleet.state.instances.size === 1)
  expect([former.fatal(), former.member.owner(), agent.isConnected()]).toEqual([null, null, true])
  expect((await former.call('GET', '/api/workloads', { as: token })).status).toBe(200)
  for (const front of fronts) await eventually('it is ready', async () => (await readiness(front)) === 200)
})

it('fronts that have lost the owner and the database together keep their agents: none has a way that another one has not', {
  timeout: 120_000,
}, async () => {
  const database = await freshDatabase()
  const way = await startDatabaseProxy(database.dsn)
  cleanups.push(() => way.close())
  const owner = await startOne(database, { databaseDsn: way.dsn })
  await untilOwner(owner)
  const fronts = [
    await startOne(database, { databaseDsn: way.dsn }),
    await startOne(database, { databaseDsn: way.dsn }),
  ]
  for (const front of fronts) {
    await eventually('it is ready', async () => (await readiness(front)) === 200)
    await startAgent(front)
  }
  await untilLinksAreKnown(database, 3)
  way.goAway()
  await owner.stop()
  await pause(40_000)
  expect(fronts.map(({ member }) => member.agents.counts.agents)).toEqual([1, 1])
  // Nobody is better off elsewhere.
  expect(await Promise.all(fronts.map(readiness))).toEqual([200, 200])

  way.comeBack()
  const next = await eventually('one follows', () => fronts.find(({ member }) => member.owner() !== null), {
    withinMs: 30_000,
  })
  await eventually('it knows both', () => next.member.owner()!.ctx.fleet.state.instances.size === 2)
})

it('the last of several processes is ready while the database is away', { timeout: 90_000 }, async () => {
  const database = await freshDatabase()
  const way = await startDatabaseProxy(database.dsn)
  cleanups.push(() => way.close())
  const owner = await startOne(database, { databaseDsn: way.dsn })
  await untilOwner(owner)
  const front = await startOne(database, { databaseDsn: way.dsn })
  await eventually('it is ready', async () => (await readiness(front)) === 200)
  await eventually('the owner knows it', () => owner.member.owner()!.ctx.cluster!().members.length === 2)
  way.goAway()
  await front.stop()
  await pause(15_000)
  expect([await readiness(owner), owner.fatal()]).toEqual([200, null])
})
