import { request } from 'node:http'
import { createOpAMPClient } from '@elastic/opamp-client-node'
import { afterEach, describe, expect, test } from 'vitest'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import { type AgentWire, openWire, postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { type FleetServer, sha256Hex, startFleetServer } from '../../support/fleet-server.ts'
import { agentBody, hex, keyValues, type PlainMessage, uidBytes } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'

/** The behaviours of OpAMP clients in use, each as it was observed. The server has to get along with all of them. */

const database = await useTestDatabase()
let server: FleetServer
const wires: AgentWire[] = []
// Each test has uids and a host of its own: they share one database.
let tests = 0
const uid = (n = 1) => uidBytes(5_000 + tests * 10 + n)
const uidHex = (n = 1) => Buffer.from(uid(n)).toString('hex')

async function start(): Promise<void> {
  server = await startFleetServer(database)
}
async function wire(): Promise<AgentWire> {
  const opened = await openWire(server.url)
  wires.push(opened)
  return opened
}
afterEach(async () => {
  for (const opened of wires.splice(0)) opened.cut()
  await server.stop()
  tests += 1
})

const FULL_STATE = 1
const CONFIG = 'receivers: { otlp: {} }\n'
const flagsOf = (answer: PlainMessage): number => (answer['flags'] as number | undefined) ?? 0
const description = () => ({
  agentDescription: {
    identifyingAttributes: keyValues({ 'service.name': 'otelcol-client', 'host.name': `client-${tests}` }),
  },
})
const message = (sequenceNum: number, more: PlainMessage = {}): PlainMessage => ({
  instanceUid: uid(),
  sequenceNum,
  capabilities: 0x1807,
  ...more,
})
const poll = async (sent: PlainMessage) => (await postAgent(server.url, sent)).message()
const eventTypes = async () =>
  (await server.events())
    .filter(({ instanceUid }) => instanceUid === uidHex())
    .map(({ eventType }) => eventType)

describe('go', () => {
  test('sends its request in chunks, without a length', async () => {
    await start()
    const body = await new Promise<Buffer>((resolve, reject) => {
      const call = request(`http://${server.url}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/x-protobuf',
          'Transfer-Encoding': 'chunked',
          'OpAMP-Instance-UID': '0192d3b4-0000-7000-8000-000000000001',
          'Accept-Encoding': 'gzip',
        },
      })
      call.on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks)))
      })
      call.on('error', reject)
      const bytes = Buffer.from(agentBody(message(0, description())))
      call.write(bytes.subarray(0, 20))
      call.end(bytes.subarray(20))
    })
    expect(body.subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))
    expect(server.live(uidHex())).toBeDefined()
  })

  test('comes back at once with an empty message and the next number, and is asked nothing', async () => {
    await start()
    const first = await wire()
    await first.exchange(message(0, { ...description(), remoteConfigStatus: {}, packageStatuses: {} }))
    first.cut()
    await eventually('it is away', () => server.live(uidHex()) === undefined)
    const second = await wire()
    expect(flagsOf(await second.exchange(message(1)))).toBe(0)
    expect(server.live(uidHex())).toBeDefined()
  })
})

describe('java', () => {
  const java = (sequenceNum: number, more: PlainMessage = {}) =>
    message(sequenceNum, { capabilities: 0x1006, ...more })

  test('begins bare at number 2, is asked once, and is not asked again while it takes its time', async () => {
    await start()
    const opened = await wire()
    expect(flagsOf(await opened.exchange(java(2)))).toBe(FULL_STATE)
    const effectiveConfig = { configMap: { configMap: { '': { body: Buffer.from('a: 1') } } } }
    for (let sequenceNum = 3; sequenceNum < 8; sequenceNum++) {
      expect(flagsOf(await opened.exchange(java(sequenceNum, { effectiveConfig })))).toBe(0)
    }
    expect(server.live(uidHex())).toBeUndefined()
    expect(flagsOf(await opened.exchange(java(8, description())))).toBe(0)
    expect(server.live(uidHex())).toMatchObject({ capabilities: 0x1006, health: null })
  })

  test('is cut, not closed, when the server wants it to leave: a Close frame strands it', async () => {
    await start()
    const opened = await wire()
    await opened.exchange(java(2, description()))
    server.live(uidHex())!.connection!.drop()
    expect((await opened.ended).code).toBe(1006)
  })
})

describe('python', () => {
  test('sends the same bytes again after a failure, and numbers jump: both are answered, the jump asked about', async () => {
    await start()
    await poll(message(0, description()))
    for (let i = 0; i < 3; i++) expect(flagsOf(await poll(message(1)))).toBe(0)
    expect(flagsOf(await poll(message(4)))).toBe(FULL_STATE)
    for (let sequenceNum = 5; sequenceNum < 9; sequenceNum++)
      expect(flagsOf(await poll(message(sequenceNum)))).toBe(0)
    expect(await eventTypes()).toEqual(['connected'])
  })

  test('gives messages that were queued together one number: each counts', async () => {
    await start()
    await poll(message(0, description()))
    await poll(message(1))
    const lastRemoteConfigHash = hex(sha256Hex(CONFIG))
    const answer = await poll(message(1, { remoteConfigStatus: { lastRemoteConfigHash, status: 1 } }))
    expect(flagsOf(answer)).toBe(0)
    expect(server.live(uidHex())!.appliedHash).toBe(sha256Hex(CONFIG))
  })

  test('says goodbye twice, with a beat in between: it stays gone, with one event', async () => {
    await start()
    await poll(message(0, description()))
    await poll(message(1, { agentDisconnect: {} }))
    expect(flagsOf(await poll(message(1)))).toBe(0)
    await poll(message(2, { agentDisconnect: {} }))
    expect(server.live(uidHex())).toBeUndefined()
    expect(await eventTypes()).toEqual(['connected', 'disconnected'])
  })
})

describe('rust, with the protocol of 2023', () => {
  test('has a text ULID and no header byte, and is listed, offered and answered in its own form', async () => {
    await start()
    const text = Buffer.from('01ARZ3NDEKTSV4RRFFQ69G5FA'.slice(0, 24) + String(10 + tests))
    const opened = await wire()
    const say = async (sequenceNum: number, more: PlainMessage = {}) => {
      opened.sendBytes(agentBody(message(sequenceNum, { instanceUid: text, ...more })))
      return opened.next()
    }
    const first = await say(1, { ...description(), remoteConfigStatus: {} })
    expect(first['instanceUid']).toEqual(text)
    const [instance] = [...server.fleet.state.instances.values()]
    expect(instance!.uid).toMatch(/^[0-9a-f]{32}$/)
    await server.push(instance!.workload!.id, CONFIG)
    const offered = await opened.next()
    expect(offered['instanceUid']).toEqual(text)
    expect(offered['remoteConfig']).toBeDefined()
  })

  test('asks by HEAD first, with a header of its own', async () => {
    await start()
    const status = await new Promise((resolve, reject) => {
      const call = request(`http://${server.url}`, { method: 'HEAD', headers: { 'api-key': '' } })
      call.on('response', (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      call.on('error', reject)
      call.end()
    })
    expect(status).not.toBe(404)
  })
})

describe('node (Elastic), as published', () => {
  type Client = ReturnType<typeof createOpAMPClient>
  type Options = Parameters<typeof createOpAMPClient>[0]

  test('is listed, takes a push in the answer to a poll, and its APPLIED is counted', async () => {
    await start()
    const client: Client = createOpAMPClient({
      endpoint: `http://${server.url}`,
      instanceUid: uid(),
      capabilities: BigInt(AGENT_CAPABILITIES.acceptsRemoteConfig | AGENT_CAPABILITIES.reportsRemoteConfig),
      heartbeatIntervalSeconds: 0.1,
      onMessage({ remoteConfig }: { remoteConfig?: { configHash: Uint8Array } }) {
        if (remoteConfig === undefined) return
        client.setRemoteConfigStatus({
          status: 1,
          lastRemoteConfigHash: remoteConfig.configHash,
        } as unknown as Parameters<Client['setRemoteConfigStatus']>[0])
      },
    } as unknown as Options)
    client.setAgentDescription({
      identifyingAttributes: { 'service.name': 'otelcol-node', 'host.name': `client-${tests}` },
    })
    client.start()
    try {
      await eventually('it is live', () => server.live(uidHex()) !== undefined)
      // This client reports no remote config status until it has a config; after a minute the server takes that for
      // none.
      await eventually('what it runs was asked', () => {
        const instance = server.live(uidHex())!
        return instance.reported.isKnown || instance.fullStateAskedMs > 0
      })
      server.clock.advance(61_000)
      await eventually('what it runs counts as none', () => server.live(uidHex())!.reported.isKnown)
      const { id } = server.live(uidHex())!.workload!
      await server.push(id, CONFIG)
      await eventually('it is applied', () => server.fleet.workload(id)!.newestPush!.status === 'applied')
      expect(server.live(uidHex())!.appliedHash).toBe(sha256Hex(CONFIG))
      expect(await eventTypes()).toEqual(['connected'])
    } finally {
      await client.shutdown()
    }
  })
})

describe('agents that move', () => {
  test('from a socket to polling and back, one agent stays one', async () => {
    await start()
    const first = await wire()
    await first.exchange(message(0, description()))
    expect(flagsOf(await poll(message(1)))).toBe(0)
    first.cut()
    await eventually('the socket is gone', () => server.fleet.state.byConnection.size === 1)
    expect(server.live(uidHex())!.connection!.transport).toBe('http')
    const second = await wire()
    expect(flagsOf(await second.exchange(message(2)))).toBe(0)
    expect(server.live(uidHex())!.connection!.transport).toBe('ws')
    expect(await eventTypes()).toEqual(['connected'])
  })
})
