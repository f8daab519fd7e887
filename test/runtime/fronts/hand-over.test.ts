import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { createTestDatabase, openTestConnection, type TestDatabase } from '../../support/postgres.ts'

// An owner stops in order, and a front follows it.

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startOne(database: TestDatabase): Promise<TestMember> {
  const member = await startTestMember(database)
  cleanups.push(() => member.stop())
  return member
}

async function startTwo() {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  const owner = await startOne(database)
  await untilOwner(owner)
  const front = await startOne(database)
  const token = await owner.token()
  await eventually('the front passes on', async () => {
    const { status } = await front.call('GET', '/api/workloads', { as: token })
    return status === 200 && (await front.call('GET', '/readyz')).status === 200
  })
  return { database, owner, front, token }
}

/** What a front answers from now on until it is the owner, and then. */
async function answersUntilFollowed(front: TestMember, token: string): Promise<number[]> {
  const ask = async () => (await front.call('GET', '/api/workloads', { as: token })).status
  const answers: number[] = []
  while (front.member.owner() === null) answers.push(await ask())
  return [...answers, await ask()]
}

it('fails no request at a front', { timeout: 60_000 }, async () => {
  const { owner, front, token } = await startTwo()
  const stopping = owner.stop()
  expect(new Set(await answersUntilFollowed(front, token))).toEqual(new Set([200]))
  await stopping
})

it('fails no request at a front where a stranger has begun one at the owner and does not end it', {
  timeout: 60_000,
}, async () => {
  const { owner, front, token } = await startTwo()
  const stranger = connect(owner.member.apiPort, '127.0.0.1')
  stranger.on('error', () => undefined)
  cleanups.push(() => stranger.destroy())
  const head = [
    'POST /api/auth/login HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    'Content-Length: 100',
  ]
  stranger.write(`${head.join('\r\n')}\r\n\r\n{`)
  // Answered after what was begun before it was read.
  expect((await owner.call('GET', '/api/workloads', { as: token })).status).toBe(200)
  const stopping = owner.stop()
  expect(new Set(await answersUntilFollowed(front, token))).toEqual(new Set([200]))
  await stopping
})

it('goes on as a front where the database restarts as it loads, and becomes the owner after all', {
  timeout: 60_000,
}, async () => {
  const { database, owner, front } = await startTwo()
  const holder = await openTestConnection(database.dsn)
  cleanups.push(() => holder.close())
  await holder.query('begin')
  await holder.query('lock table label_rules in access exclusive mode')
  const stopping = owner.stop()
  await eventually('the follower loads', async () => {
    const waiting = await database.pool.query(
      `select from pg_locks where relation = 'label_rules'::regclass and not granted`,
    )
    return waiting.length > 0
  })
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name like 'muster/%' and datname = current_database()`,
  )
  await holder.query('commit')
  await eventually('it owns or has given up', () => front.member.owner() !== null || front.fatal() !== null, {
    withinMs: 30_000,
  })
  await stopping
  expect(front.fatal()).toBeNull()
  expect(front.member.owner()).not.toBeNull()
})

it('goes on as a front where it cannot read what is stored, and becomes the owner once it can', {
  timeout: 90_000,
}, async () => {
  const { database, owner, front } = await startTwo()
  const agent = startSimulatedAgent({
    url: `ws://127.0.0.1:${front.member.opampPort}/v1/opamp`,
    reconnectMs: 0,
    identifying: { 'service.name': 'otelcol' },
    behaviour: { kind: 'silent' },
  })
  cleanups.push(() => agent.stop())
  await eventually('the agent is there', () => front.member.agents.counts.agents === 1)
  await database.pool.execute('alter table label_rules rename to label_rules_of_another_shape')
  await owner.stop()
  const failures = () =>
    front.log.lines.filter(
      ({ level, message }) => level === 'error' && message.startsWith('could not become the owner'),
    )
  await eventually(
    'it has tried again, or has given up',
    () => failures().length > 1 || front.fatal() !== null,
    {
      withinMs: 30_000,
    },
  )
  expect([front.fatal(), front.member.owner(), agent.isConnected()]).toEqual([null, null, true])
  expect(failures()[0]!.fields).toMatchObject({ err: { message: expect.stringContaining('label_rules') } })

  // Whoever asks for its readiness reads that, and nothing of what the database said.
  const said =
    /; could not become the owner when it tried \(\d+ times, the last time with 42P01\): its log says why\n?$/
  expect(await (await front.call('GET', '/readyz')).text()).toMatch(said)

  await database.pool.execute('alter table label_rules_of_another_shape rename to label_rules')
  await untilOwner(front)
  const { state } = front.member.owner()!.ctx.fleet
  await eventually('it knows the agent', () => state.instances.size === 1)
  expect([front.fatal(), agent.isConnected()]).toEqual([null, true])
  await eventually('it is ready', async () => (await (await front.call('GET', '/readyz')).text()) === 'ready')
})

it('answers as a front what it has passed on before it stops', { timeout: 60_000 }, async () => {
  const { database, front, token } = await startTwo()
  const holder = await openTestConnection(database.dsn)
  cleanups.push(() => holder.close())
  await holder.execute('begin')
  await holder.execute('lock table user_preferences in access exclusive mode')
  const asked = front.call('GET', '/api/me', { as: token })
  await eventually('the owner asks the database for it', async () => {
    const rows = await holder.query(
      `select 1 from pg_locks where relation = 'user_preferences'::regclass and not granted`,
    )
    return rows.length > 0
  })
  // The owner takes a second more, in which nothing else keeps the front.
  setTimeout(() => void holder.execute('rollback'), 1_000)
  const [answer] = await Promise.all([asked, front.stop()])
  expect(answer.status).toBe(200)
})
