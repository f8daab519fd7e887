import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { encodeServerToAgent } from '../../../lib/opamp/codec.ts'
import type { AgentReport, ServerMessage } from '../../../lib/opamp/report.ts'
import {
  READ_ONLY,
  type SimulatedAgent,
  type SimulatedAgentOptions,
  startSimulatedAgent,
} from '../../../runtime/quickstart/simulated-agent.ts'
import { startTestListener, type TestListener } from '../../support/opamp-listener.ts'

let listener: TestListener
const agents: SimulatedAgent[] = []
beforeEach(() => {
  listener = startTestListener()
})
afterEach(() => {
  for (const agent of agents.splice(0)) agent.kill()
  listener.close()
})

function start(options: Partial<SimulatedAgentOptions> = {}): SimulatedAgent {
  const agent = startSimulatedAgent({
    url: `ws://${listener.url}`,
    beatMs: 0,
    reconnectMs: 1,
    behaviour: { kind: 'apply', delayMs: 1 },
    ...options,
  })
  agents.push(agent)
  return agent
}

const reports = (): AgentReport[] => listener.fleet.received.map(({ report }) => report)
const statuses = () =>
  reports().flatMap(({ remoteConfigStatus }) => (remoteConfigStatus ? [remoteConfigStatus.status] : []))

const GOOD = `receivers: { otlp: {} }
exporters: { debug: {} }
service: { pipelines: { logs: { receivers: [otlp], exporters: [debug] } } }
`
const hashOf = (yaml: string) => createHash('sha256').update(yaml).digest()
const offerOf = (yaml: string): ServerMessage => ({
  remoteConfig: { hash: hashOf(yaml), body: Buffer.from(yaml) },
})

/** Push to the agent on its own connection, as the fleet does. */
function push(message: ServerMessage): void {
  const { connection, report } = listener.fleet.received[0]!
  connection.send(encodeServerToAgent(report.uidOnWire, message))
}

const hasSaid = (agent: SimulatedAgent, status: number) =>
  agent.until(`status ${status}`, ({ said }) =>
    said.some((part) => (part['remoteConfigStatus'] as { status: number } | undefined)?.status === status),
  )

describe('what it says', () => {
  test('the first message holds everything but the component list', async () => {
    const agent = start({ nonIdentifying: { 'host.name': 'vm-1' } })
    await listener.fleet.hasReceived(1)
    const [report] = reports()
    expect(report!.uid).toBe(agent.uidHex())
    expect(Object.fromEntries(report!.attributes!)).toEqual({
      'service.name': 'otelcol-contrib',
      'service.version': '0.149.0',
      'host.name': 'vm-1',
    })
    expect(report!.health).toMatchObject({ healthy: true, status: 'StatusOK' })
    expect([...report!.health!.children.keys()]).toEqual(['extensions', 'pipeline:traces'])
    expect(report!.remoteConfigStatus).toEqual({ hash: '', status: 'unset', errorMessage: '' })
    expect(report!.components).toMatchObject({
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      components: null,
    })
  })

  test('asked for the components it sends them alone; asked for the full state it sends all', async () => {
    start()
    await listener.fleet.hasReceived(1)
    push({ reportAvailableComponents: true })
    await listener.fleet.hasReceived(2)
    push({ reportFullState: true })
    await listener.fleet.hasReceived(3)
    const [, components, full] = reports()
    expect(components!.attributes).toBeNull()
    expect(components!.components!.components!.get('exporters')).toContain('otlphttp')
    expect(full).toMatchObject({ sequenceNum: 2, components: { hash: components!.components!.hash } })
    expect(full!.attributes!.get('service.name')).toBe('otelcol-contrib')
  })

  test('it beats by itself, and as often as it is told', async () => {
    const agent = start({ beatMs: 1 })
    await listener.fleet.hasReceived(4)
    expect(reports()[3]).toMatchObject({ sequenceNum: 3, attributes: null, health: null })
    push({ heartbeatIntervalSeconds: 45 })
    await agent.until('the interval', (running) => running.beatMs() === 45_000)
  })

  test('on a new connection it says nothing but that it is there; a goodbye says goodbye', async () => {
    const agent = start()
    await listener.fleet.hasReceived(1)
    agent.crash()
    await listener.fleet.hasReceived(2)
    expect(reports()[1]).toMatchObject({ sequenceNum: 1, attributes: null, isDisconnect: false })
    await agent.stop()
    await listener.fleet.hasReceived(3)
    expect(reports()[2]).toMatchObject({ isDisconnect: true, health: { healthy: false } })
    await listener.fleet.hasClosed(2)
  })

  test('it takes a new uid and presents itself again', async () => {
    const agent = start()
    await listener.fleet.hasReceived(1)
    push({ newInstanceUid: Uint8Array.from({ length: 16 }, (_, i) => i) })
    await listener.fleet.hasReceived(2)
    expect(reports()[1]!.uid).toBe('000102030405060708090a0b0c0d0e0f')
    expect(agent.uidHex()).toBe('000102030405060708090a0b0c0d0e0f')
  })
})

describe('how it takes an offer', () => {
  test('a config that works: APPLYING, then APPLIED with the new effective config', async () => {
    const agent = start()
    await listener.fleet.hasReceived(1)
    push(offerOf(GOOD))
    await hasSaid(agent, 1)
    await listener.fleet.hasReceived(4)
    expect(statuses()).toEqual(['unset', 'applying', 'applied'])
    expect(reports().at(-1)!.remoteConfigStatus!.hash).toBe(hashOf(GOOD).toString('hex'))
    const body = reports()
      .map(({ effectiveConfig }) => effectiveConfig?.files.get('')?.body)
      .findLast((bytes) => bytes !== undefined)
    const effective = parse(Buffer.from(body!).toString())
    expect(effective).toMatchObject(parse(GOOD))
    expect(effective.extensions.opamp.instance_uid).toBe(agent.uidHex())
    expect(effective.service.telemetry.resource['service.name']).toBe('otelcol-contrib')
  })

  test.each([
    ['an exporter it lacks', GOOD.replaceAll('debug', 'kafka'), 'unknown type: "kafka"'],
    ['a pipeline part that is not configured', GOOD.replace('[otlp]', '[otlp/2]'), 'not configured'],
    ['no YAML', 'a: [', 'cannot unmarshal'],
  ])('%s: FAILED, unhealthy, and it goes on with a good one', async (_, yaml, why) => {
    const agent = start()
    await listener.fleet.hasReceived(1)
    push(offerOf(yaml))
    await hasSaid(agent, 3)
    push(offerOf(GOOD))
    await hasSaid(agent, 1)
    await agent.until('healthy', ({ said }) => said.length === 7)
    await listener.fleet.hasReceived(7)
    expect(statuses()).toEqual(['unset', 'applying', 'failed', 'applying', 'applied'])
    const failed = reports().find(({ remoteConfigStatus }) => remoteConfigStatus?.status === 'failed')
    expect(failed!.remoteConfigStatus!.errorMessage).toContain(why)
    expect(reports().flatMap(({ health }) => (health ? [health.healthy] : []))).toEqual([true, false, true])
  })

  test('the same config again: APPLIED at once', async () => {
    const agent = start({ initialConfig: GOOD })
    await listener.fleet.hasReceived(1)
    push(offerOf(GOOD))
    await hasSaid(agent, 1)
    await listener.fleet.hasReceived(2)
    expect(statuses()).toEqual(['unset', 'applied'])
  })

  test('an exporter that sends where nothing is fails its pipeline, until a config sends elsewhere', async () => {
    const to = (host: string) => GOOD.replace('debug: {}', `otlphttp: { endpoint: "https://${host}:4318" }`)
    const lost = to('nowhere.example').replace('[debug]', '[otlphttp]')
    const agent = start({ initialConfig: lost, unreachableHosts: ['nowhere.example'] })
    await listener.fleet.hasReceived(1)
    const [report] = reports()
    expect(report!.health).toMatchObject({ healthy: false, status: 'StatusRecoverableError' })
    const pipeline = report!.health!.children.get('pipeline:logs')!
    expect([...pipeline.children].map(([name, { healthy }]) => [name, healthy])).toEqual([
      ['receiver:otlp', true],
      ['exporter:otlphttp', false],
    ])
    expect(pipeline.children.get('exporter:otlphttp')!.lastError).toContain('no such host')
    push(offerOf(lost.replace('nowhere', 'somewhere')))
    await hasSaid(agent, 1)
    expect(agent.said.findLast((part) => 'health' in part)).toMatchObject({ health: { healthy: true } })
  })

  test('read only: nothing happens', async () => {
    const agent = start({ capabilities: READ_ONLY })
    await listener.fleet.hasReceived(1)
    push(offerOf(GOOD))
    await agent.until('the offer', ({ heard }) => heard.some(({ remoteConfig }) => remoteConfig))
    agent.beat()
    await listener.fleet.hasReceived(2)
    expect(agent.collector.offeredHashes).toEqual([])
    expect(statuses()).toEqual([])
  })

  test('silent: it is offered and says nothing', async () => {
    const agent = start({ behaviour: { kind: 'silent' } })
    await listener.fleet.hasReceived(1)
    push(offerOf(GOOD))
    await agent.until('the offer', ({ collector }) => collector.offeredHashes.length === 1)
    agent.beat()
    await listener.fleet.hasReceived(2)
    expect(statuses()).toEqual(['unset'])
  })

  test('crash: it is gone after each offer and comes back bare', async () => {
    const agent = start({ behaviour: { kind: 'crash' } })
    await listener.fleet.hasReceived(1)
    push(offerOf(GOOD))
    await listener.fleet.hasClosed(1)
    await agent.until('the return', (back) => back.isConnected() && back.said.length === 2)
  })

  test('a restart with its storage kept reports what it last had', async () => {
    const first = start()
    await listener.fleet.hasReceived(1)
    push(offerOf(GOOD))
    await hasSaid(first, 1)
    await listener.fleet.hasReceived(4)
    const { storage, uid } = first.collector
    first.kill()
    start({ storage, uid })
    await listener.fleet.hasReceived(5)
    expect(reports()[4]).toMatchObject({
      uid: first.uidHex(),
      sequenceNum: 0,
      remoteConfigStatus: { status: 'applied', hash: hashOf(GOOD).toString('hex') },
    })
  })
})

test('over HTTP it polls, and takes an offer from an answer', async () => {
  const { fleet } = listener
  const agent = start({ url: `http://${listener.url}` })
  await agent.until('an answer', ({ heard }) => heard.length === 1)
  fleet.answer = offerOf(GOOD)
  agent.beat()
  await agent.until('the offer', ({ collector }) => collector.offeredHashes.length === 1)
  fleet.answer = {}
  await hasSaid(agent, 1)
  await agent.stop()
  expect(statuses()).toEqual(['unset', 'applying', 'applied'])
  expect(reports().at(-1)!.isDisconnect).toBe(true)
  expect(new Set(fleet.received.map(({ connection }) => connection)).size).toBe(1)
})

test('until says what was waited for in vain', async () => {
  const agent = start()
  await expect(agent.until('a miracle', () => false, 1)).rejects.toThrow('waited 1 ms for: a miracle')
})
