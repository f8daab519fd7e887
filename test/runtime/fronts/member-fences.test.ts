import { afterEach, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { deriveFleetKeys, type OwnerName } from '../../../lib/cluster/proofs.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { Cluster } from '../../../lib/wire/system.ts'
import { provingHeaders } from '../../../runtime/fronts/member-headers.ts'
import { DEFAULT_CONFIG, startSimulatedAgent } from '../../../runtime/quickstart/simulated-agent.ts'
import { openWire, postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { TEST_CONFIG } from '../../support/invoke.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { createTestDatabase, openTestConnection, type TestDatabase } from '../../support/postgres.ts'

// What keeps a member from acting where another may own the fleet by now, as a whole process shows it.

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function freshDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

/** The machine's clock; a test lets the monotonic part jump, or stand. */
function bentClock(): Clock & { jump(ms: number): void; stand(): void } {
  let aheadMs = 0
  let stoodAtMs: number | null = null
  const monotonicMs = () => stoodAtMs ?? systemClock.monotonicMs() + aheadMs
  return {
    now: systemClock.now,
    monotonicMs,
    jump(ms) {
      aheadMs += ms
    },
    stand() {
      stoodAtMs = monotonicMs()
    },
  }
}

async function startOne(database: TestDatabase, clock: Clock = systemClock): Promise<TestMember> {
  const member = await startTestMember(database, {}, { clock })
  cleanups.push(() => member.stop())
  return member
}

async function startOwner(database: TestDatabase, clock?: Clock): Promise<TestMember> {
  const owner = await startOne(database, clock)
  await untilOwner(owner)
  return owner
}

/** Let no member renew its row, while all else that the database is asked for works. */
async function endRenewals({ pool }: TestDatabase, { log }: TestMember): Promise<() => Promise<unknown>> {
  await pool.execute('alter table members rename to members_away')
  await eventually('a renewal failed', () => JSON.stringify(log.lines).includes('could not renew itself'))
  return () => pool.execute('alter table members_away rename to members')
}

const addGroup = ({ call }: TestMember, as: string, name: string) =>
  call('POST', '/api/push-groups', {
    as,
    body: { name, selector: { match_labels: { 'muster/env': 'dev' } } },
  })

const groupsIn = async ({ pool }: TestDatabase) =>
  (await pool.query<{ name: string }>('select name from push_groups order by name')).map(({ name }) => name)

it('an owner that has not renewed itself for three seconds commits nothing, and goes on once it has', async () => {
  const database = await freshDatabase()
  const clock = bentClock()
  const owner = await startOwner(database, clock)
  const as = await owner.token()
  expect((await addGroup(owner, as, 'before')).status).toBe(201)
  const before = await groupsIn(database)
  const letRenew = await endRenewals(database, owner)
  clock.jump(3_000)
  expect((await addGroup(owner, as, 'meanwhile')).status).toBe(503)
  expect(await groupsIn(database)).toEqual(before)
  await letRenew()
  await eventually('it goes on', async () => (await addGroup(owner, as, 'after')).status === 201)
  expect(owner.fatal()).toBeNull()
})

it('an owner commits nothing once the epoch has been raised, even before it has read so', async () => {
  const database = await freshDatabase()
  const clock = bentClock()
  const owner = await startOwner(database, clock)
  const as = await owner.token()
  const before = await groupsIn(database)
  // It cannot read the epoch with a renewal, and counts as one that has just renewed itself.
  await endRenewals(database, owner)
  clock.stand()
  await database.pool.execute('update process_epoch set epoch = epoch + 1')
  expect((await addGroup(owner, as, 'too late')).status).toBe(503)
  expect(await groupsIn(database)).toEqual(before)
})

/** Ask for something that is refused by what the owner has in memory. */
async function askForUnknown({ call }: TestMember, as: string) {
  const answer = await call('GET', '/api/workloads/0000000000000000', { as })
  return { status: answer.status, ...((await answer.json()) as { code: string }) }
}
const REFUSED = { status: 404, code: 'workload_not_found' }

it('an owner that stood still refuses nothing by what it sees before it has renewed itself', async () => {
  const database = await freshDatabase()
  const clock = bentClock()
  const owner = await startOwner(database, clock)
  const as = await owner.token()
  expect(await askForUnknown(owner, as)).toMatchObject(REFUSED)
  clock.jump(30_000)
  expect(await askForUnknown(owner, as)).toMatchObject(REFUSED)
  const letRenew = await endRenewals(database, owner)
  clock.jump(30_000)
  expect(await askForUnknown(owner, as)).toMatchObject({ status: 503, code: 'database_unavailable' })
  await letRenew()
  expect(await askForUnknown(owner, as)).toMatchObject(REFUSED)
  expect(owner.fatal()).toBeNull()
  // As another one does that takes over.
  await database.pool.execute('update process_epoch set epoch = epoch + 1')
  clock.jump(30_000)
  expect(await askForUnknown(owner, as)).toMatchObject({ status: 503, code: 'no_owner' })
  expect(owner.fatal()).not.toBeNull()
})

it('an owner that has not renewed itself for three seconds sends no offer, and sends it once it has', async () => {
  const database = await freshDatabase()
  const clock = bentClock()
  const owner = await startOwner(database, clock)
  const { fleet } = owner.member.owner()!.ctx
  const agent = startSimulatedAgent({
    url: `ws://127.0.0.1:${owner.member.opampPort}/v1/opamp`,
    reconnectMs: 50,
    identifying: { 'service.name': 'otelcol' },
    behaviour: { kind: 'silent' },
  })
  cleanups.push(() => agent.stop())
  const workload = await eventually('it is live', () =>
    [...fleet.state.workloads.values()].find(({ live }) => live.count === 1),
  )
  const pushed = await fleet.push(
    {
      workloadId: workload.id,
      body: DEFAULT_CONFIG,
      hash: configHash(DEFAULT_CONFIG),
      used: [],
      path: 'request',
      approvalId: null,
      rollbackTargetKind: null,
      actor: { userId: 'u1', email: 'a@example.com', askAgain: null },
    },
    async () => ({ ok: true }),
  )
  expect(pushed.ok).toBe(true)
  const sent = () => [...fleet.offers.sentCounts.values()].reduce((sum, count) => sum + count, 0)
  await eventually('it is offered the config', () => sent() === 1)
  const letRenew = await endRenewals(database, owner)
  clock.jump(3_000)
  // On a new connection the offer is due again, and it is stored already.
  const [instance] = [...fleet.state.instances.values()]
  const former = instance!.connection!.id
  const heard = agent.heard.length
  agent.crash()
  await eventually('it is back', () => (instance!.connection?.id ?? former) !== former)
  await eventually('it is answered', () => {
    agent.beat()
    return agent.heard.length > heard + 1
  })
  expect(sent()).toBe(1)
  await letRenew()
  await eventually('it is offered the config again', () => sent() === 2)
})

it('an owner that has not renewed itself for three seconds tells no front anything, and does once it has', async () => {
  const database = await freshDatabase()
  const owner = await startOwner(database)
  const front = await startOne(database)
  const as = await owner.token()
  const { fleet } = owner.member.owner()!.ctx
  const at = `127.0.0.1:${front.member.opampPort}/v1/opamp`
  const wire = await openWire(at)
  cleanups.push(() => wire.cut())
  const instanceUid = uidBytes(1)
  const edge = { identifyingAttributes: keyValues({ 'service.name': 'edge' }) }
  wire.send({ instanceUid, sequenceNum: 1, capabilities: 0x3, agentDescription: edge })
  await eventually('the owner knows the agent', () => fleet.state.instances.size === 1)
  const letRenew = await endRenewals(database, owner)
  await eventually('it may not act', async () => (await addGroup(owner, as, 'no more')).status === 503)
  const before = fleet.messageCount
  const asksForUid = 1
  wire.send({ instanceUid, sequenceNum: 2, capabilities: 0x3, flags: asksForUid })
  await eventually('the owner has heard it', () => fleet.messageCount > before)
  // The front answers this one itself, after a second. What the owner says before that comes on the same link.
  const poll = { instanceUid: uidBytes(2), sequenceNum: 1, capabilities: 0x3 }
  expect((await postAgent(at, poll)).status).toBe(200)
  const taken: PlainMessage[] = []
  while (wire.untaken() > 0) taken.push(await wire.next())
  expect(taken.filter((message) => message['agentIdentification'] != null)).toEqual([])
  await letRenew()
  const renamed = await wire.next()
  expect(renamed['agentIdentification']).toMatchObject({ newInstanceUid: expect.anything() })
})

it.each(['the owner', 'the front'])(
  '%s that stood still cuts its link, and what waited on it is dropped',
  async (who) => {
    const database = await freshDatabase()
    const clock = bentClock()
    const owner = await startOwner(database, who === 'the owner' ? clock : undefined)
    const front = await startOne(database, who === 'the front' ? clock : undefined)
    const as = await owner.token()
    const linkedSince = async () => {
      const answer = await owner.call('GET', '/api/system/cluster', { as })
      const { members } = (await answer.json()) as Cluster
      return members.find(({ address }) => address === front.internalAddress)?.linked_since ?? null
    }
    const former = await eventually('they are linked', linkedSince)
    // Late by more than two seconds, but not for so long that the silence alone would cut the link.
    clock.jump(3_500)
    await eventually('they are linked anew', async () => ![null, former].includes(await linkedSince()))
    expect([owner.fatal(), front.fatal()]).toEqual([null, null])
  },
)

it('an owner that stops answers members until what it was asked for itself has come to its end', async () => {
  const database = await freshDatabase()
  const owner = await startOwner(database)
  const as = await owner.token()
  const [ownerName] = await database.pool.query<OwnerName>(
    `select id, address, owned_epoch as epoch from members where owned_epoch is not null`,
  )
  const self = {
    memberId: 'm1',
    keys: deriveFleetKeys(TEST_CONFIG.jwtSecret),
    isOverTls: false,
    owned: () => null,
    now: () => systemClock.now(),
  }
  const askAsMember = async () =>
    (
      await fetch(`http://${owner.internalAddress}/api/openapi.json`, {
        headers: {
          ...provingHeaders(self, ownerName!),
          'x-muster-client': '127.0.0.1',
          'x-muster-secure': '0',
        },
      })
    ).status
  expect(await askAsMember()).toBe(200)
  const holder = await openTestConnection(database.dsn)
  cleanups.push(() => holder.close())
  await holder.query('begin')
  await holder.query('lock table push_groups')
  const asked = addGroup(owner, as, 'asked before')
  await eventually('the database holds it up', async () => {
    const [found] = await database.pool.query<{ count: number }>(
      `select count(*)::int as count from pg_locks where relation = 'push_groups'::regclass and not granted`,
    )
    return found!.count > 0
  })
  const stopped = owner.stop()
  await expect(fetch(owner.url)).rejects.toThrow('fetch failed')
  expect(await askAsMember()).toBe(200)
  expect(owner.member.owner()).not.toBeNull()
  await holder.query('commit')
  expect((await asked).status).toBe(201)
  await stopped
})
