import { describe, expect, it } from 'vitest'
import {
  APPLIED,
  APPLYING,
  applyingAgent,
  described,
  FAILED,
  GOODBYE,
  statusOf,
} from '../../support/applying-agent.ts'
import { takeAway } from '../../support/away-database.ts'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, takeOver } = fleet
const applying = (how: 'on a socket' | 'in polls') => applyingAgent(fleet, how)

it('a goodbye of a poller counts at a new owner though it said something of its config right before', async () => {
  const { front, link, say, workload, hash } = await applying('in polls')
  link.break()
  say(statusOf(hash, APPLIED))
  await fleet.ctx.advance(1_000)
  say(GOODBYE)
  await fleet.ctx.advance(1_500)
  front.link(await takeOver(2))
  await fleet.ctx.advance(13_000)
  expect(workload().active!.targets.get(uidOf(1))!.state).toBe('applied')
  expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
})

it('control: without that it counts', async () => {
  const { front, link, say } = await applying('in polls')
  link.break()
  say(GOODBYE)
  await fleet.ctx.advance(1_500)
  front.link(await takeOver(2))
  await fleet.ctx.advance(13_000)
  expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
})

it('of what a poller said at two fronts, a new owner counts what it said last', async () => {
  const { front, other, link, otherLink, say, workload, hash } = await applying('in polls')
  link.break()
  otherLink.break()
  say(statusOf(hash, APPLYING))
  await fleet.ctx.advance(1_000)
  say(statusOf(hash, FAILED), other)
  await fleet.ctx.advance(1_500)
  const owner = await takeOver(2)
  front.link(owner)
  other.link(owner)
  await fleet.ctx.advance(13_000)
  expect(workload().newestPush!.kind).toBe('auto-rollback')
})

it.each([
  ['after the word was taken', 12_000, 'another one is open'],
  ['while the word waits', 3_000, 'another one is open'],
  ['after the word was taken', 12_000, 'all others have applied it'],
  ['while the word waits', 3_000, 'all others have applied it'],
] as const)(
  'what a poller failed without an owner counts though it says goodbye to the new one %s (%d ms); %s',
  async (_, ms, others) => {
    const { front, other, link, otherLink, say, workload, hash } = await applying('in polls')
    if (others === 'another one is open') other.say(8, 3, 1, described('edge'))
    await fleet.ctx.advance(1_000)
    link.break()
    otherLink.break()
    say(statusOf(hash, FAILED))
    await fleet.ctx.advance(1_500)
    const owner = await takeOver(2)
    front.link(owner)
    other.link(owner)
    await fleet.ctx.advance(ms)
    say(GOODBYE)
    await fleet.ctx.advance(15_000)
    expect(workload().newestPush!.kind).toBe('auto-rollback')
  },
)

it('of what a poller said at two fronts, what it said last counts though it says goodbye to the new owner meanwhile', async () => {
  const { front, other, link, otherLink, say, workload, hash } = await applying('in polls')
  other.say(8, 3, 1, described('edge'))
  await fleet.ctx.advance(1_000)
  link.break()
  otherLink.break()
  say(statusOf(hash, FAILED))
  await fleet.ctx.advance(1_500)
  say(statusOf(hash, APPLIED), other)
  await fleet.ctx.advance(1_500)
  const owner = await takeOver(2)
  other.link(owner)
  front.link(owner)
  await fleet.ctx.advance(3_000)
  say(GOODBYE)
  await fleet.ctx.advance(15_000)
  expect(workload().active!.targets.get(uidOf(1))!.state).toBe('applied')
  expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
})

it.each([
  ['in time', 1_000],
  ['after twelve seconds', 12_000],
] as const)(
  'what a poller failed at a front that finds the owner %s counts though it said goodbye at another one',
  async (_, ms) => {
    const { front, other, link, otherLink, say, workload, hash } = await applying('in polls')
    other.say(8, 3, 1, described('edge'))
    await fleet.ctx.advance(1_000)
    link.break()
    otherLink.break()
    say(statusOf(hash, FAILED))
    await fleet.ctx.advance(1_500)
    say(GOODBYE, other)
    await fleet.ctx.advance(1_500)
    const owner = await takeOver(2)
    other.link(owner)
    await fleet.ctx.advance(ms)
    front.link(owner)
    await fleet.ctx.advance(15_000)
    expect(workload().newestPush!.kind).toBe('auto-rollback')
  },
)

it.each(['stays', 'dies five seconds later'])(
  'what a front told a new owner counts though the front %s',
  async (what) => {
    const { front, other, link, otherLink, say, workload, hash } = await applying('on a socket')
    link.break()
    otherLink.break()
    say(statusOf(hash, FAILED))
    front.close(1)
    await fleet.ctx.advance(1_500)
    const owner = await takeOver(2)
    other.link(owner)
    const next = front.link(owner)
    await fleet.ctx.advance(5_000)
    if (what !== 'stays') next.break()
    await fleet.ctx.advance(15_000)
    expect(workload().newestPush!.kind).toBe('auto-rollback')
  },
)

it.each([
  ['a last word', 'is there', 200_000],
  ['a last word', 'has left', 200_000],
  ['a goodbye', 'has left', 200_000],
  ['a goodbye', 'has left', 3_600_000],
] as const)(
  'what an agent failed, in %s, before it applied it elsewhere fails nothing at a new owner, where it %s (%d ms later)',
  async (what, where, ms) => {
    const { front, other, link, otherLink, say, workload, hash } = await applying('on a socket')
    other.say(8, 3, 1, described('edge'))
    await fleet.ctx.advance(1_000)
    link.break()
    say(statusOf(hash, FAILED))
    if (what === 'a goodbye') say(GOODBYE)
    front.close(1)
    await fleet.ctx.advance(5_000)
    other.say(7, 1, 1, described('edge'))
    await fleet.ctx.advance(1_000)
    other.say(7, 1, 2, statusOf(hash, APPLIED))
    other.say(9, 2, 1, { ...described('edge'), ...statusOf(hash, APPLIED) })
    await fleet.ctx.advance(1_000)
    expect(workload().active!.targets.get(uidOf(1))!.state).toBe('applied')
    if (where === 'has left') {
      other.say(7, 1, 3, GOODBYE)
      other.close(7)
    }
    for (let passed = 0, n = 4; passed < ms; passed += 10_000, n++) {
      other.say(9, 2, n)
      other.say(8, 3, n)
      if (where === 'is there') other.say(7, 1, n)
      await fleet.ctx.advance(10_000)
    }
    otherLink.break()
    const next = await takeOver(2)
    other.link(next)
    front.link(next)
    await fleet.ctx.advance(15_000)
    const { newestPush, quarantinedHashes, quarantinedInstances } = workload()
    expect({ kind: newestPush!.kind, all: [...quarantinedHashes], some: [...quarantinedInstances] }).toEqual({
      kind: 'approval',
      all: [],
      some: [],
    })
  },
)

it.each([
  ['a last word', 8_000],
  ['a last word', 12_000],
  ['a goodbye', 8_000],
  ['a goodbye', 12_000],
] as const)(
  'what an agent failed, in %s, and applied elsewhere since fails nothing where a new owner hears of it there after %d ms',
  async (what, ms) => {
    const { front, other, link, otherLink, say, workload, hash } = await applying('on a socket')
    front.say(8, 3, 1, described('edge'))
    await fleet.ctx.advance(1_000)
    link.break()
    say(statusOf(hash, FAILED))
    if (what === 'a goodbye') say(GOODBYE)
    front.close(1)
    await fleet.ctx.advance(1_000)
    other.say(7, 1, 1, { ...described('edge'), ...statusOf(hash, APPLIED) })
    await fleet.ctx.advance(2_000)
    expect(workload().active!.targets.get(uidOf(1))!.state).toBe('applied')
    for (let n = 2; n < 20; n++) {
      other.say(7, 1, n)
      await fleet.ctx.advance(5_000)
    }
    otherLink.break()
    const next = await takeOver(2)
    front.link(next)
    await fleet.ctx.advance(ms)
    other.link(next)
    await fleet.ctx.advance(15_000)
    expect({
      kind: workload().newestPush!.kind,
      quarantined: [...workload().quarantinedHashes],
      place: instanceOf(1)?.connection?.place,
    }).toEqual({ kind: 'approval', quarantined: [], place: 'another/7' })
  },
)

it('what a poller failed after it had applied it counts, though a new owner is told of both at once', async () => {
  const { front, other, link, otherLink, say, workload, hash } = await applying('in polls')
  other.say(8, 3, 1, described('edge'))
  await fleet.ctx.advance(1_000)
  link.break()
  otherLink.break()
  say(statusOf(hash, APPLIED))
  await fleet.ctx.advance(1_500)
  say(statusOf(hash, FAILED), other)
  await fleet.ctx.advance(1_500)
  const owner = await takeOver(2)
  other.link(owner)
  front.link(owner)
  await fleet.ctx.advance(15_000)
  expect(workload().newestPush!.kind).toBe('auto-rollback')
})

it('what a poller applied counts though a front of the same owner tells later what it had failed before', async () => {
  const { owner, front, other, link, otherLink, say, workload, hash } = await applying('in polls')
  front.say(8, 3, 1, described('edge'))
  await fleet.ctx.advance(1_000)
  link.break()
  otherLink.break()
  say(statusOf(hash, FAILED))
  await fleet.ctx.advance(5_000)
  say(statusOf(hash, APPLIED), other)
  await fleet.ctx.advance(1_500)
  other.link(owner)
  await fleet.ctx.advance(1_000)
  front.link(owner)
  await fleet.ctx.advance(5_000)
  expect(workload().newestPush!.kind).toBe('approval')
})

describe('the database is away for the owner, and another process takes over', () => {
  it.each([
    ['on a socket', 'without a word'],
    ['on a socket', 'with a goodbye'],
    ['in polls', 'without a word'],
  ] as const)(
    '%s: what an agent failed is told to the next owner, though it left %s',
    async (how, leaving) => {
      const { front, link, say, workload, hash } = await applying(how)
      await fleet.ctx.fleet.writer.flush()
      const giveBack = takeAway(database.pool)
      try {
        say(statusOf(hash, FAILED))
        // Answered long before the database is missed for too long.
        await fleet.ctx.advance(500)
        await fleet.ctx.advance(500)
        if (leaving === 'with a goodbye') say(GOODBYE)
        if (how === 'on a socket') front.close(1)
        await fleet.ctx.advance(500)
        await fleet.ctx.advance(500)
        link.break()
        await fleet.ctx.close()
      } finally {
        giveBack()
      }
      front.link(await takeOver(2))
      front.say(3, 2, 4)
      await fleet.ctx.advance(200_000)
      const { kind, status } = workload().newestPush!
      expect({ kind, status, quarantined: [...workload().quarantinedHashes] }).toMatchObject({
        kind: 'auto-rollback',
        quarantined: [hash],
      })
    },
  )
})
