import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FrontEntry, readOwnerBatch, writeBatch } from '../../../lib/links/frames.ts'
import { FrontAgents } from '../../../lib/links/front-agents.ts'
import { ENDINGS_MAX } from '../../../lib/links/front-endings.ts'
import { OwnerLinks } from '../../../lib/links/owner-links.ts'
import { silentLog } from '../../../lib/log.ts'
import { decodeFrame, messageOf } from '../../../lib/opamp/codec.ts'
import { createOpampExchange } from '../../../lib/opamp/exchange.ts'
import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { agentFrame, keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Agents leave while the link between their front and the owner ends.

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const DESCRIBED = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}
const uidOf = (n: number) => Buffer.from(uidBytes(n)).toString('hex')
const instanceOf = (n: number) => ctx.fleet.state.instances.get(uidOf(n))

function openOwner(epoch = 1) {
  const { clock, timers, fleet } = ctx
  const exchange = createOpampExchange({ fleet, clock, log: silentLog, messageBytesMax: 1_048_576 })
  return { epoch, links: new OwnerLinks({ fleet, exchange, epoch, clock, timers, log: silentLog }) }
}

/** A front with agents on it, whose link to an owner a test opens and breaks. */
function openFront(name: string) {
  const { clock, timers } = ctx
  const agents = new FrontAgents({
    clock,
    timers,
    texts: { at: () => Buffer.from(''), find: async () => Buffer.from('') } as never,
    reported: { reportedConfig: () => true, hasRoomForConfigs: true } as never,
    normalise: async () => null,
  })
  const connections = new Map<number, AgentConnection>()
  const say = (conn: number, n: number, sequenceNum: number, more: PlainMessage = {}) => {
    const connection = connections.get(conn) ?? {
      id: conn,
      transport: 'ws' as const,
      send: () => 'sent' as const,
      tell: () => 'sent' as const,
      drop: () => undefined,
    }
    connections.set(conn, connection)
    const frame = agentFrame({ instanceUid: uidBytes(n), sequenceNum, capabilities: 0x1003, ...more })
    const intake = decodeFrame(frame)
    if (!intake.ok) throw new Error(intake.code)
    agents.receive(connection, intake.report, { message: messageOf(frame) })
  }
  return {
    agents,
    say,
    close: (conn: number) => agents.connectionClosed(connections.get(conn)!),
    /** Open a link. `break` ends it at both ends; `losing` ends what is said on it from then on on its way. */
    link({ epoch, links }: ReturnType<typeof openOwner>, version = 3) {
      const said: FrontEntry[] = []
      let isLosing = false
      let answers = true
      const atOwner = links.open(
        {
          send(text) {
            if (answers) agents.take(readOwnerBatch(text))
            return true
          },
          drop: () => undefined,
        },
        name,
      )
      const out = {
        version,
        send(entry: FrontEntry) {
          said.push(entry)
          if (!isLosing)
            atOwner.take(writeBatch({ cell: 0, epoch, atMs: clock.monotonicMs(), entries: [entry] }))
        },
      }
      agents.linked(out)
      return {
        said,
        losing() {
          isLosing = true
        },
        mute() {
          answers = false
        },
        break() {
          answers = false
          isLosing = true
          agents.unlinked(out)
          atOwner.closed()
        },
      }
    },
  }
}

/** Push a config to the workload of agent 1, which is offered it. */
async function offer() {
  const { workload } = instanceOf(1)!
  const push = await pushConfig(ctx.fleet, workload!.id, configYaml(1))
  await ctx.advance(2_000)
  expect(instanceOf(1)!.offer?.lastSentAtMs).not.toBeNull()
  const target = () => workload!.active!.targets.get(uidOf(1))!
  return { push, target }
}

const endedOn = (said: readonly FrontEntry[]) => said.filter(([kind]) => kind === 'ended')

describe('a goodbye that was under way when the link ended', () => {
  it('is told again on the next link, and what waited for the agent ends', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    link.losing()
    front.say(1, 1, 2, { agentDisconnect: {} })
    front.close(1)
    link.break()
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: false })
    const next = front.link(owner)
    await ctx.advance(500)
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: true })
    expect(target()).toMatchObject({ state: 'gone', error: { cause: 'left' } })
    expect(endedOn(next.said)).toEqual([['ended', expect.any(Number), 1, uidOf(1), true]])
    // The owner has confirmed it: the link after that one is told nothing of it.
    next.break()
    expect(endedOn(front.link(owner).said)).toEqual([])
  })

  it('is told to an owner that has taken over since', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { push } = await offer()
    await ctx.fleet.writer.flush()
    link.break()
    front.say(1, 1, 2, { agentDisconnect: {} })
    await ctx.close()
    ctx = await createFleetContext(database)
    const [workload] = ctx.fleet.state.workloads.values()
    const target = () => workload!.active!.targets.get(uidOf(1))!
    expect(workload!.active!.push.pushId).toBe(push.pushId)
    expect(target().state).toBe('offered')
    front.link(openOwner(2))
    await ctx.advance(1_500)
    expect(target()).toMatchObject({ state: 'gone', error: { cause: 'left' } })
  })

  it('takes nobody away who has come back, here or at another front, nor who went on from there', async () => {
    const [owner, front, other] = [openOwner(), openFront('a front'), openFront('another')]
    const links = [front.link(owner), other.link(owner)]
    for (const n of [1, 2, 3]) front.say(n, n, 1, DESCRIBED)
    links[0]!.break()
    for (const n of [1, 2, 3]) front.say(n, n, 2, { agentDisconnect: {} })
    front.say(9, 1, 1, DESCRIBED)
    for (const n of [2, 3]) other.say(n, n, 1, DESCRIBED)
    links[1]!.break()
    other.link(owner)
    other.close(3)
    expect(instanceOf(2)!.connection).not.toBeNull()
    front.link(owner)
    await ctx.advance(500)
    expect(instanceOf(1)!.connection).not.toBeNull()
    expect(instanceOf(2)!.connection).not.toBeNull()
    expect(instanceOf(3)).toMatchObject({ connection: null, hasDeparted: false })
  })

  it('is told to no owner that speaks version 2 of the link: its agent is away for a grace', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner, 2)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    link.losing()
    front.say(1, 1, 2, { agentDisconnect: {} })
    front.close(1)
    link.break()
    const next = front.link(owner, 2)
    await ctx.advance(500)
    expect(endedOn(next.said)).toEqual([])
    expect(instanceOf(1)).toMatchObject({ connection: null, hasDeparted: false })
    expect(target().state).toBe('offered')
  })
})

describe('the end of a socket that was under way when the link ended', () => {
  it('counts as a loss, once', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    link.losing()
    front.close(1)
    link.break()
    expect(target().losses).toBe(0)
    const next = front.link(owner)
    next.break()
    front.link(owner)
    expect(target().losses).toBe(1)
  })

  it('counts once where only the confirmation was lost', async () => {
    const [owner, front] = [openOwner(), openFront('a front')]
    const link = front.link(owner)
    front.say(1, 1, 1, DESCRIBED)
    const { target } = await offer()
    link.mute()
    front.close(1)
    await ctx.advance(500)
    expect(target().losses).toBe(1)
    link.break()
    const next = front.link(owner)
    expect(endedOn(next.said)).toHaveLength(1)
    expect(target().losses).toBe(1)
  })
})

it('is kept of so many agents, and the oldest are given up first', () => {
  const front = openFront('a front')
  for (let n = 1; n <= ENDINGS_MAX + 10; n++) {
    front.say(n, n, 1, DESCRIBED)
    front.close(n)
  }
  const ended = endedOn(front.link(openOwner()).said)
  expect(ended).toHaveLength(ENDINGS_MAX)
  expect(ended[0]![2]).toBe(11)
})
