import { describe, expect, it } from 'vitest'
import { useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// What agents that poll say to fronts arrives at the owner, also where a link ends or a front stands still meanwhile.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner } = fleet

const CAPABILITIES = 0x1007
const DESCRIBED: PlainMessage = {
  capabilities: CAPABILITIES,
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}
const running = (letter: string): PlainMessage => ({
  capabilities: CAPABILITIES,
  effectiveConfig: { configMap: { configMap: { '': { body: Buffer.from(letter), contentType: '' } } } },
})
const FULL = { ...DESCRIBED, ...running('b') }

/** A front that reads the config `b` when it is told to, and every other one at once. */
function openReadingFront() {
  let read = () => {}
  const reading = new Promise<void>((resolve) => {
    read = resolve
  })
  const front = openFront('front', {
    async normalise(text) {
      if (text === 'b') await reading
      return { hash: text.repeat(64), text, runsPipelines: true, runsProfiles: false }
    },
  })
  let sequenceNum = 0
  const poll = async (more: PlainMessage = { capabilities: CAPABILITIES }) => {
    const answer = front.poll(1, ++sequenceNum, more)
    await fleet.ctx.advance(1_000)
    return answer
  }
  return { front, poll, read }
}
/** Another front, which reads every config at once. */
function openOtherFront() {
  const front = openFront('other', {
    normalise: async (text) => ({ hash: text.repeat(64), text, runsPipelines: true, runsProfiles: false }),
  })
  return {
    front,
    async poll(sequenceNum: number, more: PlainMessage = { capabilities: CAPABILITIES }) {
      const answer = front.poll(1, sequenceNum, more)
      await fleet.ctx.advance(1_000)
      return answer
    },
  }
}
/** Let the owner answer a poll, and its batch arrive, before the front answers without it. */
const answered = async () => {
  await fleet.ctx.advance(300)
  await fleet.ctx.advance(300)
}
const runs = () => instanceOf(1)!.reportedConfigHash.slice(0, 1)

describe('what a poller runs is known to the owner', () => {
  it.each(['while there is no link', 'and is told on a link that loses it', 'once there is another link'])(
    'where it is read after the owner has answered, %s',
    async (when) => {
      const { front, poll, read } = openReadingFront()
      const owner = openOwner()
      const link = front.link(owner)
      await poll({ ...DESCRIBED, ...running('a') })
      expect(runs()).toBe('a')
      await poll(running('b'))
      if (when.startsWith('and')) link.losing()
      if (when.startsWith('while')) link.break()
      if (when.startsWith('once')) {
        link.break()
        front.link(owner)
      }
      read()
      await fleet.ctx.advance(1_000)
      if (when.startsWith('and')) link.break()
      if (!when.startsWith('once')) front.link(owner)
      const answer = await poll()
      if (answer?.reportFullState) await poll(FULL)
      expect(runs()).toBe('b')
      expect((await poll())?.reportFullState).toBeUndefined()
    },
  )

  it('and it is not asked for it again where it was told before the link ended', async () => {
    const { front, poll, read } = openReadingFront()
    const owner = openOwner()
    const link = front.link(owner)
    read()
    await poll(FULL)
    await fleet.ctx.advance(15_000)
    link.break()
    front.link(owner)
    expect((await poll())?.reportFullState).toBeUndefined()
  })
})

describe('what an agent runs is asked for again where the front that was to read it', () => {
  it('is killed, and the agent polls another one', async () => {
    const { front, poll } = openReadingFront()
    const other = openOtherFront()
    const owner = openOwner()
    const link = front.link(owner)
    other.front.link(owner)
    await poll({ ...DESCRIBED, ...running('a') })
    await poll(running('b'))
    link.break()
    const answer = await other.poll(3)
    expect(answer?.reportFullState).toBe(true)
    // The agent did not get that answer.
    expect((await other.poll(4))?.reportFullState).toBe(true)
    await other.poll(5, FULL)
    expect(runs()).toBe('b')
    expect((await other.poll(6))?.reportFullState).toBeUndefined()
  })

  it('is killed, and the agent goes on over a socket at another one', async () => {
    const { front } = openReadingFront()
    const other = openOtherFront()
    const owner = openOwner()
    const link = front.link(owner)
    other.front.link(owner)
    front.say(1, 1, 1, { ...DESCRIBED, ...running('a') })
    await fleet.ctx.advance(1_000)
    front.say(1, 1, 2, running('b'))
    await fleet.ctx.advance(1_000)
    expect(runs()).toBe('a')
    link.break()
    other.front.say(1, 1, 3, { capabilities: CAPABILITIES })
    await fleet.ctx.advance(1_000)
    expect(other.front.asked()).toHaveLength(1)
    other.front.say(1, 1, 4, FULL)
    await fleet.ctx.advance(1_000)
    expect(runs()).toBe('b')
    expect(other.front.asked()).toHaveLength(1)
  })

  it('is killed, but not where the agent says all of it again without a config', async () => {
    const { front, poll } = openReadingFront()
    const other = openOtherFront()
    const owner = openOwner()
    const link = front.link(owner)
    other.front.link(owner)
    await poll({ ...DESCRIBED, capabilities: 0x1003 })
    await poll(running('b'))
    link.break()
    expect((await other.poll(3, { ...DESCRIBED, capabilities: 0x1003 }))?.reportFullState).toBeUndefined()
    expect((await other.poll(4))?.reportFullState).toBeUndefined()
  })
})

it('a poller whose config found no room is asked for it again, also where the front has forgotten that since', async () => {
  let hasRoom = false
  const front = openFront('front', {
    pollsMax: 1,
    reported: {
      reportedConfig: () => true,
      get hasRoomForConfigs() {
        return hasRoom
      },
    } as never,
    normalise: async (text) => ({ hash: text.repeat(64), text, runsPipelines: true, runsProfiles: false }),
  })
  front.link(openOwner())
  const poll = async (n: number, sequenceNum: number, more: PlainMessage) => {
    const answer = front.poll(n, sequenceNum, more)
    await answered()
    return answer
  }
  await poll(1, 1, FULL)
  await poll(2, 1, FULL)
  hasRoom = true
  expect((await poll(1, 2, { capabilities: CAPABILITIES }))?.reportFullState).toBe(true)
  await poll(1, 3, FULL)
  expect(runs()).toBe('b')
})

it('as many pollers as there are, each is offered what came too late for its poll with its next one', async () => {
  const front = openFront('front', { pollsMax: 1 })
  const link = front.link(openOwner())
  const both = [1, 2]
  for (const n of both) {
    const described = front.poll(n, 1, DESCRIBED)
    await answered()
    await described
  }
  for (const n of both) await pushConfig(fleet.ctx.fleet, instanceOf(n)!.workload!.id, configYaml(4_000 + n))
  link.hold()
  for (const n of both) {
    const late = front.poll(n, 2)
    await fleet.ctx.advance(1_500)
    expect((await late)?.remoteConfig).toBeUndefined()
  }
  link.deliver()
  await answered()
  for (const n of both) {
    const next = front.poll(n, 3)
    await answered()
    expect((await next)?.remoteConfig).toBeDefined()
  }
})

it('pollers are passed on to the owner again once it has answered what waited', async () => {
  const front = openFront('front', { pollsMax: 1 })
  const link = front.link(openOwner())
  link.hold()
  for (const n of [1, 2, 3]) {
    const late = front.poll(n, 1, DESCRIBED)
    await fleet.ctx.advance(1_500)
    await late
  }
  link.deliver()
  const next = front.poll(3, 2, DESCRIBED)
  await answered()
  await next
  expect(instanceOf(3)).toBeDefined()
})

it('what a former front has read late of a poller does not take the place of what another one was told since', async () => {
  const { front, poll, read } = openReadingFront()
  const other = openOtherFront()
  const owner = openOwner()
  front.link(owner)
  other.front.link(owner)
  await poll({ ...DESCRIBED, ...running('a') })
  await poll(running('b'))
  await other.poll(3, running('c'))
  expect(runs()).toBe('c')
  read()
  await fleet.ctx.advance(1_000)
  expect(runs()).toBe('c')
})

it('an agent that polls another front by now is forgotten by the one to which its socket stays open', async () => {
  const [former, other] = [openFront('former'), openFront('other')]
  const owner = openOwner()
  former.link(owner)
  other.link(owner)
  former.say(1, 1, 1, DESCRIBED)
  await fleet.ctx.advance(1_000)
  void other.poll(1, 2)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)!.connection!.transport).toBe('http')
  expect(former.agents.counts.agents).toBe(0)
})

it('an offer that waited with the answer to a poll while the front stood still is not given out, but made again', async () => {
  const front = openFront('front')
  const link = front.link(openOwner())
  void front.poll(1, 1, DESCRIBED)
  await fleet.ctx.advance(1_000)
  await pushConfig(fleet.ctx.fleet, instanceOf(1)!.workload!.id, configYaml(1))
  link.hold()
  const poll = front.poll(1, 2)
  await answered()
  // The front stands still: its timers are late, and what has arrived meanwhile is read first.
  fleet.ctx.clock.advance(2_500)
  link.deliver()
  expect((await poll)?.remoteConfig).toBeUndefined()
  await fleet.ctx.advance(1_000)
  const next = front.poll(1, 3)
  await answered()
  expect((await next)?.remoteConfig).toBeDefined()
})

it('a poller that falls silent is no loss under a config that has not reached it', async () => {
  const front = openFront('front', { texts: { at: () => null, find: async () => null } })
  front.link(openOwner())
  const described = front.poll(1, 1, DESCRIBED)
  await answered()
  await described
  const { workload } = instanceOf(1)!
  await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
  const poll = front.poll(1, 2)
  await answered()
  expect((await poll)?.remoteConfig).toBeUndefined()
  while (instanceOf(1)?.connection != null) await fleet.ctx.advance(10_000)
  expect([...workload!.active!.targets.values()].map(({ losses }) => losses)).toEqual([0])
})

it('a full state after a gap is taken for one, though the config in it does not cross the link', async () => {
  const { front, poll, read } = openReadingFront()
  read()
  front.link(openOwner())
  await poll(FULL)
  const full = front.poll(1, 9, { ...FULL, capabilities: 0x1007 })
  await fleet.ctx.advance(1_000)
  expect((await full)?.reportFullState).toBeUndefined()
})

it('polls count as passed on', async () => {
  const front = openFront('front')
  front.link(openOwner())
  for (let n = 1; n <= 3; n++) void front.poll(1, n, DESCRIBED)
  expect(front.agents.counts.forwarded).toBe(3)
})

it('agents count as told again where there is a new owner, and not where there is a new link to the same', async () => {
  const front = openFront('front')
  const owner = openOwner()
  front.say(1, 1, 1, DESCRIBED)
  front.link(owner).break()
  front.say(2, 2, 1, DESCRIBED)
  const link = front.link(owner)
  await fleet.ctx.advance(1_000)
  expect(front.agents.counts.replayed).toBe(0)
  link.break()
  front.link(await fleet.takeOver(2))
  await fleet.ctx.advance(1_000)
  expect(front.agents.counts.replayed).toBe(2)
})
