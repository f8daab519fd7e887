import { expect, it } from 'vitest'
import { nextTurn } from '../../../lib/turns.ts'
import { useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { openFront, openOwner, takeOver } = fleet
const DESCRIBED = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}
const AGENTS = 1_200

it('what a new owner has held back of many agents that left is taken in turns', async () => {
  const front = openFront('a front')
  const link = front.link(openOwner())
  const agents = Array.from({ length: AGENTS }, (_, index) => index + 1)
  for (const n of agents) front.say(1, n, 1, DESCRIBED)
  await fleet.ctx.advance(1_000)
  link.break()
  for (const n of agents) front.say(1, n, 2, { agentDisconnect: {} })
  front.link(await takeOver(2))
  await fleet.ctx.advance(9_500)
  const { instances } = fleet.ctx.fleet.state
  expect(instances.size).toBe(0)
  fleet.ctx.timers.advance(500)
  const seen = [instances.size]
  while (instances.size < AGENTS) {
    await nextTurn()
    seen.push(instances.size)
  }
  expect([...instances.values()].every(({ hasDeparted }) => hasDeparted)).toBe(true)
  expect(seen.filter((size) => size > 0 && size < AGENTS)).not.toEqual([])
})
