import { afterEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { findPush, type Push } from '../../../lib/store/pushes.ts'
import { findReportedConfig } from '../../../lib/store/reported-configs.ts'
import type { Cluster } from '../../../lib/wire/system.ts'
import type { Context } from '../../../runtime/context.ts'
import {
  DEFAULT_CONFIG,
  type SimulatedAgent,
  startSimulatedAgent,
} from '../../../runtime/quickstart/simulated-agent.ts'
import { openWire, postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestMember, type TestMember, untilOwner } from '../../support/members.ts'
import { keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { FULL_STATE, flagsOf, offerOf, statusOf } from '../../support/opamp-scene.ts'
import { createTestDatabase, openTestConnection, type TestDatabase } from '../../support/postgres.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function startOne(database: TestDatabase): Promise<TestMember> {
  const member = await startTestMember(database)
  cleanups.push(() => member.stop())
  return member
}

/** Start an owner and a front. */
async function startTwo() {
  const database = await createTestDatabase()
  cleanups.push(() => database.drop())
  const owner = await startOne(database)
  await untilOwner(owner)
  const front = await startOne(database)
  return { database, owner, front }
}

function startAgent({ member }: TestMember, more: Partial<Parameters<typeof startSimulatedAgent>[0]> = {}) {
  const agent = startSimulatedAgent({
    url: `ws://127.0.0.1:${member.opampPort}/v1/opamp`,
    reconnectMs: 50,
    identifying: { 'service.name': 'otelcol', 'service.version': '0.149.0' },
    nonIdentifying: { 'host.name': 'vm-1' },
    behaviour: { kind: 'apply', delayMs: 5 },
    ...more,
  })
  cleanups.push(() => agent.stop())
  return agent
}

const ctxOf = ({ member }: TestMember): Context => member.owner()!.ctx

async function untilLive(owner: TestMember, count: number): Promise<string> {
  const { fleet } = ctxOf(owner)
  return eventually(
    `${count} are live`,
    () => [...fleet.state.workloads.values()].find(({ live }) => live.count === count)?.id,
  )
}

const untilKnown = (owner: TestMember) =>
  eventually('what all run is known', () =>
    [...ctxOf(owner).fleet.state.instances.values()].every(({ reported }) => reported.isKnown),
  )

async function push(owner: TestMember, workloadId: string, body: string): Promise<Push> {
  const outcome = await ctxOf(owner).fleet.push(
    {
      workloadId,
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
  return outcome.push
}

const untilApplied = ({ pool }: TestDatabase, pushId: string, count: number) =>
  eventually(`${count} have applied it`, async () => {
    const row = await findPush(pool, pushId)
    return row?.status === 'applied' && row.counts.applied === count
  })

const offersOf = (agent: SimulatedAgent) =>
  agent.heard.filter((word) => (word as { remoteConfig?: unknown }).remoteConfig != null).length
/** How many messages each agent has sent; a new connection would add one. */
const saidBy = (agents: readonly SimulatedAgent[]) => agents.map(({ said }) => said.length)
const askedForAll = (agent: SimulatedAgent) =>
  agent.heard.filter((word) => ((word as { flags?: number }).flags ?? 0) & 1).length

describe('agents of any process', () => {
  it('are one workload, and a push reaches them all, their configs read and stored where they are', async () => {
    const { database, owner, front } = await startTwo()
    const agents = [startAgent(owner), startAgent(front), startAgent(front)]
    const workloadId = await untilLive(owner, 3)
    await untilKnown(owner)
    const { pushId } = await push(owner, workloadId, DEFAULT_CONFIG)
    await untilApplied(database, pushId, 3)
    expect(agents.map(offersOf)).toEqual([1, 1, 1])
    const { state } = ctxOf(owner).fleet
    const hashes = await eventually('the configs of three are known', () => {
      const found = [...state.instances.values()].map(({ reportedConfigHash }) => reportedConfigHash)
      return found.length === 3 && found.every((hash) => hash !== '') && found
    })
    for (const hash of hashes)
      await eventually('its text is stored', () => findReportedConfig(database.pool, hash))
  })

  it('are counted at the process that they are connected to, for whoever may manage settings', async () => {
    const { owner, front } = await startTwo()
    startAgent(front)
    await untilLive(owner, 1)
    const token = await owner.token()
    expect((await front.call('GET', '/api/system/cluster')).status).toBe(401)
    const cluster = await eventually('both members are linked', async () => {
      const answer = await front.call('GET', '/api/system/cluster', { as: token })
      const found = (await answer.json()) as Cluster
      return (
        found.members.length === 2 && found.members.every((member) => member.linked_since !== null) && found
      )
    })
    expect(cluster).toMatchObject({ is_one_of_several: true, epoch: expect.any(Number) })
    expect(cluster.members.map(({ address, is_owner, agents }) => [address, is_owner, agents])).toEqual([
      [front.internalAddress, false, 1],
      [owner.internalAddress, true, 0],
    ])
  })

  it('and whoever asks is told which process took the question, be it a front or the owner', async () => {
    const { owner, front } = await startTwo()
    const token = await owner.token()
    const ask = async (at: TestMember) =>
      (await (await at.call('GET', '/api/system/cluster', { as: token })).json()) as Cluster
    const addressOfServing = ({ members, served_by }: Cluster) =>
      members.find(({ id }) => id === served_by)?.address
    await eventually('the front is a member', async () => (await ask(owner)).members.length === 2)
    expect(addressOfServing(await ask(owner))).toBe(owner.internalAddress)
    const asked = await ask(front)
    expect(addressOfServing(asked)).toBe(front.internalAddress)
    // A start is no takeover, however many there were on this database.
    expect(asked.takeovers).toBe(0)
    await owner.stop()
    await untilOwner(front)
    const next = await ask(front)
    expect(addressOfServing(next)).toBe(front.internalAddress)
    expect(next.takeovers).toBe(1)
  })

  it('notice nothing of a new owner, which knows them without asking, and offers what is next', async () => {
    const { database, owner, front } = await startTwo()
    const agents = [startAgent(front), startAgent(front)]
    const workloadId = await untilLive(owner, 2)
    await untilKnown(owner)
    const first = await push(owner, workloadId, DEFAULT_CONFIG)
    await untilApplied(database, first.pushId, 2)
    await eventually('their configs are known', () =>
      [...ctxOf(owner).fleet.state.instances.values()].every((one) => one.reportedConfigHash !== ''),
    )
    const asked = agents.map(askedForAll)
    const said = saidBy(agents)

    await owner.stop()
    await untilOwner(front)
    await untilLive(front, 2)
    await untilKnown(front)
    expect(agents.map(askedForAll)).toEqual(asked)
    expect(agents.map(offersOf)).toEqual([1, 1])
    expect(saidBy(agents)).toEqual(said)
    expect(
      [...ctxOf(front).fleet.state.instances.values()].every(
        ({ reportedConfigHash }) => reportedConfigHash !== '',
      ),
    ).toBe(true)

    const second = await push(front, workloadId, `${DEFAULT_CONFIG}# second\n`)
    await untilApplied(database, second.pushId, 2)
    expect(agents.map(offersOf)).toEqual([2, 2])
  })

  it('beat at their own process once all is settled, are shown as heard of, and are offered what comes', async () => {
    const { database, owner, front } = await startTwo()
    const agent = startAgent(front)
    const workloadId = await untilLive(owner, 1)
    const first = await push(owner, workloadId, DEFAULT_CONFIG)
    await untilApplied(database, first.pushId, 1)
    const { fleet } = ctxOf(owner)
    const absorbed = () => front.member.agents.counts.absorbed
    await eventually('a beat is absorbed', () => {
      agent.beat()
      return absorbed() > 0
    })
    const [instance] = [...fleet.state.instances.values()]
    const taken = fleet.messageCount
    const heardAt = instance!.lastMessageAt.getTime()
    for (let beat = 0; beat < 10; beat++) agent.beat()
    await eventually('ten are absorbed', () => absorbed() >= 10)
    await eventually('it was heard', () => instance!.lastMessageAt.getTime() > heardAt)
    expect(fleet.messageCount).toBe(taken)
    const second = await push(owner, workloadId, `${DEFAULT_CONFIG}# second\n`)
    await untilApplied(database, second.pushId, 1)
    // A gap in the sequence numbers is passed to the owner, which asks for the full state.
    agent.skip(1)
    agent.beat()
    await agent.until('asked for everything', (one) => askedForAll(one) > 0)
  })

  it('that poll are one agent whichever process they ask, and take what they are assigned from either', async () => {
    const { database, owner, front } = await startTwo()
    const uid = uidBytes(7)
    let sequenceNum = 0
    let hash = ''
    let turn = 0
    const poll = async (more: PlainMessage = {}) => {
      const { member } = turn++ % 2 === 0 ? front : owner
      const reply = await postAgent(`127.0.0.1:${member.opampPort}/v1/opamp`, {
        instanceUid: uid,
        sequenceNum: ++sequenceNum,
        capabilities: 0x1807,
        ...more,
      })
      const offer = offerOf(reply.message())
      if (offer !== undefined) hash = offer.hash
      return reply.message()
    }
    const full = {
      agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'poller' }) },
      remoteConfigStatus: { status: 0 },
    }
    await eventually('it is known', async () => {
      await poll(full)
      return ctxOf(owner).fleet.state.instances.size === 1
    })
    const workloadId = await untilLive(owner, 1)
    const pushed = await push(owner, workloadId, DEFAULT_CONFIG)
    await eventually('it is offered the config', async () => {
      await poll()
      return hash === configHash(DEFAULT_CONFIG)
    })
    await poll(statusOf(hash, 1))
    await untilApplied(database, pushed.pushId, 1)
    expect(ctxOf(owner).fleet.state.instances.size).toBe(1)
  })

  it('with one uid at two processes are told apart, also while their beats are answered there', async () => {
    const { owner, front } = await startTwo()
    const uid = uidBytes(9)
    const describe_ = {
      agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'twin' }) },
      remoteConfigStatus: { status: 0 },
    }
    const wires = await Promise.all(
      [front, owner].map(({ member }) => openWire(`127.0.0.1:${member.opampPort}/v1/opamp`)),
    )
    cleanups.push(() => wires.map((wire) => wire.cut()))
    const numbers = [10, 500]
    const say = (index: number, more: PlainMessage = {}) =>
      wires[index]!.send({ instanceUid: uid, sequenceNum: numbers[index]!++, capabilities: 0x1807, ...more })
    const renamed = [0, 0]
    wires.forEach(async (wire, index) => {
      for (;;) if ('agentIdentification' in (await wire.next())) renamed[index]!++
    })
    say(0, describe_)
    await untilLive(owner, 1)
    await eventually('a beat is absorbed', () => {
      say(0)
      return front.member.agents.counts.absorbed > 0
    })
    say(1, describe_)
    await eventually('one is told another uid', () => {
      say(0)
      say(1)
      return renamed[0]! + renamed[1]! > 0
    })
  })

  it('are answered while nobody owns, and asked once for what was not taken', async () => {
    const database = await createTestDatabase()
    cleanups.push(() => database.drop())
    const holder = await openTestConnection(database.dsn)
    cleanups.push(() => holder.close())
    await holder.query(`select pg_advisory_lock(${0x6d757374}, 1)`)
    const front = await startOne(database)
    const agent = startAgent(front)
    await agent.until('answered', ({ heard }) => heard.length > 0)
    const url = `127.0.0.1:${front.member.opampPort}/v1/opamp`
    const poll = async (sequenceNum: number) => {
      const reply = await postAgent(url, { instanceUid: uidBytes(7), sequenceNum, capabilities: 0x1807 })
      expect(reply.status).toBe(200)
      return reply.message()
    }
    expect(flagsOf(await poll(1))).toBe(FULL_STATE)
    expect(flagsOf(await poll(2))).toBe(0)
    // The next owner knows what the agent reported while there was no owner.
    await holder.query(`select pg_advisory_unlock(${0x6d757374}, 1)`)
    await untilOwner(front)
    await untilLive(front, 1)
    expect(askedForAll(agent)).toBe(0)
  })
})
