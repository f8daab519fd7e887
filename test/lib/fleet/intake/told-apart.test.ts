import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLog } from '../../../../lib/log.ts'
import { createOpampExchange, type OpampExchange } from '../../../../lib/opamp/exchange.ts'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import {
  agentBody,
  hex,
  keyValues,
  type PlainMessage,
  readServerBody,
} from '../../../support/opamp-messages.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { pushConfig } from '../../../support/push-config.ts'
import { config } from '../../../support/pushed-workload.ts'
import { SUPERVISOR } from '../../../support/test-agent.ts'

// Two cloned machines poll with the same uid. Until the service has told them apart it takes them for one agent.

const UID = '0192d3b40000700090000000000000bb'
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

/** The capabilities of an agent that does not report what becomes of a config. */
const MUTE = SUPERVISOR & ~AGENT_CAPABILITIES.reportsRemoteConfig

interface Answer {
  flags?: number | string
  agentIdentification?: { newInstanceUid: Uint8Array } | null
  remoteConfig?: { configHash: Uint8Array } | null
}

async function poll(source: string, sequenceNum: number, more: PlainMessage = {}): Promise<Answer> {
  const message = { instanceUid: hex(UID), sequenceNum, capabilities: SUPERVISOR, ...more }
  const answering = exchange.answerBody(agentBody(message), source)
  await ctx.advance(500)
  return readServerBody(await answering) as Answer
}

const applied = (number: number): PlainMessage => ({
  remoteConfigStatus: { lastRemoteConfigHash: hex(config(number).hash), status: 1 },
})
const full = (status: PlainMessage): PlainMessage => ({
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge', 'host.name': 'vm' }) },
  ...status,
})
const applying = (number: number): PlainMessage => ({
  remoteConfigStatus: { lastRemoteConfigHash: hex(config(number).hash), status: 2 },
})
const offerOf = ({ remoteConfig }: Answer) =>
  remoteConfig == null ? null : Buffer.from(remoteConfig.configHash).toString('hex')

it('the one that keeps the uid is offered what only the other one took', async () => {
  const [elder, twin] = ['192.0.2.1', '192.0.2.2']
  let at = 50
  /**
   * Poll as the first machine, which reports its former config when it is asked. Returns the hash that it was offered,
   * or null.
   */
  const pollElder = async (): Promise<string | null> => {
    const answer = await poll(elder, at++)
    const isAsked = (Number(answer.flags ?? 0) & 1) !== 0
    return offerOf(answer) ?? (isAsked ? offerOf(await poll(elder, at++, full(applied(1)))) : null)
  }
  await poll(elder, at++, full(applied(1)))
  const workload = ctx.fleet.state.instances.get(UID)!.workload!
  await pushConfig(ctx.fleet, workload.id, config(2).body)
  expect(offerOf(await poll(twin, 0, full(applied(1))))).toBe(config(2).hash)
  await poll(twin, 1, applied(2))
  let isTold = false
  const offers: (string | null)[] = []
  for (let i = 2; i < 12 && !isTold; i++) {
    offers.push(await pollElder())
    isTold = (await poll(twin, i)).agentIdentification != null
  }
  expect(isTold).toBe(true)
  for (let i = 0; i < 3; i++) offers.push(await pollElder())
  expect(offers).toContain(config(2).hash)
  await poll(elder, at++, applied(2))
  expect(workload.active!.targets.get(UID)).toMatchObject({ state: 'applied' })
})

describe('one of two behind an address that dies of the config soon after each start', () => {
  const GATEWAY = '192.0.2.1'
  const LIVES = 40

  /**
   * The elder of the two runs config 2; the other one is offered that, lives for two polls and starts anew. Answers how
   * often it was offered the config in each of its lives, and by which uid it goes at last.
   */
  async function letDie(
    status: PlainMessage,
    dying: PlainMessage,
  ): Promise<{ offers: number[]; uid: string }> {
    let at = 50
    await poll(GATEWAY, at++, full(applied(1)))
    const workload = ctx.fleet.state.instances.get(UID)!.workload!
    await pushConfig(ctx.fleet, workload.id, config(2).body)
    await poll(GATEWAY, at++)
    let elderSays: PlainMessage = applied(2)
    let uid = UID
    const offers: number[] = []
    const say = async (sequenceNum: number, more: PlainMessage) => {
      const answer = await poll(GATEWAY, sequenceNum, { instanceUid: hex(uid), ...more })
      const given = answer.agentIdentification?.newInstanceUid
      if (given != null) uid = Buffer.from(given).toString('hex')
      offers.push((offers.pop() ?? 0) + Number(offerOf(answer) !== null))
    }
    for (let life = 0; life < LIVES; life++) {
      const { flags } = await poll(GATEWAY, at++, elderSays)
      elderSays = (Number(flags ?? 0) & 1) !== 0 ? full(applied(2)) : {}
      offers.push(0)
      await say(0, { ...full(status), ...dying })
      await say(1, { ...applying(2), ...dying })
    }
    return { offers, uid }
  }

  it.each<[string, PlainMessage, PlainMessage]>([
    ['cannot report', { capabilities: MUTE }, { capabilities: MUTE, remoteConfigStatus: null }],
    ['reports that it applies it', applied(1), {}],
  ])('is told apart where it %s, and offered the config three times more', async (_, status, dying) => {
    const { offers, uid } = await letDie(status, dying)
    expect(uid).not.toBe(UID)
    expect(offers.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(9)
    expect(offers.slice(LIVES / 2)).toEqual(new Array(LIVES / 2).fill(0))
    const workload = ctx.fleet.state.instances.get(uid)!.workload!
    expect([...workload.quarantinedInstances.get(config(2).hash)!]).toEqual([uid])
    const { targets } = workload.active!
    expect(targets.get(uid)!.error).toMatchObject({ cause: 'lost_while_applying' })
    expect(targets.get(UID)).toMatchObject({ state: 'applied' })
  })
})
