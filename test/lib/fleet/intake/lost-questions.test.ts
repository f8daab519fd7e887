import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLog } from '../../../../lib/log.ts'
import { createOpampExchange, type OpampExchange } from '../../../../lib/opamp/exchange.ts'
import type { AgentConnection } from '../../../../lib/opamp/fleet-port.ts'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'
import { reportOf } from '../../../support/agent-report.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import {
  agentBody,
  agentFrame,
  hex,
  keyValues,
  type PlainMessage,
  readServerBody,
  readServerFrame,
} from '../../../support/opamp-messages.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

// A question may not reach its agent: over HTTP because the answer is lost, on a socket because that has no room.

const FULL_STATE = 1
const COMPONENTS = 2
const UID = '0192d3b40000700090000000000000aa'
const LISTING = SUPERVISOR | AGENT_CAPABILITIES.reportsAvailableComponents

const database = await useTestDatabase()
let ctx: FleetTestContext
let exchange: OpampExchange
beforeEach(async () => {
  ctx = await createFleetContext(database)
  exchange = createOpampExchange({
    fleet: ctx.fleet,
    clock: ctx.clock,
    log: silentLog,
    messageBytesMax: 1_048_576,
  })
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/** Poll once; returns the flags of the answer, which say what it asks for. */
async function poll(sequenceNum: number, more: PlainMessage = {}): Promise<number> {
  const message = { instanceUid: hex(UID), sequenceNum, capabilities: LISTING, ...more }
  const { flags } = readServerBody(await exchange.answerBody(agentBody(message), '192.0.2.1'))
  return Number(flags ?? 0)
}

const described: PlainMessage = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge', 'host.name': 'vm' }) },
  availableComponents: { hash: hex('c0') },
}

describe('a poller whose answer was lost', () => {
  it('is asked what it is again, in the answer to the same bytes and to its next poll', async () => {
    expect(await poll(5)).toBe(FULL_STATE)
    expect(await poll(5)).toBe(FULL_STATE)
    await ctx.advance(30_000)
    expect(await poll(6)).toBe(FULL_STATE)
    expect(await poll(7, described)).toBe(COMPONENTS)
    expect((await poll(8)) & FULL_STATE).toBe(0)
  })

  it('is asked for its components again, three times in a row, and each five minutes from then on', async () => {
    const asked = [await poll(0, described)]
    for (let i = 1; i < 6; i++) asked.push(await poll(i))
    expect(asked).toEqual([COMPONENTS, COMPONENTS, COMPONENTS, 0, 0, 0])
    const later = []
    for (let i = 6; i < 27; i++) {
      await ctx.advance(30_000)
      later.push(await poll(i))
    }
    // Ten and twenty half minutes after the third.
    expect(later.flatMap((flags, i) => (flags === 0 ? [] : [[i, flags]]))).toEqual([
      [9, COMPONENTS],
      [19, COMPONENTS],
    ])
  })

  it('is asked for its components in the answer to each repeat of a poll as well, and no less often for that', async () => {
    for (let i = 0; i < 5; i++) expect(await poll(0, described)).toBe(COMPONENTS)
    const asked = []
    for (let i = 1; i < 5; i++) asked.push(await poll(i))
    expect(asked).toEqual([COMPONENTS, COMPONENTS, 0, 0])
  })

  it('is asked a few times at once only, and what it runs is settled after a minute all the same', async () => {
    let asked = 0
    for (let i = 0; i < 40; i++) asked += await poll(i)
    expect(asked).toBeGreaterThan(1)
    expect(asked).toBeLessThan(10)
    await poll(40, described)
    const instance = ctx.fleet.state.instances.get(UID)!
    instance.reported = { isKnown: false }
    for (let i = 41; i < 61; i++) {
      await poll(i)
      await ctx.advance(5_000)
    }
    expect(instance.reported).toMatchObject({ isKnown: true, status: 'none' })
  })
})

describe('a poller that says only what has changed', () => {
  const runs: PlainMessage = {
    remoteConfigStatus: { lastRemoteConfigHash: hex('ab'.repeat(32)), status: 1 },
    effectiveConfig: { configMap: { configMap: { '': { body: Buffer.from('{}') } } } },
    health: { healthy: true },
  }
  const reported = () => ctx.fleet.state.instances.get(UID)!.reported
  const restart = async () => {
    await ctx.advance(1_000)
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    exchange = createOpampExchange({
      fleet: ctx.fleet,
      clock: ctx.clock,
      log: silentLog,
      messageBytesMax: 1_048_576,
    })
  }

  it('is asked for the rest, where its first words after our start are a changed description', async () => {
    await poll(5, { ...described, ...runs })
    await restart()
    expect((await poll(9, described)) & FULL_STATE).toBe(FULL_STATE)
    expect(reported()).toEqual({ isKnown: false })
    expect((await poll(10, { ...described, ...runs })) & FULL_STATE).toBe(0)
    expect(reported()).toMatchObject({ isKnown: true, hash: 'ab'.repeat(32), status: 'applied' })
  })

  it('is asked for the rest, where what it said before did not arrive', async () => {
    await poll(5, { ...described, ...runs })
    expect((await poll(8, described)) & FULL_STATE).toBe(FULL_STATE)
    expect((await poll(9, { ...described, ...runs })) & FULL_STATE).toBe(0)
  })

  it('is asked once, where there is nothing else to say', async () => {
    await poll(5, described)
    await restart()
    expect((await poll(9, described)) & FULL_STATE).toBe(FULL_STATE)
    expect((await poll(10, described)) & FULL_STATE).toBe(0)
    expect(reported()).toMatchObject({ isKnown: true, status: 'none' })
    expect((await poll(11)) & FULL_STATE).toBe(0)
  })

  it('is not asked where it is new, or said everything', async () => {
    expect((await poll(1, described)) & FULL_STATE).toBe(0)
    expect(reported()).toMatchObject({ isKnown: true, status: 'none' })
    await restart()
    expect((await poll(9, { ...described, ...runs })) & FULL_STATE).toBe(0)
  })
})

it('an agent whose socket had no room when its workload was deleted is asked with its next message', async () => {
  const agent = fakeAgent(ctx.fleet, { host: 'vm' })
  await ctx.advance(1_000)
  const { connection } = agent
  const send = connection.send.bind(connection)
  connection.send = () => 'dropped'
  await ctx.fleet.remove(agent.workloadId, null, async () => {})
  connection.send = send
  const { sequenceNum } = ctx.fleet.state.instances.get(agent.uid)!
  const { message } = ctx.fleet.receive(
    connection,
    reportOf(agent.uid, sequenceNum! + 1, { capabilities: SUPERVISOR }),
    {},
  )
  expect(message.reportFullState).toBe(true)
})

describe('an agent whose socket had no room for an answer', () => {
  let hasRoom = true
  let answers: PlainMessage[] = []
  const connection: AgentConnection = {
    id: 900_001,
    transport: 'ws',
    send(frame) {
      if (!hasRoom) return 'dropped'
      answers.push(readServerFrame(frame))
      return 'sent'
    },
    drop() {},
  }
  beforeEach(() => {
    hasRoom = true
    answers = []
  })
  /** Say something; returns the answer that arrives, undefined where none does. */
  const say = (sequenceNum: number, more: PlainMessage = {}): PlainMessage | undefined => {
    const before = answers.length
    exchange.answerFrame(
      connection,
      agentFrame({ instanceUid: hex(UID), sequenceNum, capabilities: LISTING, ...more }),
    )
    return answers[before]
  }
  const flags = (answer: PlainMessage | undefined) => Number(answer?.['flags'] ?? 0)

  it('is asked what it is again, and told what we can do', () => {
    hasRoom = false
    expect(say(5)).toBeUndefined()
    hasRoom = true
    const answer = say(6)
    expect(flags(answer)).toBe(FULL_STATE)
    expect(answer?.['capabilities']).toBeDefined()
    expect(flags(say(7))).toBe(0)
  })

  it('is asked again for what it said in a message that was lost', () => {
    say(5, described)
    hasRoom = false
    expect(say(8)).toBeUndefined()
    hasRoom = true
    expect(flags(say(9)) & FULL_STATE).toBe(FULL_STATE)
    expect(flags(say(10, described)) & FULL_STATE).toBe(0)
  })

  it('is asked for its components again, and not once it has listed them', () => {
    hasRoom = false
    say(0, described)
    say(1)
    hasRoom = true
    expect(flags(say(2))).toBe(COMPONENTS)
    hasRoom = false
    say(3, { ...described, availableComponents: { hash: hex('c1') } })
    hasRoom = true
    const list = { hash: hex('c1'), components: { receivers: { subComponentMap: {} } } }
    expect(flags(say(4, { availableComponents: list }))).toBe(0)
  })

  it('is asked for its components again where its process starts anew on the same socket and names them by their hash alone', () => {
    expect(flags(say(5, described))).toBe(COMPONENTS)
    expect(flags(say(6))).toBe(0)
    // As of an agent behind a gateway, whose socket stays open.
    expect(flags(say(0, described))).toBe(COMPONENTS)
    expect(flags(say(1))).toBe(0)
  })

  it('is not asked anew on a new socket for what it says there by itself', () => {
    hasRoom = false
    say(5)
    hasRoom = true
    const other = { ...connection, id: 900_002 }
    exchange.answerFrame(
      other,
      agentFrame({ instanceUid: hex(UID), sequenceNum: 6, capabilities: LISTING, ...described }),
    )
    expect(flags(answers.at(-1))).toBe(COMPONENTS)
  })
})
