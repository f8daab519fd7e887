import { describe, expect, it } from 'vitest'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Whatever becomes of links and owners: the owner knows of an agent what the agent said last.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet

const APPLIED = 1
const APPLYING = 2
const FAILED = 3
const describing = (attributes: Record<string, string> = { 'service.name': 'edge' }) => ({
  agentDescription: { identifyingAttributes: keyValues(attributes) },
})
const saying = (status: number, hash = '00'.repeat(32), errorMessage = ''): PlainMessage => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status, errorMessage },
})
const DESCRIBED = { ...describing(), ...saying(APPLIED) }
/** Agents with these are one workload. */
const SHARED = describing({
  'service.name': 'edge',
  'k8s.namespace.name': 'ns',
  'k8s.deployment.name': 'edge',
})
const feeling = (
  healthy: boolean,
  components: number,
  status = healthy ? 'StatusOK' : 'StatusRecoverableError',
): PlainMessage => ({
  health: {
    healthy,
    status,
    componentHealthMap: Object.fromEntries(
      Array.from({ length: components }, (_, i) => [
        `pipeline:metrics/tenant-${i}`,
        { healthy, status, lastError: healthy ? '' : 'x'.repeat(200) },
      ]),
    ),
  },
})
const standingOf = (n: number) => [instanceOf(n)!.health?.healthy, instanceOf(n)!.workload!.status]

/** Push a config to the workload of agent 1, which is offered it. */
async function offer() {
  const { workload } = instanceOf(1)!
  const { hash } = await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
  await fleet.ctx.advance(2_000)
  const followed = workload!.active!
  return { hash, followed, target: () => followed.targets.get(uidOf(1))! }
}

describe('of an agent whose health is longer than a front keeps', () => {
  it('a later owner is not told the short one from before', async () => {
    const front = openFront('front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, { ...DESCRIBED, ...feeling(false, 1, 'StatusStarting') })
    front.say(1, 1, 2, feeling(true, 400))
    await fleet.ctx.advance(2_000)
    expect(instanceOf(1)!.health?.healthy).toBe(true)
    link.break()
    front.link(await takeOver(2))
    await fleet.ctx.advance(2_000)
    for (let sequence = 3; sequence < 10; sequence++) {
      front.say(1, 1, sequence)
      await fleet.ctx.advance(30_000)
    }
    expect(standingOf(1)).toEqual([true, 'connected'])
  })

  it('the same owner still knows that it is ill over another link', async () => {
    const owner = openOwner()
    const front = openFront('front')
    const link = front.link(owner)
    front.say(1, 1, 1, { ...DESCRIBED, ...feeling(true, 1) })
    front.say(1, 1, 2, feeling(false, 400))
    await fleet.ctx.advance(61_000)
    expect(instanceOf(1)!.workload!.status).toBe('degraded')
    link.break()
    front.link(owner)
    await fleet.ctx.advance(61_000)
    expect(standingOf(1)).toEqual([false, 'degraded'])
  })

  it('a later owner knows that it is ill, and the agent is asked for the rest', async () => {
    const front = openFront('front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, { ...DESCRIBED, ...feeling(false, 400) })
    await fleet.ctx.advance(2_000)
    expect(front.asked()).toEqual([])
    link.break()
    front.link(await takeOver(2))
    front.say(1, 1, 2)
    await fleet.ctx.advance(61_000)
    expect(standingOf(1)).toEqual([false, 'degraded'])
    expect(front.asked()).toEqual([uidOf(1)])
    front.say(1, 1, 3, { ...DESCRIBED, ...feeling(false, 400) })
    front.say(1, 1, 4)
    expect(instanceOf(1)!.health?.children.size).toBe(400)
    expect(front.asked()).toEqual([uidOf(1)])
  })

  it('an owner is told at once, without the errors, where a link does not carry all of it', async () => {
    const front = openFront('front')
    front.link(openOwner())
    front.say(1, 1, 1, { ...DESCRIBED, ...feeling(true, 1) })
    front.say(1, 1, 2, feeling(false, 3_000))
    await fleet.ctx.advance(61_000)
    expect(standingOf(1)).toEqual([false, 'degraded'])
  })
})

it('a description that is longer than a front keeps is asked for: a later owner is not told the one from before', async () => {
  const front = openFront('front')
  const link = front.link(openOwner())
  front.say(1, 1, 1, DESCRIBED)
  const long = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`label.${i}`, 'x'.repeat(900)]))
  front.say(1, 1, 2, { ...describing({ 'service.name': 'another', ...long }), ...saying(APPLIED) })
  await fleet.ctx.advance(2_000)
  link.break()
  front.link(await takeOver(2))
  await fleet.ctx.advance(2_000)
  expect(instanceOf(1)!.attributes).toBeNull()
  expect(front.asked()).toEqual([uidOf(1)])
})

it('an agent that has failed a config with a long text has failed it, though the link ended meanwhile', async () => {
  const front = openFront('front')
  const link = front.link(openOwner())
  front.say(1, 1, 1, describing())
  await fleet.ctx.advance(1_000)
  const { hash, followed, target } = await offer()
  front.say(1, 1, 2, saying(APPLYING, hash))
  await fleet.ctx.advance(1_000)
  expect(target().state).toBe('applying')
  link.losing()
  front.say(1, 1, 3, saying(FAILED, hash, `no such exporter ${'é'.repeat(40_000)}`))
  link.break()
  front.link(openOwner())
  await fleet.ctx.advance(5_000)
  expect([target().state, followed.push.status]).toEqual(['failed', 'failed'])
})

it('an agent that has failed a config with a long text as it left has failed it', async () => {
  const front = openFront('front')
  const owner = openOwner()
  const link = front.link(owner)
  front.say(1, 1, 1, describing())
  await fleet.ctx.advance(1_000)
  const { hash, target } = await offer()
  link.losing()
  front.say(1, 1, 2, { ...saying(FAILED, hash, 'x'.repeat(40_000)), agentDisconnect: {} })
  link.break()
  front.link(owner)
  await fleet.ctx.advance(5_000)
  expect(target().state).toBe('failed')
})

it('of an agent that started again on its socket a later owner is not told what the former process said', async () => {
  const front = openFront('front')
  const link = front.link(openOwner())
  front.say(1, 1, 1, describing())
  await fleet.ctx.advance(1_000)
  const { hash, target } = await offer()
  front.say(1, 1, 2, saying(APPLIED, hash))
  await fleet.ctx.advance(2_000)
  expect(target().state).toBe('applied')
  // The process behind the gateway starts again, on a new disk: it runs no remote config.
  front.say(1, 1, 1, describing())
  await fleet.ctx.advance(2_000)
  expect(instanceOf(1)!.reported).toMatchObject({ isKnown: true, status: 'none' })
  link.break()
  front.link(await takeOver(2))
  await fleet.ctx.advance(2_000)
  expect(instanceOf(1)!.reported).toMatchObject({ isKnown: true, status: 'none' })
})

describe('capabilities that an agent says anew in a message with nothing else', () => {
  it('are told to the owner, also where beats are absorbed, and to a later one', async () => {
    const front = openFront('front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(2_000)
    front.say(1, 1, 2)
    expect(front.agents.counts.absorbed).toBe(1)
    // It takes no remote config any more.
    front.say(1, 1, 3, { capabilities: 0x1001 })
    await fleet.ctx.advance(2_000)
    expect(instanceOf(1)!.capabilities).toBe(0x1001)
    front.say(1, 1, 4, { capabilities: 0x1001 })
    expect(front.agents.counts.absorbed).toBe(2)
    link.break()
    front.link(await takeOver(2))
    await fleet.ctx.advance(2_000)
    expect(instanceOf(1)!.capabilities).toBe(0x1001)
  })

  it('count for a push: an instance that takes no config any more is not offered it', async () => {
    const front = openFront('front')
    front.link(openOwner())
    for (const n of [1, 2]) front.say(n, n, 1, { ...SHARED, ...saying(APPLIED) })
    await fleet.ctx.advance(2_000)
    for (const n of [1, 2]) front.say(n, n, 2)
    front.say(1, 1, 3, { capabilities: 0x1001 })
    await fleet.ctx.advance(2_000)
    const { workload } = instanceOf(2)!
    await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
    await fleet.ctx.advance(2_000)
    expect([...workload!.active!.targets.keys()]).toEqual([uidOf(2)])
  })

  it('may say that an agent is a collector', async () => {
    const front = openFront('front')
    front.link(openOwner())
    front.say(1, 1, 1, { ...DESCRIBED, capabilities: 0x1001 })
    await fleet.ctx.advance(2_000)
    expect(instanceOf(1)!.type).toBe('sdk')
    front.say(1, 1, 2, { capabilities: 0x1807 })
    expect(instanceOf(1)!.type).toBe('collector')
  })
})

describe('a message that a front has missed', () => {
  it('is made up for by the full state, where the report that told of it was lost with its link', async () => {
    const owner = openOwner()
    const front = openFront('front')
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(1_000)
    link.losing()
    // The front turned message 2 away: it had no room to decode it.
    front.say(1, 1, 3)
    link.break()
    front.link(owner)
    await fleet.ctx.advance(2_000)
    front.say(1, 1, 4)
    await fleet.ctx.advance(2_000)
    expect(front.asked()).toEqual([uidOf(1)])
    front.say(1, 1, 5, DESCRIBED)
    front.say(1, 1, 6)
    expect(front.asked()).toEqual([uidOf(1)])
  })

  it('is made up for by the full state, where it was missed while nobody owned', async () => {
    const front = openFront('front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(1_000)
    link.break()
    front.say(1, 1, 3)
    front.link(await takeOver(2))
    await fleet.ctx.advance(2_000)
    front.say(1, 1, 4)
    expect(front.asked()).toEqual([uidOf(1)])
  })

  it('is asked for by the owner, whose own number may be the one before by accident', async () => {
    const front = openFront('front')
    front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(1_000)
    for (let sequence = 2; sequence < 6; sequence++) front.say(1, 1, sequence)
    expect(front.agents.counts.absorbed).toBe(4)
    // Its process started again, and the first message of that was turned away.
    front.say(1, 1, 2)
    await fleet.ctx.advance(1_000)
    expect(front.asked()).toEqual([uidOf(1)])
  })

  it('is none of an agent that speaks for the first time on a socket, whatever becomes of the link', async () => {
    const owner = openOwner()
    const front = openFront('front')
    const link = front.link(owner)
    link.losing()
    front.say(1, 1, 7, DESCRIBED)
    link.break()
    const next = front.link(owner)
    front.say(1, 1, 8)
    next.break()
    front.link(await takeOver(2))
    front.say(1, 1, 9)
    await fleet.ctx.advance(2_000)
    front.say(1, 1, 10)
    expect(front.asked()).toEqual([])
  })
})

describe('an agent behind a gateway that has asked for another uid', () => {
  it('is away under its former one, and not all agents are told of each minute because of it', async () => {
    const front = openFront('front')
    const { said } = front.link(openOwner())
    for (let n = 1; n <= 20; n++) front.say(n < 4 ? 1 : n, n, 1, DESCRIBED)
    await fleet.ctx.advance(10_000)
    front.say(1, 1, 2, { flags: 1 })
    await fleet.ctx.advance(120_000)
    expect(instanceOf(1)?.connection ?? null).toBeNull()
    for (const n of [2, 3, 4]) expect(instanceOf(n)!.connection).not.toBeNull()
    said.length = 0
    await fleet.ctx.advance(600_000)
    expect(said.filter(([kind]) => kind === 'report' || kind === 'replay')).toEqual([])
  })
})

describe('a poll', () => {
  it('is not answered with a config that was replaced while its text was read, and has the newer one with the next', async () => {
    const reads: ((text: Uint8Array) => void)[] = []
    const texts = { at: () => null, find: () => new Promise<Uint8Array>((resolve) => reads.push(resolve)) }
    const turns = async () => {
      for (let i = 0; i < 6; i++) await fleet.ctx.advance(20)
    }
    const front = openFront('front', { texts })
    const { said } = front.link(openOwner())
    front.say(2, 2, 1, { ...SHARED, ...saying(APPLIED) })
    const first = front.poll(1, 1, { ...SHARED, ...saying(APPLIED) })
    await turns()
    await first
    const { workload } = instanceOf(1)!
    await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
    await turns()
    reads.length = 0
    const answer = front.poll(1, 2)
    await turns()
    expect(reads.length).toBe(1)
    await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(2))
    await turns()
    // Agent 2 was offered the newer one over its socket.
    expect(reads.length).toBe(2)
    reads[0]!(Buffer.from('old'))
    await turns()
    expect((await answer)?.remoteConfig).toBeUndefined()
    expect(said.filter(([kind]) => kind === 'not-sent')).toHaveLength(1)
    const next = front.poll(1, 3)
    await turns()
    reads.at(-1)!(Buffer.from('new'))
    expect(Buffer.from((await next)!.remoteConfig!.body).toString()).toBe('new')
  })
})

/** What the history of the workload of agent 1 says of connections. */
async function history(): Promise<string[]> {
  await fleet.ctx.fleet.writer.flush()
  const rows = await database.pool.query<{ type: string }>(
    `select event_type as type from workload_events where event_type like '%connected' order by occurred_at, event_type`,
  )
  return rows.map(({ type }) => type)
}

describe('the history of a workload', () => {
  it('says nothing of a link that was cut: its agents have noticed nothing', async () => {
    const owner = openOwner()
    const front = openFront('front')
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(2_000)
    link.break()
    await fleet.ctx.advance(2_000)
    front.link(owner)
    await fleet.ctx.advance(2_000)
    expect(await history()).toEqual(['connected'])
  })

  it('says that an agent is gone which does not come back after its link was cut, within the grace', async () => {
    const owner = openOwner()
    const front = openFront('front')
    const link = front.link(owner)
    for (const n of [1, 2]) front.say(n, n, 1, SHARED)
    await fleet.ctx.advance(2_000)
    link.break()
    front.close(1)
    await fleet.ctx.advance(2_000)
    expect(await history()).toEqual(['connected', 'connected'])
    // Of one its front says that it had gone, and of the other nobody says anything.
    front.link(owner).break()
    expect(await history()).toEqual(['connected', 'connected', 'disconnected'])
    await fleet.ctx.advance(600_000)
    expect(await history()).toEqual(['connected', 'connected', 'disconnected', 'disconnected'])
  })

  it('says of the agents of a front that fell silent that they were there until that was heard last', async () => {
    const { fleet: live } = fleet.ctx
    const front = openFront('front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, SHARED)
    await fleet.ctx.advance(7_000)
    const [workload] = [...live.state.workloads.values()]
    link.losing()
    const sinceMs = fleet.ctx.clock.now().getTime()
    await fleet.ctx.advance(4_000)
    link.break()
    await fleet.ctx.advance(600_000)
    expect(await history()).toEqual(['connected', 'disconnected'])
    const [{ at }] = (await database.pool.query<{ at: Date }>(
      `select occurred_at as at from workload_events where event_type = 'disconnected'`,
    )) as [{ at: Date }]
    expect(at.getTime()).toBeLessThanOrEqual(sinceMs)
    expect(workload!.lastSeenAt).toEqual(at)
  })
})

describe('a front that always waits for some answer', () => {
  it('says all the same which agents beat, and has no agent told of again', async () => {
    const front = openFront('front')
    const link = front.link(openOwner())
    for (const n of [1, 2]) front.say(n, n, 1, DESCRIBED)
    await fleet.ctx.advance(1_000)
    front.say(1, 1, 2)
    expect(front.agents.counts.absorbed).toBe(1)
    link.hold()
    front.say(2, 2, 2, feeling(true, 1))
    link.said.length = 0
    const before = instanceOf(1)!.lastMessageMs
    await fleet.ctx.advance(30_000)
    expect(instanceOf(1)!.lastMessageMs).toBeGreaterThan(before)
    expect(link.said.filter(([kind]) => kind === 'report' || kind === 'replay')).toEqual([])
  })
})

describe('an offer that does not leave its front', () => {
  const NO_TEXT = { at: () => null, find: async () => null }

  it('counts as not sent, and as sent once one has left', async () => {
    const texts: { at(hash: string): Uint8Array | null; find(hash: string): Promise<Uint8Array | null> } = {
      ...NO_TEXT,
    }
    const front = openFront('front', { texts })
    front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(1_000)
    const { followed } = await offer()
    expect(front.agents.counts.offersNotSent).toBeGreaterThan(0)
    expect([followed.push.sentAt, followed.push.phase]).toEqual([null, 'submitted'])
    expect(instanceOf(1)!.offer!.lastSentAtMs).toBeNull()
    texts.at = () => Buffer.from('')
    await fleet.ctx.advance(2_000)
    expect(followed.push.sentAt).not.toBeNull()
    expect(followed.push.phase).toBe('sent')
  })

  it('counts as sent where the front says nothing of what leaves, as one of the version before', async () => {
    const front = openFront('front')
    front.link(openOwner(), LINK_VERSIONS.least)
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(1_000)
    expect((await offer()).followed.push.phase).toBe('sent')
  })
})

describe('an agent whose socket had no room once', () => {
  it('is left to its front again on that socket, after it has got its offer', async () => {
    const front = openFront('front')
    front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(2_000)
    const connection = front.connections.get(1)!
    const tell = connection.tell!
    connection.tell = () => 'dropped'
    const { hash } = await offer()
    connection.tell = tell
    front.say(1, 1, 2)
    expect(front.agents.counts.absorbed).toBe(0)
    await fleet.ctx.advance(2_000)
    expect(front.told.filter(({ message }) => message.remoteConfig !== undefined)).toHaveLength(1)
    front.say(1, 1, 3, saying(APPLIED, hash))
    await fleet.ctx.advance(2_000)
    front.say(1, 1, 4)
    await fleet.ctx.advance(2_000)
    front.say(1, 1, 5)
    expect(front.agents.counts.absorbed).toBeGreaterThan(0)
  })
})
