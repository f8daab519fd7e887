import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type LinkOut, readOwnerBatch, writeBatch } from '../../../lib/links/frames.ts'
import { FrontAgents } from '../../../lib/links/front-agents.ts'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { OwnerLinks } from '../../../lib/links/owner-links.ts'
import { silentLog } from '../../../lib/log.ts'
import { decodeBody } from '../../../lib/opamp/codec.ts'
import { createOpampExchange } from '../../../lib/opamp/exchange.ts'
import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import type { ServerMessage } from '../../../lib/opamp/report.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { agentBody, keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Agents that poll a front: an offer that the owner has decided may still be lost on its way to the agent.

const REPORTS_NOTHING = 0x3
const REPORTS_CONFIG = 0x1003

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/** A front with one agent that polls it, and a link whose batches from the owner arrive when `deliver` is called. */
function openFront(capabilities: number) {
  const { clock, timers, fleet } = ctx
  const exchange = createOpampExchange({ fleet, clock, log: silentLog, messageBytesMax: 1_048_576 })
  const links = new OwnerLinks({
    fleet,
    exchange,
    epoch: 1,
    mayAct: () => true,
    clock,
    timers,
    log: silentLog,
  })
  let readText = async (): Promise<Uint8Array | null> => Buffer.from(configYaml(1))
  const front = new FrontAgents({
    clock,
    timers,
    texts: { at: () => null, find: () => readText() } as never,
    reported: { reportedConfig: () => true, hasRoomForConfigs: true } as never,
    normalise: async () => null,
  })
  let underWay: string[] = []
  let cut = () => {}
  const link = () => {
    const owners = links.open({ send: (text) => underWay.push(text) > 0, drop() {} }, 'front')
    const out: LinkOut = {
      version: LINK_VERSIONS.newest,
      epoch: 1,
      send: (entry) =>
        owners.take(writeBatch({ cell: 0, epoch: 1, atMs: clock.monotonicMs(), entries: [entry] })),
    }
    front.linked(out)
    cut = () => {
      underWay = []
      front.unlinked(out)
      owners.closed()
    }
  }
  link()
  let sequenceNum = 0
  const begin = (more: PlainMessage = {}): Promise<ServerMessage | null> => {
    sequenceNum++
    const message = agentBody({ instanceUid: uidBytes(1), sequenceNum, capabilities, ...more })
    const intake = decodeBody(message)
    if (!intake.ok) throw new Error(intake.code)
    const connection: AgentConnection = { id: -1, transport: 'http', send: () => 'dropped', drop() {} }
    const about = { message, poll: { source: '10.0.0.1', digest: String(sequenceNum) } }
    return front.receive(connection, intake.report, about).pendingOffer!
  }
  const deliver = () => {
    for (const text of underWay.splice(0)) front.take(readOwnerBatch(text))
  }
  /** Let the owner answer, and its batch go out. */
  const answered = async () => {
    await ctx.advance(1)
    await ctx.advance(1)
  }
  const poll = async (more: PlainMessage = {}) => {
    const answer = begin(more)
    await answered()
    deliver()
    return answer
  }
  return {
    link,
    begin,
    answered,
    deliver,
    poll,
    cut: () => cut(),
    readTextBy(read: typeof readText) {
      readText = read
    },
    async pushed() {
      await poll({ agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) } })
      const [workload] = ctx.fleet.state.workloads.values()
      await pushConfig(ctx.fleet, workload!.id, configYaml(1))
    },
    stop: () => front.stop(),
  }
}

describe.each([
  ['that reports what became of a config', REPORTS_CONFIG],
  ['that reports nothing of a config', REPORTS_NOTHING],
])('a poller %s is offered it with its next poll', (_, capabilities) => {
  it('once, where nothing is lost on the way', async () => {
    const front = openFront(capabilities)
    await front.pushed()
    expect((await front.poll())?.remoteConfig).toBeDefined()
    expect((await front.poll())?.remoteConfig).toBeUndefined()
    front.stop()
  })

  it('after the answer with the offer came too late for the poll', async () => {
    const front = openFront(capabilities)
    await front.pushed()
    const late = front.begin()
    await ctx.advance(1_500)
    expect((await late)?.remoteConfig).toBeUndefined()
    front.deliver()
    expect((await front.poll())?.remoteConfig).toBeDefined()
    front.stop()
  })

  it('after the text of the config was read too late for the poll', async () => {
    const front = openFront(capabilities)
    await front.pushed()
    let read = (_body: Uint8Array) => {}
    front.readTextBy(
      () =>
        new Promise((resolve) => {
          read = resolve
        }),
    )
    const late = front.begin()
    await front.answered()
    front.deliver()
    await ctx.advance(1_000)
    expect((await late)?.remoteConfig).toBeUndefined()
    read(Buffer.from(configYaml(1)))
    await ctx.advance(500)
    front.readTextBy(async () => Buffer.from(configYaml(1)))
    expect((await front.poll())?.remoteConfig).toBeDefined()
    front.stop()
  })

  it('after the link was cut while the answer was under way', async () => {
    const front = openFront(capabilities)
    await front.pushed()
    void front.begin()
    await front.answered()
    front.cut()
    front.link()
    expect((await front.poll())?.remoteConfig).toBeDefined()
    front.stop()
  })

  it('after the link was cut before the owner had answered', async () => {
    const front = openFront(capabilities)
    await front.pushed()
    void front.begin()
    front.cut()
    await ctx.advance(500)
    front.link()
    expect((await front.poll())?.remoteConfig).toBeDefined()
    front.stop()
  })
})

it('a poll that the owner breaks on is answered by the front, and ends nothing else', async () => {
  const { clock, timers, fleet } = ctx
  const exchange = { answerPoll: () => Promise.reject(new Error('broken')) }
  const links = new OwnerLinks({
    fleet,
    exchange,
    epoch: 1,
    mayAct: () => true,
    clock,
    timers,
    log: silentLog,
  })
  const told: unknown[] = []
  const link = links.open(
    { send: (text) => told.push(...readOwnerBatch(text).entries) > 0, drop() {} },
    'front',
  )
  const poll = Buffer.from(agentBody({ instanceUid: uidBytes(1), sequenceNum: 1, capabilities: 0x3 }))
  link.take(
    writeBatch({
      cell: 0,
      epoch: 1,
      atMs: clock.monotonicMs(),
      entries: [['poll', 7, '10.0.0.1', 'digest', poll.toString('base64')]],
    }),
  )
  await new Promise((resolve) => setImmediate(resolve))
  timers.advance(10)
  expect(told).toEqual([['answer', 7, null]])
  link.closed()
})
