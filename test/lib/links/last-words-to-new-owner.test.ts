import { describe, expect, it } from 'vitest'
import { takeAway } from '../../support/away-database.ts'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)
const { instanceOf, openFront, openOwner, takeOver } = fleet
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
const [APPLIED, APPLYING, FAILED] = [1, 2, 3] as const
const statusOf = (hash: string, status: number) => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status },
})
const GOODBYE = { agentDisconnect: {} }

/** Agent 1, on a socket or polling, applies config 2, which agent 2 has applied; config 1 was applied by both before. */
async function applying(how: 'on a socket' | 'in polls') {
  const owner = openOwner()
  const front = openFront('a front')
  const other = openFront('another')
  const [link, otherLink] = [front.link(owner), other.link(owner)]
  let sequenceNum = 0
  const say = (more: PlainMessage = {}, at = front) => {
    sequenceNum++
    if (how === 'in polls') void at.poll(1, sequenceNum, more)
    else at.say(1, 1, sequenceNum, more)
  }
  const hears = async () => {
    await fleet.ctx.advance(500)
    if (how === 'in polls') say()
    await fleet.ctx.advance(500)
  }
  say(described('edge'))
  front.say(3, 2, 1, described('edge'))
  await fleet.ctx.advance(100)
  const { id } = instanceOf(1)!.workload!
  const before = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await hears()
  say(statusOf(before.hash, APPLIED))
  front.say(3, 2, 2, statusOf(before.hash, APPLIED))
  await fleet.ctx.advance(1_000)
  const push = await pushConfig(fleet.ctx.fleet, id, configYaml(2))
  await hears()
  say(statusOf(push.hash, APPLYING))
  front.say(3, 2, 3, statusOf(push.hash, APPLIED))
  await fleet.ctx.advance(500)
  await fleet.ctx.advance(500)
  const workload = () => fleet.ctx.fleet.workload(id)!
  expect(workload().active!.targets.get(uidOf(1))!.state).toBe('applying')
  return { owner, front, other, link, otherLink, say, workload, hash: push.hash }
}

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
