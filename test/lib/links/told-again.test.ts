import { describe, expect, it } from 'vitest'
import { UNCONFIRMED_MAX } from '../../../lib/links/front-agents.ts'
import { type LinkedFront, uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// A goodbye is told again until it is stored, and ends nothing of an agent that has come back meanwhile.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet

const DESCRIBED = {
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': 'edge',
      'k8s.namespace.name': 'x',
      'k8s.deployment.name': 'd',
    }),
  },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}
const GOODBYE = { agentDisconnect: {} }
const [APPLIED, APPLYING, FAILED] = [1, 2, 3]
const statusOf = (hash: string, status: number) => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status },
})
const goodbyesOn = (said: readonly (readonly unknown[])[]) => said.filter(([kind]) => kind === 'goodbye')

describe('a goodbye that the owner has answered', () => {
  it.each([3_000, 9_000, 30_000])(
    'is told to the next owner after %i ms where the first vanished before it stored it',
    async (ms) => {
      const front = openFront('a front')
      const link = front.link(openOwner())
      front.say(1, 1, 1, DESCRIBED)
      await fleet.ctx.advance(2_000)
      front.say(1, 1, 2, GOODBYE)
      front.close(1)
      fleet.ctx.timers.advance(20)
      link.break()
      fleet.ctx.timers.advance(ms)
      expect(goodbyesOn(front.link(openOwner(2)).said)).toHaveLength(1)
    },
  )

  it('is told no more once it is stored, and what waits for the agent ends at the next owner', async () => {
    const front = openFront('a front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(2_000)
    front.say(1, 1, 2, GOODBYE)
    front.close(1)
    await fleet.ctx.advance(500)
    await fleet.ctx.advance(1)
    link.break()
    expect(goodbyesOn(front.link(await takeOver(2)).said)).toEqual([])
    expect(fleet.ctx.fleet.state.knownAtStart.size).toBe(0)
  })

  it('is not told to the next owner where the agent was back here, and lost', async () => {
    const front = openFront('a front')
    const link = front.link(openOwner())
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(2_000)
    front.say(1, 1, 2, GOODBYE)
    front.close(1)
    fleet.ctx.timers.advance(50)
    front.say(2, 1, 1, DESCRIBED)
    fleet.ctx.timers.advance(50)
    front.close(2)
    link.break()
    expect(goodbyesOn(front.link(await takeOver(2)).said)).toEqual([])
  })
})

/** How agent 1 speaks, at a front. */
const WAYS = {
  'on a socket': (front: LinkedFront, conn: number, sequenceNum: number, more: PlainMessage = {}) =>
    front.say(conn, 1, sequenceNum, more),
  'in polls': (front: LinkedFront, _: number, sequenceNum: number, more: PlainMessage = {}) =>
    void front.poll(1, sequenceNum, more),
}

describe.each(['on a socket', 'in polls'] as const)('an agent that is back %s after its goodbye', (way) => {
  const say = WAYS[way]

  it.each([
    ['the same front', 0, 'was stored'],
    ['another front', 1, 'was stored'],
    ['the same front', 0, 'was said while nobody decided'],
    ['another front', 1, 'was said while nobody decided'],
  ])('at %s is a target at the next owner, and what it fails counts (%#)', async (_, back, when) => {
    const owner = openOwner()
    const fronts = [openFront('front 1'), openFront('front 2')] as const
    const links = fronts.map((front) => front.link(owner))
    const [front] = fronts
    const second = fronts[back]!
    say(front, 1, 1, DESCRIBED)
    front.say(3, 2, 1, DESCRIBED)
    await fleet.ctx.advance(200)
    const { id } = instanceOf(1)!.workload!
    const before = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
    await fleet.ctx.advance(1_000)
    say(front, 1, 2, statusOf(before.hash, APPLIED!))
    front.say(3, 2, 2, statusOf(before.hash, APPLIED!))
    await fleet.ctx.advance(1_000)
    const restart = async (n: number) => {
      say(front, 1, n, GOODBYE)
      if (way === 'on a socket') front.close(1)
      await fleet.ctx.advance(500)
    }
    const isAway = when === 'was said while nobody decided'
    if (!isAway) {
      await restart(3)
      say(second, 2, 1, { ...DESCRIBED, ...statusOf(before.hash, APPLIED!) })
      await fleet.ctx.advance(500)
    }
    const push = await pushConfig(fleet.ctx.fleet, id, configYaml(2))
    await fleet.ctx.advance(300)
    const at = isAway ? front : second
    if (way === 'in polls') say(at, 2, isAway ? 3 : 2)
    await fleet.ctx.advance(300)
    front.say(3, 2, 3, statusOf(push.hash, isAway ? APPLYING! : APPLIED!))
    say(at, isAway ? 1 : 2, isAway ? 4 : 3, statusOf(push.hash, APPLYING!))
    await fleet.ctx.advance(500)
    for (const link of links) link.break()
    if (isAway) {
      await restart(5)
      front.say(3, 2, 4, statusOf(push.hash, APPLIED!))
      say(second, 2, 1, { ...DESCRIBED, ...statusOf(push.hash, APPLYING!) })
      await fleet.ctx.advance(500)
    }
    const next = await takeOver(2)
    front.link(next)
    fronts[1].link(next)
    if (way === 'in polls') say(second, 2, 8)
    await fleet.ctx.advance(1_000)
    say(second, 2, 9, statusOf(push.hash, FAILED!))
    await fleet.ctx.advance(2_000)
    expect(fleet.ctx.fleet.workload(id)!.newestPush!.kind).toBe('auto-rollback')
    expect(fleet.ctx.fleet.workload(id)!.quarantinedHashes).toContain(push.hash)
  })
})

it('what a goodbye said of a config is not counted for a later push of it', async () => {
  const front = openFront('a front')
  const link = front.link(openOwner())
  front.say(1, 1, 1, DESCRIBED)
  const { id } = instanceOf(1)!.workload!
  const settled = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await fleet.ctx.advance(1_000)
  front.say(1, 1, 2, statusOf(settled.hash, APPLIED!))
  await fleet.ctx.advance(1_000)
  const bad = await pushConfig(fleet.ctx.fleet, id, configYaml(2))
  await fleet.ctx.advance(1_000)
  front.say(1, 1, 3, { ...GOODBYE, ...statusOf(bad.hash, FAILED!) })
  front.close(1)
  await fleet.ctx.advance(500)
  front.say(2, 1, 1, DESCRIBED)
  await fleet.ctx.advance(1_000)
  await pushConfig(fleet.ctx.fleet, id, configYaml(2))
  await fleet.ctx.advance(500)
  link.break()
  front.link(await takeOver(2))
  await fleet.ctx.advance(12_000)
  expect(fleet.ctx.fleet.workload(id)!.active!.push.hash).toBe(bad.hash)
})

it('a goodbye beyond the limit of reports counts of an agent whose move to another socket was not told yet', async () => {
  const front = openFront('a front')
  const link = front.link(openOwner())
  front.say(1, 1, 1, DESCRIBED)
  const { workload } = instanceOf(1)!
  await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1))
  await fleet.ctx.advance(2_000)
  link.hold()
  for (let n = 10; n < 10 + UNCONFIRMED_MAX; n++) front.say(n, n, 1, DESCRIBED)
  // Its former socket seems open for a while.
  front.say(2, 1, 2, DESCRIBED)
  await fleet.ctx.advance(200)
  front.say(2, 1, 3, GOODBYE)
  front.close(2)
  await fleet.ctx.advance(200)
  link.deliver()
  await fleet.ctx.advance(1_000)
  front.close(1)
  await fleet.ctx.advance(1_000)
  const { losses } = workload!.active!.targets.get(uidOf(1))!
  expect({ departed: instanceOf(1)?.hasDeparted, losses }).toEqual({ departed: true, losses: 0 })
})
