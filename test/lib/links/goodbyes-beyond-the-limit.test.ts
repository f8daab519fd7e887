import { expect, it } from 'vitest'
import { UNCONFIRMED_MAX } from '../../../lib/links/front-agents.ts'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner } = fleet
const described = (name: string, n: number) => ({
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': name,
      'k8s.namespace.name': 'x',
      'k8s.deployment.name': name,
      'k8s.pod.name': `p${n}`,
    }),
  },
  health: { healthy: true },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
})

it.each([0, UNCONFIRMED_MAX])('a goodbye counts while %i reports wait for the owner', async (waiting) => {
  const [owner, front] = [openOwner(), openFront('a front')]
  const link = front.link(owner)
  for (const n of [1, 2, 3, 4]) front.say(n, n, 1, described('edge', n))
  const { workload } = instanceOf(1)!
  const push = await pushConfig(fleet.ctx.fleet, workload!.id, configYaml(1), () => {}, [
    { count: 3, dwellMs: 600_000, gates: ['no_failure', 'health'] },
    { percentage: 100, dwellMs: 0, gates: ['no_failure'] },
  ])
  await fleet.ctx.advance(2_000)
  const members = [1, 2, 3, 4].filter((n) => instanceOf(n)!.offer?.hash === push.hash)
  expect(members).toHaveLength(3)
  const status = { lastRemoteConfigHash: Buffer.from(push.hash, 'hex'), status: 1 }
  for (const n of members) front.say(n, n, 2, { remoteConfigStatus: status, health: { healthy: true } })
  await fleet.ctx.advance(2_000)
  const [, ...leaving] = members
  const { followed } = workload!.rollout!
  const targets = leaving.map((n) => followed.targets.get(uidOf(n))!)
  expect(targets.map((t) => t.state)).toEqual(['applied', 'applied'])
  link.hold()
  for (let n = 10; n < 10 + waiting; n++) front.say(n, n, 1, described('other', n))
  for (const n of leaving) {
    front.say(n, n, 3, { agentDisconnect: {} })
    front.close(n)
  }
  await fleet.ctx.advance(500)
  link.deliver()
  await fleet.ctx.advance(500)
  const departed = leaving.map((n) => instanceOf(n)?.hasDeparted)
  const losses = targets.map((t) => t.losses)
  await fleet.ctx.advance(130_000)
  const { status: now } = workload!.rollout!.stored
  expect({ departed, losses, now }).toEqual({ departed: [true, true], losses: [0, 0], now: 'running' })
})
