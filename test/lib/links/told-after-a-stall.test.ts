import { expect, it } from 'vitest'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// A front keeps what its agents say while its owner stands still, and tells it with how long ago it was said. That is so
// long by the machine's clock: the owner's time in which agents can be heard stood still for most of it.

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner } = fleet
const DESCRIBED: PlainMessage = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}

/** Let the owner stand still for so long, or let the time pass as ever. */
async function pass(ms: number, isStill: boolean): Promise<void> {
  if (isStill) fleet.ctx.timers.standStill(ms)
  else await fleet.ctx.advance(ms)
}

it.each([false, true])(
  'a poller that said goodbye has left, where the owner stood still: %s',
  async (isStill) => {
    const { ctx } = fleet
    const [owner, front] = [openOwner(), openFront('front')]
    const link = front.link(owner)
    void front.poll(1, 1, DESCRIBED)
    await ctx.advance(500)
    const { workload } = instanceOf(1)!
    await pushConfig(ctx.fleet, workload!.id, configYaml(1))
    await ctx.advance(2_000)
    void front.poll(1, 2)
    await ctx.advance(2_000)
    link.losing()
    await pass(8_000, isStill)
    void front.poll(1, 3, { agentDisconnect: {} })
    await pass(10_000, isStill)
    await ctx.advance(100)
    link.break()
    front.link(owner)
    await ctx.advance(3_000)
    expect(instanceOf(1)!.hasDeparted).toBe(true)
    const { state, losses } = workload!.active!.targets.get(uidOf(1))!
    expect([state, losses]).toEqual(['gone', 0])
  },
)

it.each([false, true])('an agent is where it went to, where the owner stood still: %s', async (isStill) => {
  const [owner, former, present] = [openOwner(), openFront('former'), openFront('present')]
  former.link(owner)
  const link = present.link(owner)
  former.say(1, 1, 1, DESCRIBED)
  former.say(1, 1, 2)
  await fleet.ctx.advance(1_000)
  link.losing()
  await pass(8_000, isStill)
  // Its former front is gone without a word.
  present.say(7, 1, 3, DESCRIBED)
  await pass(10_000, isStill)
  await fleet.ctx.advance(100)
  link.break()
  present.link(owner)
  await fleet.ctx.advance(1_000)
  expect(instanceOf(1)!.connection?.place).toBe('present/7')
})
