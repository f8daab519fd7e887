import { expect, it } from 'vitest'
import { type LinkedFront, uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// An agent goes to another front while what it said at the former one is still on its way to the owner.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet
const DESCRIBED: PlainMessage = {
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': 'edge',
      'k8s.namespace.name': 'ns',
      'k8s.deployment.name': 'edge',
    }),
  },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1, errorMessage: '' },
}
const APPLYING: PlainMessage = {
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32, 1), status: 2, errorMessage: '' },
}
/** Those that were given another uid. */
const renamed = (...fronts: LinkedFront[]): string[] =>
  fronts.flatMap(({ told }) =>
    told.flatMap(({ uid, message }) => (message.newInstanceUid === undefined ? [] : [uid])),
  )

/** Two fronts of an owner, the agent at the first, and the way from there to the owner. */
async function atFormer() {
  const [owner, former, present] = [openOwner(), openFront('former'), openFront('present')]
  const way = former.link(owner)
  present.link(owner)
  former.say(1, 1, 1, DESCRIBED)
  former.say(1, 1, 2)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)!.connection?.place).toBe('former/1')
  way.delay()
  return { owner, former, present, way }
}

it.each([
  ['that went on', 4, true],
  ['that crashed as it applied a config and began anew', 0, true],
  ['whose former socket seems open', 4, false],
])('an agent %s keeps its uid and its place', async (_who, sequenceNum, hasClosed) => {
  const { former, present, way } = await atFormer()
  former.say(1, 1, 3, APPLYING)
  if (hasClosed) former.close(1)
  await fleet.ctx.advance(400)
  present.say(7, 1, sequenceNum, DESCRIBED)
  await fleet.ctx.advance(500)
  way.catchUp()
  await fleet.ctx.advance(1_000)
  present.say(7, 1, sequenceNum + 1)
  await fleet.ctx.advance(15_000)
  expect(renamed(former, present)).toEqual([])
  expect(instanceOf(1)!.connection?.place).toBe('present/7')
  expect([former.agents.counts.agents, present.agents.counts.agents]).toEqual([0, 1])
})

it('two agents with one uid are told apart by what the one of the late front says next', async () => {
  const { former, present, way } = await atFormer()
  former.say(1, 1, 3, APPLYING)
  await fleet.ctx.advance(400)
  present.say(7, 1, 50, DESCRIBED)
  await fleet.ctx.advance(500)
  way.catchUp()
  for (let n = 1; n <= 3; n++) {
    await fleet.ctx.advance(5_000)
    former.say(1, 1, 3 + n)
    await fleet.ctx.advance(5_000)
    present.say(7, 1, 50 + n)
  }
  expect(renamed(former, present)).toContain(uidOf(1))
})

it('an agent that went on to a third front meanwhile is at that one', async () => {
  const { owner, former, present, way } = await atFormer()
  const third = openFront('third')
  third.link(owner)
  former.say(1, 1, 3, APPLYING)
  former.close(1)
  present.say(7, 1, 4, DESCRIBED)
  await fleet.ctx.advance(400)
  third.say(9, 1, 5, DESCRIBED)
  way.catchUp()
  await fleet.ctx.advance(15_000)
  expect(renamed(former, present, third)).toEqual([])
  expect(instanceOf(1)!.connection?.place).toBe('third/9')
})

/** The agent went to another front while its former one had no link, and that one has not noticed that its socket is dead. */
async function leaveDeadSocket() {
  const [owner, former, present] = [openOwner(), openFront('former'), openFront('present')]
  const [link, presentLink] = [former.link(owner), present.link(owner)]
  former.say(1, 1, 1, DESCRIBED)
  former.say(1, 1, 2)
  await fleet.ctx.advance(2_000)
  link.break()
  await fleet.ctx.advance(2_000)
  return { owner, former, present, presentLink }
}

it.each([
  ['that went on', 3],
  ['that began anew', 0],
])('an agent %s is not taken back by a front with its dead socket that has a link again', async (_who, n) => {
  const { owner, former, present } = await leaveDeadSocket()
  present.say(7, 1, n, DESCRIBED)
  await fleet.ctx.advance(2_000)
  former.link(owner)
  await fleet.ctx.advance(15_000)
  expect(instanceOf(1)!.connection?.place).toBe('present/7')
  expect([former.agents.counts.agents, present.agents.counts.agents]).toEqual([0, 1])
  former.close(1)
  await fleet.ctx.advance(400_000)
  expect(instanceOf(1)!.connection?.place).toBe('present/7')
})

it.each([
  ['first', true],
  ['last', false],
])(
  'a new owner that hears of the present front %s takes the agent for one of there',
  async (_when, isFirst) => {
    const { former, present, presentLink } = await leaveDeadSocket()
    present.say(7, 1, 3, DESCRIBED)
    await fleet.ctx.advance(2_000)
    presentLink.break()
    const next = await takeOver(2)
    for (const front of isFirst ? [present, former] : [former, present]) front.link(next)
    await fleet.ctx.advance(2_000)
    expect(instanceOf(1)!.connection?.place).toBe('present/7')
    expect([former.agents.counts.agents, present.agents.counts.agents]).toEqual([0, 1])
  },
)

it('an agent that has come back to the front without a link is at that one once it has a link again', async () => {
  const { owner, former, present } = await leaveDeadSocket()
  present.say(7, 1, 3, DESCRIBED)
  await fleet.ctx.advance(2_000)
  former.say(8, 1, 4, DESCRIBED)
  await fleet.ctx.advance(2_000)
  former.link(owner)
  await fleet.ctx.advance(2_000)
  expect(instanceOf(1)!.connection?.place).toBe('former/8')
  expect(renamed(former, present)).toEqual([])
})

const GOODBYE: PlainMessage = { agentDisconnect: {} }
/** Push a config to the only workload, which another agent on this front has, too; gives the losses that are counted. */
async function push(front: LinkedFront) {
  front.say(20, 2, 1, DESCRIBED)
  await fleet.ctx.advance(1_000)
  const [workload] = fleet.ctx.fleet.state.workloads.values()
  await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
  await fleet.ctx.advance(1_000)
  return () => [...workload!.active!.targets.values()].reduce((sum, { losses }) => sum + losses, 0)
}

/** How an agent that went to another front left that one. */
const LEFT = [
  ['said goodbye', true],
  ['crashed', false],
] as const

it.each(LEFT)(
  'an agent that went elsewhere and %s there stays away, whatever a front has on a dead socket',
  async (_how, isGoodbye) => {
    const { owner, former, present } = await leaveDeadSocket()
    present.say(7, 1, 3, DESCRIBED)
    if (isGoodbye) present.say(7, 1, 4, GOODBYE)
    present.close(7)
    await fleet.ctx.advance(1_000)
    former.link(owner)
    await fleet.ctx.advance(1_000)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: isGoodbye })
    expect(former.agents.counts.agents).toBe(0)
  },
)

it.each(LEFT)('an agent that went elsewhere and %s there is not lost once more', async (_how, isGoodbye) => {
  const { owner, former, present } = await leaveDeadSocket()
  present.say(7, 1, 3, DESCRIBED)
  if (isGoodbye) present.say(7, 1, 4, GOODBYE)
  present.close(7)
  former.link(owner)
  const losses = await push(present)
  former.close(1)
  await fleet.ctx.advance(1_000)
  expect(losses()).toBe(0)
  expect(former.told.filter(({ message }) => message.remoteConfig !== undefined)).toEqual([])
})

it.each([
  ['the same owner', false],
  ['a new owner', true],
])('%s takes a goodbye that it hears of after what a front has on a dead socket', async (_who, isNew) => {
  const { owner, former, present, presentLink } = await leaveDeadSocket()
  present.say(7, 1, 3, DESCRIBED)
  await fleet.ctx.advance(2_000)
  presentLink.break()
  present.say(7, 1, 4, GOODBYE)
  present.close(7)
  await fleet.ctx.advance(1_000)
  const next = isNew ? await takeOver(2) : owner
  former.link(next)
  present.link(next)
  await fleet.ctx.advance(2_000)
  expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
  const losses = await push(present)
  former.close(1)
  await fleet.ctx.advance(1_000)
  expect(losses()).toBe(0)
})

it('a new owner that hears of a goodbye takes an agent back that came back since, and no other', async () => {
  const { former, present, presentLink } = await leaveDeadSocket()
  present.say(7, 1, 3, DESCRIBED)
  await fleet.ctx.advance(2_000)
  presentLink.break()
  present.say(7, 1, 4, GOODBYE)
  present.close(7)
  await fleet.ctx.advance(2_000)
  const next = await takeOver(2)
  present.link(next)
  former.link(next)
  // It may have come back to another front, of which nothing was heard yet.
  await fleet.ctx.advance(11_000)
  expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
  const third = openFront('third')
  third.say(9, 1, 0, DESCRIBED)
  await fleet.ctx.advance(1_000)
  third.link(next)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)!.connection?.place).toBe('third/9')
})

it('an agent that said goodbye elsewhere and came back to a front without a link is there', async () => {
  const { owner, former, present } = await leaveDeadSocket()
  present.say(7, 1, 3, DESCRIBED)
  present.say(7, 1, 4, GOODBYE)
  present.close(7)
  await fleet.ctx.advance(1_000)
  former.say(8, 1, 0, DESCRIBED)
  await fleet.ctx.advance(3_000)
  former.link(owner)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)!.connection?.place).toBe('former/8')
})

it('a late goodbye takes nobody away who has spoken on another front since', async () => {
  const { owner, former, present, presentLink } = await leaveDeadSocket()
  const third = openFront('third')
  present.say(7, 1, 3, DESCRIBED)
  await fleet.ctx.advance(2_000)
  presentLink.break()
  present.say(7, 1, 4, GOODBYE)
  present.close(7)
  await fleet.ctx.advance(1_000)
  third.say(9, 1, 0, DESCRIBED)
  await fleet.ctx.advance(1_000)
  third.link(owner)
  await fleet.ctx.advance(1_000)
  present.link(owner)
  former.link(owner)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)!.connection?.place).toBe('third/9')
})

it('an agent that said goodbye elsewhere so long ago that it is forgotten is not taken back by a dead socket', async () => {
  const { owner, former, present } = await leaveDeadSocket()
  present.say(7, 1, 3, DESCRIBED)
  present.say(7, 1, 4, GOODBYE)
  present.close(7)
  await fleet.ctx.advance(200_000)
  expect(instanceOf(1)).toBeUndefined()
  former.link(owner)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)).toBeUndefined()
  expect(former.agents.counts.agents).toBe(0)
  present.say(8, 1, 0, DESCRIBED)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)!.connection?.place).toBe('present/8')
})

it('a beat that a front answered before it lost its link says nothing of whether the agent is there now', async () => {
  const [owner, former, present] = [openOwner(), openFront('former'), openFront('present')]
  const [link, presentLink] = [former.link(owner), present.link(owner)]
  former.say(1, 1, 1, DESCRIBED)
  await fleet.ctx.advance(2_000)
  former.say(1, 1, 2)
  expect(former.agents.counts.absorbed).toBe(1)
  for (const each of [link, presentLink]) each.break()
  await fleet.ctx.advance(1_000)
  present.say(7, 1, 3, GOODBYE)
  present.close(7)
  await fleet.ctx.advance(1_000)
  former.link(owner)
  await fleet.ctx.advance(6_000)
  expect(instanceOf(1)!.connection?.place).toBe('former/1')
  present.link(owner)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
})
