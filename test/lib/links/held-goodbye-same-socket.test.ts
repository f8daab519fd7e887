import { expect, it } from 'vitest'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// A goodbye that a new owner holds back for ten seconds takes nobody away who is back meanwhile: also not one that is back
// on the same socket, which a gateway keeps open for its other agents.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet
const DESCRIBED = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}

it('an agent behind a gateway that starts anew after its goodbye stays', async () => {
  const front = openFront('a front')
  const link = front.link(openOwner())
  front.say(7, 1, 1, DESCRIBED)
  front.say(7, 2, 1, DESCRIBED)
  await fleet.ctx.advance(2_000)
  link.break()
  front.say(7, 1, 2, { agentDisconnect: {} })
  const owner = await takeOver(2)
  front.link(owner)
  await fleet.ctx.advance(3_000)
  // A new process of it, on the same socket of the gateway.
  front.say(7, 1, 1, DESCRIBED)
  await fleet.ctx.advance(2_000)
  expect(instanceOf(1)!.connection).not.toBeNull()
  const { id } = instanceOf(1)!.workload!
  await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await fleet.ctx.advance(2_000)
  const target = () => fleet.ctx.fleet.workload(id)!.active!.targets.get(uidOf(1))!
  expect(target().state).toBe('offered')
  await fleet.ctx.advance(8_000)
  expect({
    isThere: instanceOf(1)?.connection != null,
    agents: front.agents.counts.agents,
    target: target().state,
  }).toEqual({ isThere: true, agents: 2, target: 'offered' })
})
