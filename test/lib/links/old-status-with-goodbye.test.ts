import { expect, it } from 'vitest'
import { UNCONFIRMED_MAX } from '../../../lib/links/front-agents.ts'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// §4: "a replayed old status is not news". What a front adds to a goodbye, or says as a last word, is what the agent said
// last of its config at any time on that socket; it is not what it said of the offer that it has now.

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
const GOODBYE = { agentDisconnect: {} }

/** Agents 1 and 2 failed the only config there ever was; an operator pushes it again, and both are offered it. */
async function pushedAgain() {
  const owner = openOwner()
  const front = openFront('a front')
  const link = front.link(owner)
  front.say(1, 1, 1, described('edge'))
  front.say(2, 2, 1, described('edge'))
  await fleet.ctx.advance(100)
  const { id } = instanceOf(1)!.workload!
  const first = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await fleet.ctx.advance(2_000)
  front.say(1, 1, 2, statusOf(first.hash, 3))
  front.say(2, 2, 2, statusOf(first.hash, 3))
  await fleet.ctx.advance(3_000)
  const workload = () => fleet.ctx.fleet.workload(id)!
  expect(workload().newestPush).toMatchObject({ pushId: first.pushId, status: 'failed' })
  const again = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await fleet.ctx.advance(2_000)
  expect(instanceOf(1)!.offer).toMatchObject({ pushId: again.pushId, hasLeft: true })
  return { owner, front, link, workload, again }
}

async function settle(front: ReturnType<typeof openFront>, hash: string) {
  await fleet.ctx.advance(1_000)
  front.say(2, 2, 3, statusOf(hash, 1))
  await fleet.ctx.advance(3_000)
}

it('an agent says that it stops, and goodbye, before the owner has answered the first', async () => {
  const { front, link, workload, again } = await pushedAgain()
  // The owner's answers take a few milliseconds.
  link.hold()
  front.say(1, 1, 3, { health: { healthy: true, status: 'StatusStopping' } })
  front.say(1, 1, 4, GOODBYE)
  front.close(1)
  link.deliver()
  await settle(front, again.hash)
  expect(workload().active!.targets.get(uidOf(1))!.state).toBe('gone')
  expect(workload().newestPush).toMatchObject({ pushId: again.pushId, status: 'applied' })
})

it('control: the same where the owner has answered', async () => {
  const { front, workload, again } = await pushedAgain()
  front.say(1, 1, 3, { health: { healthy: true, status: 'StatusStopping' } })
  await fleet.ctx.advance(100)
  front.say(1, 1, 4, GOODBYE)
  front.close(1)
  await settle(front, again.hash)
  expect(workload().active!.targets.get(uidOf(1))!.state).toBe('gone')
  expect(workload().newestPush).toMatchObject({ pushId: again.pushId, status: 'applied' })
})

it('an agent says how healthy it is, and its socket ends, while too many reports wait', async () => {
  const { front, link, workload, again } = await pushedAgain()
  link.hold()
  for (let n = 10; n < 10 + UNCONFIRMED_MAX; n++) front.say(n, n, 1, described('other'))
  front.say(1, 1, 3, { health: { healthy: true } })
  await fleet.ctx.advance(100)
  front.close(1)
  link.deliver()
  await settle(front, again.hash)
  expect(workload().newestPush).toMatchObject({ pushId: again.pushId, status: 'pending' })
  expect(workload().active!.targets.get(uidOf(1))!.state).not.toBe('failed')
})

it.each(['within', 'beyond'])(
  'an agent says all that it is, and goodbye, %s the limit of reports that wait',
  async (limit) => {
    const { front, link, workload, again } = await pushedAgain()
    link.hold()
    if (limit === 'beyond')
      for (let n = 10; n < 10 + UNCONFIRMED_MAX; n++) front.say(n, n, 1, described('other'))
    front.say(1, 1, 3, { ...described('edge'), ...statusOf(again.hash, 3) })
    await fleet.ctx.advance(10)
    front.say(1, 1, 4, GOODBYE)
    front.close(1)
    link.deliver()
    await settle(front, again.hash)
    expect(workload().active!.targets.get(uidOf(1))!.state).toBe('gone')
    expect(workload().newestPush).toMatchObject({ pushId: again.pushId, status: 'applied' })
  },
)
