import { expect, it } from 'vitest'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// A member of a stage that applies the config, and vanishes right after, counts against the stage; also where both came to
// pass while there was no owner.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet
const described = (n: number) => ({
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': 'edge',
      'k8s.namespace.name': 'x',
      'k8s.deployment.name': 'edge',
      'k8s.pod.name': `p${n}`,
    }),
  },
  health: { healthy: true },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
})

it.each([
  ['the same owner', 'not heard'],
  ['another owner', 'heard'],
  ['another owner', 'not heard'],
] as const)('told to %s, where the former one had %s that it had applied it', async (whom, heard) => {
  const owner = openOwner()
  const front = openFront('a front')
  const link = front.link(owner)
  for (const n of [1, 2, 3, 4]) front.say(n, n, 1, described(n))
  await fleet.ctx.advance(100)
  const { id } = instanceOf(1)!.workload!
  const workload = () => fleet.ctx.fleet.workload(id)!
  const push = await pushConfig(fleet.ctx.fleet, id, configYaml(1), () => {}, [
    { count: 2, dwellMs: 300_000, gates: ['no_failure', 'health'] },
    { percentage: 100, dwellMs: 0, gates: ['no_failure', 'health'] },
  ])
  await fleet.ctx.advance(2_000)
  const [dying, living] = [1, 2, 3, 4].filter((n) => instanceOf(n)!.offer?.hash === push.hash)
  const status = {
    remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(push.hash, 'hex'), status: 1 },
    health: { healthy: true },
  }
  front.say(living!, living!, 2, status)
  await fleet.ctx.advance(2_000)
  if (heard === 'not heard') link.break()
  front.say(dying!, dying!, 2, status)
  await fleet.ctx.advance(1_000)
  if (heard === 'heard') link.break()
  front.close(dying!)
  await fleet.ctx.advance(2_000)
  front.link(whom === 'the same owner' ? owner : await takeOver(2))
  await fleet.ctx.advance(12_000)
  expect(workload().rollout!.followed.targets.get(uidOf(dying!))!.state).toBe('applied')
  await fleet.ctx.advance(500_000)
  const { status: now, halt, stageIndex } = workload().rollout!.stored
  expect({ now, gate: halt?.gate, stageIndex }).toEqual({ now: 'halted', gate: 'health', stageIndex: 0 })
})

it.each([
  ['before', 5_000],
  ['before', 70_000],
  ['after', 50_000],
  ['after', 70_000],
] as const)(
  'told to another owner, where that was %s this began, by a front that is %d ms late',
  async (when, ms) => {
    const owner = openOwner()
    const [front, other] = [openFront('a front'), openFront('another')]
    const [link, otherLink] = [front.link(owner), other.link(owner)]
    front.say(1, 1, 1, described(1))
    for (const n of [2, 3, 4]) other.say(n, n, 1, described(n))
    await fleet.ctx.advance(100)
    const { id } = instanceOf(1)!.workload!
    const workload = () => fleet.ctx.fleet.workload(id)!
    const push = await pushConfig(fleet.ctx.fleet, id, configYaml(1), () => {}, [
      { count: 2, dwellMs: 300_000, gates: ['no_failure', 'health'] },
      { percentage: 100, dwellMs: 0, gates: ['no_failure', 'health'] },
    ])
    await fleet.ctx.advance(2_000)
    const living = [2, 3, 4].find((n) => instanceOf(n)!.offer?.hash === push.hash)!
    expect(instanceOf(1)!.offer?.hash).toBe(push.hash)
    const status = {
      remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(push.hash, 'hex'), status: 1 },
      health: { healthy: true },
    }
    other.say(living, living, 2, status)
    await fleet.ctx.advance(2_000)
    link.break()
    const applies = async () => {
      front.say(1, 1, 2, status)
      await fleet.ctx.advance(1_000)
      front.close(1)
      await fleet.ctx.advance(2_000)
    }
    if (when === 'before') await applies()
    otherLink.break()
    const next = await takeOver(2)
    other.link(next)
    await fleet.ctx.advance(ms)
    if (when === 'after') await applies()
    front.link(next)
    await fleet.ctx.advance(12_000)
    expect(workload().rollout!.followed.targets.get(uidOf(1))!.state).toBe('applied')
    await fleet.ctx.advance(500_000)
    const { status: now, halt, stageIndex } = workload().rollout!.stored
    expect({ now, gate: halt?.gate, stageIndex }).toEqual({ now: 'halted', gate: 'health', stageIndex: 0 })
  },
)
