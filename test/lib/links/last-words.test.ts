import { describe, expect, it } from 'vitest'
import { UNCONFIRMED_MAX } from '../../../lib/links/front-agents.ts'
import { ENDINGS_BYTES_MAX } from '../../../lib/links/front-endings.ts'
import { type FrontLink, type LinkedFront, uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// What agents say of a config last, right before they leave, counts as what they say otherwise: a config that they fail so
// is rolled back.

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
const [APPLIED, APPLYING, FAILED] = [1, 2, 3]
const statusOf = (hash: string, status: number) => ({
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.from(hash, 'hex'), status },
})
const GOODBYE = { agentDisconnect: {} }

/** Agent 1, on a socket of its own or polling, applies a config that agent 2 has applied. */
async function applying(how: 'on a socket' | 'in polls') {
  const owner = openOwner()
  const front = openFront('a front')
  const link = front.link(owner)
  const isPolling = how === 'in polls'
  let sequenceNum = 0
  const say = (more: PlainMessage = {}) => {
    sequenceNum++
    if (isPolling) void front.poll(1, sequenceNum, more)
    else front.say(1, 1, sequenceNum, more)
  }
  const hears = async () => {
    await fleet.ctx.advance(500)
    if (isPolling) say()
    await fleet.ctx.advance(500)
  }
  say(described('edge'))
  front.say(3, 2, 1, described('edge'))
  await fleet.ctx.advance(100)
  const { id } = instanceOf(1)!.workload!
  const before = await pushConfig(fleet.ctx.fleet, id, configYaml(1))
  await hears()
  say(statusOf(before.hash, APPLIED!))
  front.say(3, 2, 2, statusOf(before.hash, APPLIED!))
  await fleet.ctx.advance(1_000)
  const push = await pushConfig(fleet.ctx.fleet, id, configYaml(2))
  await hears()
  say(statusOf(push.hash, APPLYING!))
  front.say(3, 2, 3, statusOf(push.hash, APPLIED!))
  await fleet.ctx.advance(500)
  const workload = () => fleet.ctx.fleet.workload(id)!
  expect(workload().active!.push.hash).toBe(push.hash)
  expect(workload().active!.targets.get(uidOf(1))!.state).toBe('applying')
  const failed = statusOf(push.hash, FAILED!)
  return { owner, front, link, say, failed, workload, hash: push.hash }
}

/** Nothing that the front says is taken: there is no link, or as many reports wait as may. */
const HOLDUPS = {
  'there was no link': {
    begin: (_: LinkedFront, link: FrontLink) => link.break(),
    end: (front: LinkedFront, _: FrontLink, owner: ReturnType<typeof openOwner>) => void front.link(owner),
  },
  'too many reports waited': {
    begin(front: LinkedFront, link: FrontLink) {
      link.hold()
      for (let n = 10; n < 10 + UNCONFIRMED_MAX; n++) front.say(n, n, 1, described('other'))
    },
    end: (_: LinkedFront, link: FrontLink) => link.deliver(),
  },
}

describe.each(['there was no link', 'too many reports waited'] as const)('while %s', (holdup) => {
  const { begin, end } = HOLDUPS[holdup]

  it.each([
    ['its goodbye', (say: (more: PlainMessage) => void) => say(GOODBYE)],
    ['the end of its socket', () => undefined],
  ])('a config that an agent failed right before %s is rolled back', async (_, leave) => {
    const { owner, front, link, say, failed, workload, hash } = await applying('on a socket')
    begin(front, link)
    say(failed)
    await fleet.ctx.advance(100)
    leave(say)
    front.close(1)
    await fleet.ctx.advance(1_500)
    end(front, link, owner)
    await fleet.ctx.advance(3_000)
    expect(workload().newestPush!.kind).toBe('auto-rollback')
    expect(workload().quarantinedHashes).toContain(hash)
  })
})

describe('while there was no link', () => {
  it.each([
    ['said goodbye', (say: (more: PlainMessage) => void) => say(GOODBYE)],
    ['fell silent', () => undefined],
  ])('a config that a poller failed before it %s is rolled back', async (_, leave) => {
    const { owner, front, link, say, failed, workload } = await applying('in polls')
    link.break()
    say(failed)
    await fleet.ctx.advance(100)
    leave(say)
    await fleet.ctx.advance(1_500)
    front.link(owner)
    await fleet.ctx.advance(3_000)
    expect(workload().newestPush!.kind).toBe('auto-rollback')
  })

  it.each([
    ['on a socket', (front: LinkedFront) => front.close(1)],
    ['in polls', () => undefined],
  ] as const)('another owner is told what an agent failed %s before it left', async (how, leave) => {
    const { front, link, say, failed } = await applying(how)
    link.break()
    say(failed)
    leave(front)
    front.link(await takeOver(2))
    await fleet.ctx.advance(13_000)
    const [stored] = fleet.ctx.fleet.state.workloads.values()
    expect(stored!.newestPush!.kind).toBe('auto-rollback')
  })

  it('what an agent failed with its goodbye counts, though it is back before there is another link', async () => {
    const { owner, front, link, say, failed, workload } = await applying('on a socket')
    link.break()
    say({ ...GOODBYE, ...failed })
    front.close(1)
    front.say(9, 1, 1, described('edge'))
    await fleet.ctx.advance(500)
    front.link(owner)
    await fleet.ctx.advance(3_000)
    expect(workload().newestPush!.kind).toBe('auto-rollback')
  })

  it('what an agent said of a config counts no more where it has spoken at another front since', async () => {
    const { owner, front, link, say, failed, workload, hash } = await applying('on a socket')
    const other = openFront('another')
    other.link(owner)
    link.break()
    say(failed)
    front.close(1)
    await fleet.ctx.advance(500)
    other.say(7, 1, 1, { ...described('edge'), ...statusOf(hash, APPLIED!) })
    await fleet.ctx.advance(500)
    front.link(owner)
    await fleet.ctx.advance(3_000)
    expect(workload().newestPush).toMatchObject({ kind: 'approval', status: 'applied' })
  })
})

it('is kept of so many bytes, and the oldest are given up first', () => {
  const front = openFront('a front')
  const errorMessage = 'x'.repeat(30_000)
  const status = { lastRemoteConfigHash: Buffer.alloc(32, 1), status: 3, errorMessage }
  const most = Math.ceil(ENDINGS_BYTES_MAX / errorMessage.length)
  for (let n = 1; n <= most; n++) {
    front.say(n, n, 1, { ...described('edge'), remoteConfigStatus: status })
    front.close(n)
  }
  const words = front.link(openOwner()).said.filter(([kind]) => kind === 'last-word')
  expect(words.length).toBeGreaterThan(most / 2)
  expect(words.length).toBeLessThan(most)
})

it('is kept once of an agent that polls, however often it says it while there is no link', () => {
  const front = openFront('a front')
  for (let n = 1; n <= 20; n++) void front.poll(1, n, described('edge'))
  const words = front.link(openOwner()).said.filter(([kind]) => kind === 'last-word')
  expect(words).toHaveLength(1)
})

it('is not told over a link of a version that does not know it, and the goodbye is told as before', async () => {
  const { owner, front, link, say, failed } = await applying('on a socket')
  link.break()
  front.say(3, 2, 4, failed)
  front.close(3)
  say({ ...GOODBYE, ...failed })
  const { said } = front.link(owner, 7)
  expect(said.map(([kind]) => kind)).toEqual(['ended', 'goodbye'])
  await fleet.ctx.advance(500)
  expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
})
