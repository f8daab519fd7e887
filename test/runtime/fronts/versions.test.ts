import { afterEach, describe, expect, it } from 'vitest'
import { LINK_VERSIONS, type LinkVersions } from '../../../lib/links/link-versions.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { findPush } from '../../../lib/store/pushes.ts'
import { type AgentWire, openWire } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { offerOf } from '../../support/opamp-scene.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

// Processes of two builds, of which one follows the other or comes after a gap. A member of version 4 says nothing of how
// quick its link is, nor of offers that left.

const OLD: LinkVersions = { least: 4, newest: 4 }
const NEXT = LINK_VERSIONS
const FOREIGN: LinkVersions = { least: 7, newest: 7 }
const CONFIG = 'receivers: {}\n'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function openFleet(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  return database
}

async function start(database: TestDatabase, versions: LinkVersions): Promise<TestMember> {
  const member = await startTestMember(database, {}, { versions })
  cleanups.push(() => member.stop())
  return member
}

const opampOf = ({ member }: TestMember) => `127.0.0.1:${member.opampPort}/v1/opamp`
const isReady = async ({ url }: TestMember) => (await fetch(`${url}/readyz`)).status === 200
const untilReady = (member: TestMember) => eventually('it is ready', () => isReady(member))
const fleetOf = ({ member }: TestMember) => member.owner()!.ctx.fleet

/** An agent that has described itself to this member, and what it goes on with. */
async function connect(member: TestMember, n: number, more: PlainMessage = {}): Promise<AgentWire> {
  const wire = await openWire(opampOf(member))
  cleanups.push(() => wire.cut())
  await wire.exchange({
    instanceUid: uidBytes(n),
    sequenceNum: 1,
    capabilities: 0x1003,
    agentDescription: {
      identifyingAttributes: keyValues({ 'service.name': 'edge' }),
      nonIdentifyingAttributes: keyValues({ 'host.name': 'vm-1' }),
    },
    ...more,
  })
  return wire
}

async function pushTo(owner: TestMember, body: string): Promise<string> {
  const { fleet } = owner.member.owner()!.ctx
  const [workload] = fleet.state.workloads.values()
  const outcome = await fleet.push(
    {
      workloadId: workload!.id,
      body,
      hash: configHash(body),
      used: [],
      path: 'request',
      approvalId: null,
      rollbackTargetKind: null,
      actor: { userId: 'u1', email: 'a@example.com', askAgain: null },
    },
    async () => ({ ok: true }),
  )
  if (!outcome.ok) throw new Error(outcome.code)
  return outcome.push.pushId
}

/** Wait for an offer on this wire, and say that it was applied. */
async function apply(wire: AgentWire, n: number, sequenceNum: number): Promise<void> {
  let offered: ReturnType<typeof offerOf> | undefined
  while (offered == null) offered = offerOf(await wire.next())
  wire.send({
    instanceUid: uidBytes(n),
    sequenceNum,
    capabilities: 0x1003,
    remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(configHash(CONFIG), 'hex'), status: 1 },
  })
}

const untilApplied = ({ pool }: TestDatabase, pushId: string, count: number) =>
  eventually(`${count} have applied it`, async () => {
    const row = await findPush(pool, pushId)
    return row?.status === 'applied' && row.counts.applied === count
  })

const untilLive = (owner: TestMember, count: number) =>
  eventually(`${count} are live`, () =>
    [...fleetOf(owner).state.workloads.values()].some(({ live }) => live.count === count),
  )

/** Two agents leave the front, one with a goodbye and one without, and the owner is told of both. */
async function leaveBoth(owner: TestMember, front: TestMember): Promise<void> {
  const [polite, lost] = [await connect(front, 3), await connect(front, 4)]
  await untilLive(owner, 4)
  polite.send({ instanceUid: uidBytes(3), sequenceNum: 2, agentDisconnect: {} })
  lost.cut()
  await untilLive(owner, 2)
  const byUid = (n: number) => fleetOf(owner).state.instances.get(Buffer.from(uidBytes(n)).toString('hex'))
  expect([byUid(3)?.hasDeparted, byUid(4)?.hasDeparted]).toEqual([true, false])
}

describe('processes of two builds that follow each other', () => {
  it.each([
    ['the older one owns', OLD, NEXT],
    ['the newer one owns', NEXT, OLD],
  ])(
    'understand each other where %s, and no socket ends as the other takes over',
    async (_, first, second) => {
      const database = await openFleet()
      const owner = await start(database, first)
      await untilOwner(owner)
      const front = await start(database, second)
      await untilReady(front)
      const wires = [await connect(owner, 1), await connect(front, 2)]
      await untilLive(owner, 2)
      const pushId = await pushTo(owner, CONFIG)
      await Promise.all(wires.map((wire, index) => apply(wire, index + 1, 2)))
      await untilApplied(database, pushId, 2)
      await leaveBoth(owner, front)

      await owner.stop()
      await untilOwner(front)
      await untilLive(front, 1)
      expect(wires[1]!.socket.readyState).toBe(1)
      expect(fleetOf(front).state.instances.size).toBe(1)
    },
  )
})

describe('processes of builds that do not understand each other', () => {
  it('serve people all the same, send agents to those that do, and lose nothing as one replaces the other', async () => {
    const database = await openFleet()
    const [older, front] = [await start(database, OLD), await start(database, OLD)]
    const owner = await eventually('one owns', () => [older, front].find(({ member }) => member.owner()))
    const other = owner === older ? front : older
    await untilReady(other)
    const wire = await connect(other, 1)
    await untilLive(owner, 1)
    const pushId = await pushTo(owner, CONFIG)
    await apply(wire, 1, 2)
    await untilApplied(database, pushId, 1)

    const next = await start(database, FOREIGN)
    await untilReady(next)
    const as = await owner.token()
    expect((await next.call('GET', '/api/workloads', { as })).status).toBe(200)
    await expect(openWire(opampOf(next))).rejects.toThrow('503')
    const errors = next.log.lines.filter(({ level }) => level === 'error')
    expect(errors).toEqual([
      expect.objectContaining({ fields: expect.objectContaining({ its_newest: OLD.newest, ...FOREIGN }) }),
    ])

    // The member that started last takes over. The older one that is left sends its agents there.
    await owner.stop()
    await untilOwner(next)
    await wire.ended
    await expect(openWire(opampOf(other))).rejects.toThrow('503')
    expect((await other.call('GET', '/api/workloads', { as })).status).toBe(200)
    expect(await isReady(other)).toBe(true)
    const again = await connect(next, 1, {
      sequenceNum: 3,
      remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(configHash(CONFIG), 'hex'), status: 1 },
    })
    await untilLive(next, 1)
    // It is acknowledged, perhaps twice as the process takes over, and asked for nothing and offered nothing.
    while (again.untaken() > 0)
      expect(Object.keys(await again.next()).sort()).toEqual(['capabilities', 'instanceUid'])
    await other.stop()
    expect(next.fatal()).toBeNull()
    await untilApplied(database, pushId, 1)
  })

  it('leave the fleet to those that are left also where the newer one goes first', async () => {
    const database = await openFleet()
    const owner = await start(database, FOREIGN)
    await untilOwner(owner)
    const older = await start(database, OLD)
    await untilReady(older)
    await expect(openWire(opampOf(older))).rejects.toThrow('503')
    await connect(owner, 1)
    await untilLive(owner, 1)
    const pushId = await pushTo(owner, CONFIG)
    await owner.stop()
    await untilOwner(older)
    const wire = await connect(older, 1)
    await apply(wire, 1, 2)
    await untilApplied(database, pushId, 1)
  })
})
