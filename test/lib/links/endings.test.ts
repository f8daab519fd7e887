import { describe, expect, it } from 'vitest'
import type { FrontEntry } from '../../../lib/links/frames.ts'
import { UNCONFIRMED_MAX } from '../../../lib/links/front-agents.ts'
import { ENDINGS_BYTES_MAX, ENDINGS_MAX } from '../../../lib/links/front-endings.ts'
import {
  type FrontLink,
  type LinkedFront,
  TEXTS_AT_HAND,
  uidOf,
  useLinkedFleet,
} from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Agents leave while the link between their front and the owner ends.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet

const DESCRIBED = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}
/** The text of a config that is never read. */
const NO_TEXT_YET = { at: () => null, find: () => new Promise<null>(() => undefined) }

/** Push a config to the workload of agent 1, which is offered it. */
async function offer() {
  const { workload } = instanceOf(1)!
  const push = await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
  await fleet.ctx.advance(2_000)
  expect(instanceOf(1)!.offer?.lastSentAtMs).not.toBeNull()
  const target = () => workload!.active!.targets.get(uidOf(1))!
  return { push, target }
}

/** After that a new owner has been told of those that are back, and believes a goodbye of one that it has not heard. */
const ALL_TOLD_MS = 12_000

const endedOn = (said: readonly FrontEntry[]) => said.filter(([kind]) => kind === 'ended')
const goodbyesOn = (said: readonly FrontEntry[]) => said.filter(([kind]) => kind === 'goodbye')
const GOODBYE = { agentDisconnect: {} }

describe('a goodbye that was under way when the link ended', () => {
  it('is told again on the next link, and what waited for the agent ends', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    link.losing()
    front.say(1, 1, 2, { agentDisconnect: {} })
    front.close(1)
    link.break()
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: false })
    const next = front.link(owner)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
    expect(target()).toMatchObject({ state: 'gone', error: { cause: 'left' } })
    const again = ['goodbye', expect.any(Number), 1, expect.any(Number), expect.any(String)]
    expect(goodbyesOn(next.said)).toEqual([again])
    // The owner has stored it: the link after that one is told nothing of it.
    await fleet.ctx.advance(1)
    next.break()
    expect(goodbyesOn(front.link(owner).said)).toEqual([])
  })

  it('is told again with what it said of a config', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { push, target } = await offer()
    const lastRemoteConfigHash = Buffer.from(push.hash, 'hex')
    link.losing()
    front.say(1, 1, 2, { ...GOODBYE, remoteConfigStatus: { lastRemoteConfigHash, status: 1 } })
    front.close(1)
    link.break()
    front.link(owner)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
    expect(target().state).toBe('applied')
  })

  it('counts where its agent still waits to be told of on the new link', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const all = UNCONFIRMED_MAX + 20
    const link = front.link(owner)
    for (let n = 1; n <= all; n++) front.say(n, n, 1, DESCRIBED)
    await fleet.ctx.advance(500)
    link.break()
    const next = front.link(owner)
    next.hold()
    front.say(all, all, 2, GOODBYE)
    next.deliver()
    await fleet.ctx.advance(500)
    expect(instanceOf(all)).toMatchObject({ connection: null, hasDeparted: true })
  })

  it.each([
    ['lost', (other: LinkedFront) => other.close(2)],
    ['cut off with it', (_: LinkedFront, itsLink: FrontLink) => itsLink.break()],
  ])('counts where its agent had been %s at another front, and not heard of since', async (_, end) => {
    const [owner, front, other] = [openOwner(), openFront('a front'), openFront('another')]
    const link = front.link(owner)
    const otherLink = other.link(owner)
    other.say(2, 1, 1, DESCRIBED)
    await fleet.ctx.advance(500)
    end(other, otherLink)
    link.losing()
    front.say(1, 1, 1)
    front.say(1, 1, 2, GOODBYE)
    link.break()
    await fleet.ctx.advance(500)
    front.link(owner)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
  })

  it('is told to an owner that has taken over since', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { push } = await offer()
    link.break()
    front.say(1, 1, 2, { agentDisconnect: {} })
    const next = await takeOver(2)
    const [workload] = fleet.ctx.fleet.state.workloads.values()
    const target = () => workload!.active!.targets.get(uidOf(1))!
    expect(workload!.active!.push.pushId).toBe(push.pushId)
    expect(target().state).toBe('offered')
    front.link(next)
    await fleet.ctx.advance(ALL_TOLD_MS)
    expect(target()).toMatchObject({ state: 'gone', error: { cause: 'left' } })
  })

  it('takes nobody away who has come back, here or at another front, nor who went on from there', async () => {
    const [owner, front, other] = [openOwner(), openFront('a front'), openFront('another')]
    const links = [front.link(owner), other.link(owner)]
    for (const n of [1, 2, 3]) front.say(n, n, 1, DESCRIBED)
    links[0]!.break()
    for (const n of [1, 2, 3]) front.say(n, n, 2, { agentDisconnect: {} })
    front.say(9, 1, 1, DESCRIBED)
    for (const n of [2, 3]) other.say(n, n, 1, DESCRIBED)
    links[1]!.break()
    other.link(owner)
    other.close(3)
    expect(instanceOf(2)!.connection).not.toBeNull()
    front.link(owner)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)!.connection).not.toBeNull()
    expect(instanceOf(2)!.connection).not.toBeNull()
    expect(instanceOf(3)).toMatchObject({ connection: null, hasDeparted: false })
  })
})

describe('a goodbye to an owner that has taken over since', () => {
  it.each([
    ['on a new socket', (front: LinkedFront) => front.say(9, 1, 2, GOODBYE)],
    ['in a poll', (front: LinkedFront) => void front.poll(1, 2, GOODBYE)],
  ])('counts %s, though the agent has not spoken to that owner before', async (_, sayGoodbye) => {
    const front = openFront('a front')
    const link = front.link(openOwner())
    void front.poll(1, 1, DESCRIBED)
    await fleet.ctx.advance(500)
    link.break()
    const owner = await takeOver(2)
    const other = openFront('another')
    other.link(owner)
    sayGoodbye(other)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true, workload: {} })
  })
})

describe('a goodbye that is the first message on a new socket', () => {
  it('counts where the link of the front that had the agent has ended', async () => {
    const [owner, front, other] = [openOwner(), openFront('a front'), openFront('another')]
    const link = front.link(owner)
    other.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    link.break()
    await fleet.ctx.advance(500)
    other.say(2, 1, 2, GOODBYE)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
    expect(target()).toMatchObject({ state: 'gone', error: { cause: 'left' } })
  })

  it('counts where the former socket seems open still, and its front forgets the agent', async () => {
    const [owner, front, other] = [openOwner(), openFront('a front'), openFront('another')]
    front.link(owner)
    other.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(2_000)
    // Its beats are answered by the front: the owner does not know how many there were.
    for (const n of [2, 3, 4]) front.say(1, 1, n)
    expect(front.agents.counts.absorbed).toBe(3)
    other.say(2, 1, 5, GOODBYE)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
    expect(front.agents.counts.agents).toBe(0)
    await fleet.ctx.advance(120_000)
    expect(instanceOf(1)?.connection ?? null).toBeNull()
  })
})

describe('a goodbye in a poll', () => {
  it.each([
    ['which was lost', 'losing'],
    ['whose answer was lost', 'mute'],
  ] as const)('%s as the link ended is told again on the next one, once', async (_, how) => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    void front.poll(1, 1, DESCRIBED)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)!.connection).not.toBeNull()
    link[how]()
    void front.poll(1, 2, GOODBYE)
    await fleet.ctx.advance(2_000)
    link.break()
    const next = front.link(owner)
    await fleet.ctx.advance(500)
    expect(goodbyesOn(next.said)).toHaveLength(1)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
    await fleet.ctx.advance(1)
    next.break()
    expect(goodbyesOn(front.link(owner).said)).toEqual([])
  })

  it('brings what it said of a config to the owner, also where another has taken over', async () => {
    const front = openFront('a front')
    const link = front.link(openOwner())
    void front.poll(1, 1, DESCRIBED)
    const { hash } = await pushConfig(fleet.ctx.fleet, instanceOf(1)!.workload!.id, configYaml(1))
    await fleet.ctx.advance(500)
    void front.poll(1, 2)
    await fleet.ctx.advance(500)
    link.break()
    const status = { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status: 1 }
    void front.poll(1, 3, { ...GOODBYE, remoteConfigStatus: status })
    const owner = await takeOver(2)
    front.link(owner)
    await fleet.ctx.advance(ALL_TOLD_MS)
    const [stored] = fleet.ctx.fleet.state.workloads.values()
    expect(stored!.active!.targets.get(uidOf(1))!.state).toBe('applied')
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
  })

  it('takes nobody away who has polled since, here or at another front', async () => {
    const [owner, front, other] = [openOwner(), openFront('a front'), openFront('another')]
    const link = front.link(owner)
    other.link(owner)
    for (const n of [1, 2]) void front.poll(n, 8, DESCRIBED)
    await fleet.ctx.advance(500)
    link.break()
    for (const n of [1, 2]) void front.poll(n, 9, GOODBYE)
    await fleet.ctx.advance(500)
    void front.poll(1, 1, DESCRIBED)
    void other.poll(2, 1, DESCRIBED)
    await fleet.ctx.advance(500)
    const next = front.link(owner)
    await fleet.ctx.advance(500)
    expect(goodbyesOn(next.said)).toHaveLength(1)
    expect(instanceOf(1)!.connection).not.toBeNull()
    expect(instanceOf(2)!.connection).not.toBeNull()
  })

  it('is taken where no more polls may wait for an answer', async () => {
    const [owner, front] = [openOwner(), openFront('a front', { pollsMax: 1 })]
    const link = front.link(owner)
    void front.poll(1, 1, DESCRIBED)
    await fleet.ctx.advance(500)
    link.hold()
    void front.poll(2, 1, DESCRIBED)
    expect(await front.poll(1, 2, GOODBYE)).toBeNull()
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
    link.deliver()
    await fleet.ctx.advance(500)
  })
})

describe('an agent that speaks at two fronts in turn', () => {
  it('stays known where it spoke last, though the owner took it away from there before it heard that', async () => {
    const [owner, front, other] = [openOwner(), openFront('a front'), openFront('another')]
    const link = front.link(owner)
    const otherLink = other.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(500)
    link.hold()
    other.say(2, 1, 2)
    front.say(1, 1, 3, { health: { healthy: true } })
    await fleet.ctx.advance(500)
    link.deliver()
    await fleet.ctx.advance(500)
    expect(instanceOf(1)!.connection?.place).toBe('a front/1')
    expect([front.agents.counts.agents, other.agents.counts.agents]).toEqual([1, 0])
    otherLink.break()
    link.break()
    const next = front.link(owner)
    expect(next.said.map(([kind]) => kind)).toContain('replay')
  })

  it('is not taken away from where it is by a goodbye on a socket that it had before', async () => {
    const [owner, front, other] = [openOwner(), openFront('a front'), openFront('another')]
    front.link(owner)
    other.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    other.say(2, 1, 2)
    await fleet.ctx.advance(500)
    expect(other.agents.counts.agents).toBe(1)
    front.say(1, 1, 2, GOODBYE)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)!.connection?.place).toBe('another/2')
    expect(other.agents.counts.agents).toBe(1)
  })
})

describe('the end of a socket that was under way when the link ended', () => {
  it('counts as a loss, once', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    link.losing()
    front.close(1)
    link.break()
    expect(target().losses).toBe(0)
    const next = front.link(owner)
    next.break()
    front.link(owner)
    expect(target().losses).toBe(1)
  })

  it.each([
    ['counts no loss of a config that its front had not sent yet', NO_TEXT_YET, 0],
    ['counts a loss of a config that its front had sent', TEXTS_AT_HAND, 1],
  ])('%s', async (_, texts, losses) => {
    const [owner, front] = [openOwner(), openFront('a front', { texts })]
    front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    front.close(1)
    await fleet.ctx.advance(500)
    expect(instanceOf(1)!.connection).toBeNull()
    expect(target().losses).toBe(losses)
  })

  it('counts once where only the confirmation was lost', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    link.mute()
    front.close(1)
    await fleet.ctx.advance(500)
    expect(target().losses).toBe(1)
    link.break()
    const next = front.link(owner)
    expect(endedOn(next.said)).toHaveLength(1)
    expect(target().losses).toBe(1)
  })
})

it('is kept of so many agents, and the oldest are given up first', () => {
  const front = openFront('a front')
  for (let n = 1; n <= ENDINGS_MAX + 10; n++) {
    front.say(n, n, 1, DESCRIBED)
    front.close(n)
  }
  const ended = endedOn(front.link(openOwner()).said)
  expect(ended).toHaveLength(ENDINGS_MAX)
  expect(ended[0]![2]).toBe(11)
})

it('is kept of so many agents in all, however many of them shared a connection', () => {
  const front = openFront('a front')
  const each = 300
  for (let n = 0; n < ENDINGS_MAX + 3 * each; n++) {
    const conn = 1 + Math.floor(n / each)
    front.say(conn, n, 1, DESCRIBED)
    if (n % each === each - 1) front.close(conn)
  }
  const ended = endedOn(front.link(openOwner()).said) as (FrontEntry & { 0: 'ended' })[]
  const agents = ended.reduce((sum, [, , , uids]) => sum + uids.split(',').length, 0)
  expect(agents).toBeLessThanOrEqual(ENDINGS_MAX)
  expect(agents).toBeGreaterThan(ENDINGS_MAX - each)
})

it('is kept of goodbyes of so many bytes, and the oldest are given up first', () => {
  const front = openFront('a front')
  const errorMessage = 'x'.repeat(30_000)
  const status = { lastRemoteConfigHash: Buffer.alloc(32, 1), status: 3, errorMessage }
  const most = Math.ceil(ENDINGS_BYTES_MAX / errorMessage.length)
  for (let n = 1; n <= most; n++) {
    front.say(n, n, 1, DESCRIBED)
    front.say(n, n, 2, { ...GOODBYE, remoteConfigStatus: status })
  }
  const again = goodbyesOn(front.link(openOwner()).said)
  expect(again.length).toBeGreaterThan(most / 2)
  expect(again.length).toBeLessThan(most)
  expect(again.at(-1)![2]).toBe(most)
})

describe('an owner that has halted and is still linked', () => {
  /** What the front says to the next owner of what it said to one that had halted. */
  async function saidToNext(say: (front: LinkedFront) => void) {
    const front = openFront('a front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(500)
    await fleet.ctx.fleet.stop()
    say(front)
    fleet.ctx.timers.advance(10)
    link.break()
    return front.link(await takeOver(2)).said
  }

  it('answers no goodbye, so that the next one hears it', async () => {
    const said = await saidToNext((front) => {
      front.say(1, 1, 2, { agentDisconnect: {} })
      front.close(1)
    })
    expect(goodbyesOn(said)).toHaveLength(1)
    await fleet.ctx.advance(ALL_TOLD_MS)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
  })

  it('answers no end of a connection, so that the next one hears it', async () => {
    expect(endedOn(await saidToNext((front) => front.close(1)))).toHaveLength(1)
  })
})
