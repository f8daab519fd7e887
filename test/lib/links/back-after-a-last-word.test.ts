import { expect, it } from 'vitest'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// fronts.md: a front "replays it to a new owner: agents notice nothing, and those that never answer a request are placed
// all the same". Also those whose socket had ended while there was no owner, and that are back since.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet
const DESCRIBED = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}

const HEALTH = { health: { healthy: true } }
const STATUS = { remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32, 7), status: 1 } }

it.each([
  ['how healthy it is', 'the same front', HEALTH],
  ['how healthy it is', 'another front', HEALTH],
  ['what it runs', 'the same front', STATUS],
  ['what it runs', 'another front', STATUS],
] as const)(
  'an agent that said %s, whose socket ended, and that is back at %s, is known to the next owner',
  async (_, where, said) => {
    const owner = openOwner()
    const [front, other] = [openFront('a front'), openFront('another')]
    const [link, otherLink] = [front.link(owner), other.link(owner)]
    front.say(1, 1, 1, DESCRIBED)
    await fleet.ctx.advance(2_000)
    // The owner is gone. The agent says something, loses its socket, and connects again.
    link.break()
    otherLink.break()
    front.say(1, 1, 2, said)
    front.close(1)
    const back = where === 'the same front' ? front : other
    back.say(5, 1, 1, DESCRIBED)
    await fleet.ctx.advance(3_000)
    const next = await takeOver(2)
    front.link(next)
    other.link(next)
    await fleet.ctx.advance(2_000)
    const { active } = fleet.ctx.fleet.workload([...fleet.ctx.fleet.state.workloads.keys()][0]!)!
    expect(active).toBeNull()
    // It says nothing more of itself for as long as it likes.
    await fleet.ctx.advance(150_000)
    expect({
      isThere: instanceOf(1)?.connection != null,
      atFront: back.agents.counts.agents,
      status: [...fleet.ctx.fleet.state.workloads.values()].map(({ status }) => status),
    }).toEqual({ isThere: true, atFront: 1, status: ['connected'] })
  },
)

it('control: the same where it had said nothing that the owner did not answer', async () => {
  const front = openFront('a front')
  const link = front.link(openOwner())
  front.say(1, 1, 1, DESCRIBED)
  await fleet.ctx.advance(2_000)
  link.break()
  front.close(1)
  front.say(5, 1, 1, DESCRIBED)
  await fleet.ctx.advance(3_000)
  front.link(await takeOver(2))
  await fleet.ctx.advance(150_000)
  expect(instanceOf(1)?.connection?.place).toBe('a front/5')
})

it('a push counts on such an agent', async () => {
  const front = openFront('a front')
  const link = front.link(openOwner())
  front.say(1, 1, 1, DESCRIBED)
  front.say(2, 2, 1, DESCRIBED)
  await fleet.ctx.advance(2_000)
  const { id } = instanceOf(1)!.workload!
  const push = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await fleet.ctx.advance(2_000)
  link.break()
  front.say(1, 1, 2, { health: { healthy: true } })
  front.close(1)
  front.say(5, 1, 1, DESCRIBED)
  await fleet.ctx.advance(3_000)
  front.link(await takeOver(2))
  await fleet.ctx.advance(2_000)
  front.say(2, 2, 2, {
    remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(push.hash, 'hex'), status: 1 },
  })
  await fleet.ctx.advance(150_000)
  const { active } = fleet.ctx.fleet.workload(id)!
  // It is connected, and was never told of the config: the push cannot be done with it as gone.
  expect(active!.targets.get(uidOf(1))!.state).not.toBe('gone')
})
