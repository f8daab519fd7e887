import { expect, it } from 'vitest'
import {
  APPLYING,
  applyingAgent,
  described,
  FAILED,
  GOODBYE,
  statusOf,
} from '../../support/applying-agent.ts'
import { useLinkedFleet } from '../../support/linked-fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, takeOver } = fleet

// A goodbye that is not believed takes what it says of the config with it, where the same last word without a goodbye counts.
it.each([
  ['its socket ends', 'was never gone'],
  ['it says goodbye', 'was never gone'],
  ['its socket ends', 'had said goodbye before'],
  ['it says goodbye', 'had said goodbye before'],
] as const)(
  'the new process of an agent fails the config at a front that is cut off, and %s; at the other it %s',
  async (how, before) => {
    const { owner, front, other, otherLink, say, workload, hash } = await applyingAgent(fleet, 'on a socket')
    // It has not answered yet, so that the push is open.
    front.say(8, 3, 1, described('edge'))
    await fleet.ctx.advance(1_000)
    otherLink.break()
    if (before === 'had said goodbye before') {
      say(GOODBYE)
      await fleet.ctx.advance(1_000)
      expect(instanceOf(1)).toMatchObject({ hasDeparted: true })
    }
    // A new process, which counts from the beginning.
    other.say(5, 1, 1, described('edge'))
    other.say(5, 1, 2, statusOf(hash, FAILED))
    await fleet.ctx.advance(500)
    if (how === 'it says goodbye') other.say(5, 1, 3, GOODBYE)
    other.close(5)
    await fleet.ctx.advance(2_000)
    other.link(owner)
    await fleet.ctx.advance(5_000)
    expect(workload().newestPush!.kind).toBe('auto-rollback')
  },
)

// Of two sockets of one agent at one front, the former one ends last, as nobody noticed that it was dead.
it.each(['before', 'after'] as const)(
  'what an agent failed on its newer socket counts where its former one ends %s that',
  async (when) => {
    const { front, link, say, workload, hash } = await applyingAgent(fleet, 'on a socket')
    link.break()
    say(statusOf(hash, APPLYING))
    await fleet.ctx.advance(1_000)
    if (when === 'before') front.close(1)
    front.say(5, 1, 1, described('edge'))
    front.say(5, 1, 2, statusOf(hash, FAILED))
    await fleet.ctx.advance(500)
    front.close(5)
    await fleet.ctx.advance(500)
    if (when === 'after') front.close(1)
    await fleet.ctx.advance(500)
    front.link(await takeOver(2))
    await fleet.ctx.advance(15_000)
    expect(workload().newestPush!.kind).toBe('auto-rollback')
  },
)
