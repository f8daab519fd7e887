import { expect, it } from 'vitest'
import { UNCONFIRMED_MAX } from '../../../lib/links/front-agents.ts'
import { useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// A front answers the beats of an agent by itself while what the agent said before still waits there to be told: the owner
// is told of the beats first (`seen`), and then takes the agent for heard of since.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner } = fleet
const described = (name: string) => ({
  agentDescription: {
    identifyingAttributes: keyValues({
      'service.name': name,
      'k8s.namespace.name': 'x',
      'k8s.deployment.name': name,
    }),
  },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
})
const statusOf = (hash: string, status: number) => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status },
})

it('what an agent failed counts though a beat from before it is told of later', async () => {
  const owner = openOwner()
  const front = openFront('a front')
  const link = front.link(owner)
  front.say(1, 1, 1, described('edge'))
  front.say(3, 2, 1, described('edge'))
  await fleet.ctx.advance(2_000)
  const { id } = instanceOf(1)!.workload!
  const workload = () => fleet.ctx.fleet.workload(id)!
  const before = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await fleet.ctx.advance(1_000)
  front.say(1, 1, 2, statusOf(before.hash, 1))
  front.say(3, 2, 2, statusOf(before.hash, 1))
  await fleet.ctx.advance(1_000)
  front.say(1, 1, 3, { health: { healthy: true } })
  await fleet.ctx.advance(1_000)
  const push = await pushConfig(fleet.ctx.fleet, id, configYaml(2))
  await fleet.ctx.advance(1_000)
  front.say(3, 2, 3, statusOf(push.hash, 1))
  await fleet.ctx.advance(1_000)
  // Half a second before the front tells of beats.
  const tellings = () => link.said.filter(([kind]) => kind === 'seen').length
  for (const told = tellings(); tellings() === told; ) await fleet.ctx.advance(500)
  await fleet.ctx.advance(4_500)
  front.say(1, 1, 4)
  expect(front.agents.counts.absorbed).toBe(1)
  // For a second more agents speak than may wait for an answer.
  link.hold()
  for (let n = 10; n < 10 + UNCONFIRMED_MAX; n++) front.say(n, n, 1, described('other'))
  front.say(1, 1, 5, statusOf(push.hash, 3))
  await fleet.ctx.advance(1_000)
  front.close(1)
  link.deliver()
  await fleet.ctx.advance(3_000)
  expect(workload().newestPush!.kind).toBe('auto-rollback')
})
