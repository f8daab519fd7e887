import { afterEach, beforeEach, expect, it } from 'vitest'
import { readOwnerBatch, writeBatch } from '../../../lib/links/frames.ts'
import { FrontAgents } from '../../../lib/links/front-agents.ts'
import { LINK_VERSIONS } from '../../../lib/links/link-versions.ts'
import { OwnerLinks } from '../../../lib/links/owner-links.ts'
import { silentLog } from '../../../lib/log.ts'
import { decodeFrame, messageOf } from '../../../lib/opamp/codec.ts'
import { createOpampExchange } from '../../../lib/opamp/exchange.ts'
import type { AgentConnection } from '../../../lib/opamp/fleet-port.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { agentFrame, keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
/** Each reads one config when it is called: reading takes until the test says so. */
const readings: (() => void)[] = []
let ctx: FleetTestContext

async function normalise(text: string) {
  await new Promise<void>((resolve) => void readings.push(resolve))
  const isConfig = !text.includes('unreadable')
  return isConfig
    ? { hash: text.slice(0, 1).repeat(64), text, runsPipelines: true, runsProfiles: false }
    : null
}

beforeEach(async () => {
  readings.length = 0
  ctx = await createFleetContext(database, { normalise })
})
afterEach(() => ctx.close())

type Receive = (connection: AgentConnection, frame: Uint8Array) => void

/** Gives the frames of agents to a fleet or to a front before it. */
const receiveBy =
  (agents: Pick<FrontAgents, 'receive'>): Receive =>
  (connection, frame) => {
    const intake = decodeFrame(frame)
    if (!intake.ok) throw new Error(intake.code)
    agents.receive(connection, intake.report, { message: messageOf(frame) })
  }

/** A front before the fleet, over a link that loses nothing. */
function openFront(): Receive {
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
  const agents = new FrontAgents({
    clock,
    timers,
    texts: { at: () => null, find: async () => null } as never,
    reported: { reportedConfig: () => true, hasRoomForConfigs: true } as never,
    normalise,
  })
  const takeAtFront = (text: string) => {
    agents.take(readOwnerBatch(text))
    return true
  }
  const atOwner = links.open({ send: takeAtFront, drop: () => undefined }, 'front')
  agents.linked({
    version: LINK_VERSIONS.newest,
    epoch: 1,
    send: (entry) =>
      atOwner.take(writeBatch({ cell: 0, epoch: 1, atMs: clock.monotonicMs(), entries: [entry] })),
  })
  return receiveBy(agents)
}

const running = (body: string): PlainMessage => ({
  effectiveConfig: {
    configMap: { configMap: { '': { body: Buffer.from(body), contentType: 'text/yaml' } } },
  },
})

/** An agent, and what the fleet says that it runs: the first letter of the hash, nothing for no config. */
function connectAgent(receive: Receive) {
  const connection: AgentConnection = { id: 901, transport: 'ws', send: () => 'sent', drop: () => undefined }
  const uid = Buffer.from(uidBytes(1)).toString('hex')
  let sequenceNum = 0
  const settle = async () => {
    for (let turn = 0; turn < 3; turn++) await ctx.advance(10)
  }
  return {
    async say(more: PlainMessage) {
      const head = { instanceUid: uidBytes(1), sequenceNum: ++sequenceNum, capabilities: 0x1007 }
      receive(connection, agentFrame({ ...head, ...more }))
      await settle()
    },
    async read() {
      for (const go of readings.splice(0)) go()
      await settle()
    },
    runs: () => ctx.fleet.state.instances.get(uid)!.reportedConfigHash.slice(0, 1),
  }
}

const DESCRIBED = { agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) } }

it.each([
  ['by a process that is alone', () => receiveBy(ctx.fleet as never)],
  ['over a link', openFront],
])('what an agent runs is known that spoke while its config was read, %s', async (_, open) => {
  const agent = connectAgent(open())
  await agent.say({ ...DESCRIBED, ...running('a: 1') })
  await agent.read()
  expect(agent.runs()).toBe('a')
  await agent.say(running('b: 1'))
  await agent.say({ health: { healthy: true } })
  await agent.read()
  expect(agent.runs()).toBe('b')
  await agent.say({})
  expect(agent.runs()).toBe('b')
})

it.each([
  ['by a process that is alone', () => receiveBy(ctx.fleet as never)],
  ['over a link', openFront],
])('a config is not shown any more that its agent no longer reports, %s', async (_, open) => {
  const agent = connectAgent(open())
  await agent.say({ ...DESCRIBED, ...running('a: 1') })
  await agent.read()
  await agent.say(running('unreadable: ['))
  await agent.read()
  expect(agent.runs()).toBe('')
})
