import { describe, expect, it } from 'vitest'
import { type FrontLink, type LinkedFront, uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// An offer is under way when a link ends, or a process dies at either end of it: no agent waits for it until the two
// minutes are over after which an offer without an answer is repeated.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet

/** The promise is eight seconds, of which these fleets have only what follows once somebody owns. */
const SOON_MS = 3_000
const APPLIED = 1
const APPLYING = 2
const FAILED = 3
const saying = (status: number, hash: string): PlainMessage => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status },
})
const NONE = '00'.repeat(32)
const DESCRIBED: PlainMessage = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  ...saying(APPLIED, NONE),
}
const offered = ({ told }: LinkedFront): string[] =>
  told.flatMap(({ uid, message: { remoteConfig } }) =>
    remoteConfig === undefined || uid !== uidOf(1) ? [] : [Buffer.from(remoteConfig.hash).toString('hex')],
  )

/** A front whose agent was offered a config that lies on the link, which ends before it arrives. */
async function loseOffer(): Promise<{ front: LinkedFront; link: FrontLink; hash: string }> {
  const front = openFront('front')
  const link = front.link(openOwner())
  front.say(1, 1, 1, DESCRIBED)
  await fleet.ctx.advance(1_000)
  link.hold()
  const { hash } = await pushConfig(fleet.ctx.fleet, instanceOf(1)!.workload!.id, configYaml(1))
  await fleet.ctx.advance(500)
  link.break()
  expect(offered(front)).toEqual([])
  return { front, link, hash }
}

describe('an offer that was lost on a link', () => {
  it('is made again over the next link of that front', async () => {
    const { front, hash } = await loseOffer()
    front.link(openOwner())
    await fleet.ctx.advance(SOON_MS)
    expect(offered(front)).toEqual([hash])
  })

  it('is made by another owner, which has its row alone', async () => {
    const { front, hash } = await loseOffer()
    front.link(await takeOver(2))
    await fleet.ctx.advance(SOON_MS)
    expect(offered(front)).toEqual([hash])
  })

  it.each([
    ['the same owner', async () => openOwner()],
    ['another owner', () => takeOver(2)],
  ])('is made by %s at the front to which the agent went as its own died', async (_who, owner) => {
    const { hash } = await loseOffer()
    const other = openFront('other')
    // It says nothing but that it is there, and all of it when it is asked.
    other.say(1, 1, 2)
    other.link(await owner())
    await fleet.ctx.advance(500)
    other.say(1, 1, 3, DESCRIBED)
    await fleet.ctx.advance(SOON_MS)
    expect(offered(other)).toEqual([hash])
  })
})

describe('an offer that has arrived before the link ended', () => {
  it('is not made again where the agent has begun with it', async () => {
    const front = openFront('front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(1_000)
    const { hash } = await pushConfig(fleet.ctx.fleet, instanceOf(1)!.workload!.id, configYaml(1))
    await fleet.ctx.advance(500)
    expect(offered(front)).toEqual([hash])
    link.losing()
    front.say(1, 1, 2, saying(APPLYING, hash))
    link.break()
    front.link(await takeOver(2))
    await fleet.ctx.advance(SOON_MS)
    front.say(1, 1, 3, saying(APPLIED, hash))
    await fleet.ctx.advance(SOON_MS)
    expect(offered(front)).toEqual([hash])
    expect(instanceOf(1)!.workload!.active!.push.status).toBe('applied')
  })
})

/** Agents that say this are of one workload. */
const OF_ONE: PlainMessage = {
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': 'edge',
      'k8s.namespace.name': 'ns',
      'k8s.deployment.name': 'edge',
    }),
  },
  ...saying(APPLIED, NONE),
}

describe('an offer that waits on the way to a front', () => {
  it.each(['goes on', 'is replaced'])(
    'counts for no loss of an agent whose socket ended before it arrived, and the link %s',
    async (how) => {
      const [owner, front, other] = [openOwner(), openFront('front'), openFront('other')]
      const agents = [1, 2, 3]
      const link = front.link(owner)
      other.link(owner)
      for (const n of agents) front.say(n, n, 1, OF_ONE)
      await fleet.ctx.advance(1_000)
      const { workload } = instanceOf(1)!
      link.hold()
      await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
      await fleet.ctx.advance(500)
      if (how === 'is replaced') link.losing()
      for (const n of agents) front.close(n)
      await fleet.ctx.advance(500)
      if (how === 'is replaced') link.break()
      if (how === 'is replaced') front.link(owner)
      else link.deliver()
      await fleet.ctx.advance(500)
      for (const n of agents) other.say(n, n, 2, OF_ONE)
      await fleet.ctx.advance(SOON_MS)
      const { push, targets } = workload!.active!
      expect(offered(front)).toEqual([])
      expect([...targets.values()].map(({ losses }) => losses)).toEqual([0, 0, 0])
      expect(push.status).toBe('pending')
      expect(offered(other)).toEqual([push.hash])
    },
  )
})

/**
 * An agent that the config ends each time it gets it, after so long. As long as `cuts` says, the link ends with it, and
 * with the word that the offer had left; then it is back over another link.
 */
async function crashOver(cuts: (round: number) => boolean, afterMs: number) {
  const [front, owner] = [openFront('front'), openOwner()]
  let link = front.link(owner)
  front.say(1, 1, 1, OF_ONE)
  await fleet.ctx.advance(1_000)
  const { workload } = instanceOf(1)!
  await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
  const followed = workload!.active!
  const target = followed.targets.get(uidOf(1))!
  const isOver = () => followed.push.status !== 'pending' || target.state === 'straggler'
  let round = 1
  for (; !isOver() && round < 100; round++) {
    if (cuts(round)) link.losing()
    await fleet.ctx.advance(1_000)
    fleet.ctx.timers.advance(afterMs)
    front.close(round)
    if (cuts(round)) {
      link.break()
      link = front.link(owner)
    }
    await fleet.ctx.advance(500)
    front.say(round + 1, 1, 1, OF_ONE)
  }
  return { rounds: round - 1, offers: offered(front).length, status: followed.push.status, target }
}

describe('an agent that a config ends, and with it the link before the owner hears that the config had left', () => {
  it('is no loss as long as that lasts, and fails after three losses from then on', async () => {
    const ended = await crashOver((round) => round <= 3, 0)
    expect(ended).toMatchObject({ rounds: 6, offers: 6, status: 'failed', target: { losses: 3 } })
  })

  it('is waited for no longer after some minutes where that never stops', async () => {
    const ended = await crashOver(() => true, 30_000)
    expect(ended).toMatchObject({ target: { state: 'straggler', losses: 0 } })
    expect(ended.offers).toBeGreaterThanOrEqual(ended.rounds - 1)
  })
})

it('an agent whose link is cut amid a roll-back gets its former config once it comes to run the other', async () => {
  const [owner, front, other] = [openOwner(), openFront('front'), openFront('other')]
  const link = front.link(owner)
  other.link(owner)
  front.say(1, 1, 1, OF_ONE)
  other.say(2, 2, 1, OF_ONE)
  await fleet.ctx.advance(1_000)
  const { workload } = instanceOf(1)!
  const former = await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
  await fleet.ctx.advance(500)
  front.say(1, 1, 2, saying(APPLIED, former.hash))
  other.say(2, 2, 2, saying(APPLIED, former.hash))
  await fleet.ctx.advance(1_000)
  const { hash } = await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(2))
  await fleet.ctx.advance(500)
  expect(offered(front)).toEqual([former.hash, hash])
  link.hold()
  other.say(2, 2, 3, saying(FAILED, hash))
  await fleet.ctx.advance(1_000)
  expect(workload!.activeHash).toBe(former.hash)
  link.break()
  await fleet.ctx.advance(200)
  front.link(owner)
  await fleet.ctx.advance(1_000)
  front.say(1, 1, 3, saying(APPLIED, hash))
  await fleet.ctx.advance(SOON_MS)
  expect(offered(front).at(-1)).toBe(former.hash)
})

describe('an offer that came too late for the poll of an agent that reports no config', () => {
  /** It says nothing of its remote config. */
  const UNREPORTING: PlainMessage = { ...DESCRIBED, capabilities: 0x3 }

  it('is made again, although it has polled since, where the word of it is lost with the link', async () => {
    const [front, owner] = [openFront('front'), openOwner()]
    const link = front.link(owner)
    const poll = async (sequenceNum: number, more: PlainMessage = { capabilities: 0x3 }) => {
      const answer = front.poll(1, sequenceNum, more)
      await fleet.ctx.advance(300)
      await fleet.ctx.advance(800)
      return (await answer)?.remoteConfig
    }
    await poll(1, UNREPORTING)
    const { hash } = await pushConfig(fleet.ctx.fleet, instanceOf(1)!.workload!.id, configYaml(1))
    link.hold()
    expect(await poll(2)).toBeUndefined()
    expect(await poll(3)).toBeUndefined()
    link.losing()
    link.deliver()
    link.break()
    front.link(owner)
    expect(Buffer.from((await poll(4))?.hash ?? '').toString('hex')).toBe(hash)
    expect(await poll(5)).toBeUndefined()
  })
})
