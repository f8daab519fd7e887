import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { AGENT_LIMITS } from '../../lib/fleet/state/agent-limits.ts'
import { AgentToServer } from '../../lib/opamp/schema.ts'
import { openWire, postAgent } from '../support/agent-wire.ts'
import { eventually } from '../support/eventually.ts'
import { agentFrame, keyValues, uidBytes } from '../support/opamp-messages.ts'
import { approveConfig, configOf, type FaultFleet, startFaultFleet } from './support/fleet.ts'
import { chooseMetrics, type MetricsReader } from './support/metrics.ts'

const AGENTS = 20
const MIB = 1_048_576
let fleet: FaultFleet
let metrics: MetricsReader
let url: string

beforeAll(async () => {
  metrics = await chooseMetrics()
  fleet = await startFaultFleet({ agents: AGENTS, env: metrics.env })
  url = fleet.service.opampHttpUrl.replace('http://', '')
  fleet.load.beats({ intervalMs: 200 })
})
afterAll(() => fleet.end())

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function residentMib(): number {
  const text = readFileSync(`/proc/${fleet.service.process().pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(text)![1]) / 1024
}

/** Run an attack, and check that every honest agent stays connected and is answered meanwhile. */
async function whileHonestAgentsAreServed(harm: () => Promise<void>): Promise<void> {
  fleet.load.resetStats()
  await harm()
  await pause(500)
  const stats = fleet.load.stats()
  expect(stats.open).toBe(AGENTS)
  expect(stats.errors).toBe(0)
  expect(stats.replies.count).toBeGreaterThan(AGENTS)
  expect(stats.replies.max).toBeLessThan(3_000)
  expect(fleet.service.process().hasEnded()).toBe(false)
}

const description = (n: number) => ({
  instanceUid: uidBytes(n),
  capabilities: 0x1807,
  agentDescription: {
    identifyingAttributes: keyValues({ 'service.name': 'otelcol' }),
    nonIdentifyingAttributes: keyValues({ 'host.name': 'hostile' }),
  },
})

describe('agents that do harm', () => {
  test('one that never reads costs its backpressure limit and no more', async () => {
    const before = residentMib()
    await whileHonestAgentsAreServed(async () => {
      const socket = new WebSocket(`ws://${url}`, { perMessageDeflate: false })
      await once(socket, 'open')
      socket.pause()
      const frame = agentFrame({ ...description(1), sequenceNum: 0 })
      for (let n = 0; n < 30_000; n++) socket.send(frame)
      await pause(2_000)
      await fleet.service.api.post(
        await approveConfig(fleet, configOf('to a deaf one')),
        { comment: 'go' },
        202,
      )
      await pause(500)
      socket.terminate()
    })
    expect(residentMib() - before).toBeLessThan(150)
  })

  test('one that reads late and writes byte by byte gets its answers', async () => {
    await whileHonestAgentsAreServed(async () => {
      const wire = await openWire(url)
      await wire.exchange({ ...description(5), sequenceNum: 0 })
      wire.socket.pause()
      for (let n = 1; n <= 200; n++)
        wire.send({ instanceUid: uidBytes(5), sequenceNum: n, capabilities: 0x1807 })
      await pause(500)
      wire.socket.resume()
      for (let n = 1; n <= 200; n++) await wire.next()
      wire.close()

      // A frame that comes byte by byte.
      const { hostname, port } = new URL(fleet.service.opampHttpUrl)
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      socket.write(
        'GET /v1/opamp HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
      )
      await once(socket, 'data')
      const frame = agentFrame({ ...description(6), sequenceNum: 0 })
      const bytes = Buffer.concat([
        Buffer.from([0x82, 0xfe, frame.length >> 8, frame.length & 255, 0, 0, 0, 0]),
        frame,
      ])
      const answered = once(socket, 'data')
      for (const byte of bytes) {
        socket.write(Buffer.from([byte]))
        await pause(2)
      }
      await answered
      socket.destroy()
    })
  })

  test('one that makes up uids gets so many and no more, and they are gone with it', async () => {
    const { perConnection } = AGENT_LIMITS
    const held = await metrics.read('muster_agents_held')
    const refused = await metrics.read('muster_opamp_agents_refused_total')
    await whileHonestAgentsAreServed(async () => {
      const wire = await openWire(url)
      for (let n = 0; n < perConnection + 50; n++)
        wire.send({ instanceUid: uidBytes(100_000 + n), sequenceNum: 0 })
      for (let n = 0; n < perConnection; n++) expect(await wire.next()).not.toHaveProperty('errorResponse')
      for (let n = 0; n < 50; n++) {
        const { errorResponse } = (await wire.next()) as { errorResponse: Record<string, unknown> }
        expect(errorResponse).toMatchObject({ type: 2, retryInfo: { retryAfterNanoseconds: 30e9 } })
        expect(errorResponse['errorMessage']).toContain(`it carries ${perConnection}`)
      }
      // An agent that is already on this socket is still served.
      expect(await wire.exchange({ instanceUid: uidBytes(100_000), sequenceNum: 1 })).not.toHaveProperty(
        'errorResponse',
      )
      expect(await metrics.read('muster_agents_held')).toBe(held + perConnection)
      expect(await metrics.read('muster_opamp_agents_refused_total')).toBe(refused + 50)
      wire.cut()
      await eventually('they are forgotten', async () => (await metrics.read('muster_agents_held')) === held)
    })
  })

  test('many that lie about their uid each get answers, and the agent they play stays', async () => {
    await whileHonestAgentsAreServed(async () => {
      const wires = await Promise.all(Array.from({ length: 10 }, () => openWire(url)))
      for (let round = 0; round < 50; round++) {
        for (const wire of wires) wire.send({ ...description(2), sequenceNum: round * 7 })
      }
      for (const wire of wires) for (let n = 0; n < 50; n++) await wire.next()
      for (const wire of wires) wire.close()
    })
  })

  test('a message of 64 MiB is refused and costs its sender the connection', async () => {
    await whileHonestAgentsAreServed(async () => {
      const wire = await openWire(url)
      wire.sendBytes(Buffer.alloc(64 * MIB))
      expect([1006, 1009]).toContain((await wire.ended).code)
    })
  })

  test('a length of 4 GiB that is only announced reserves nothing', async () => {
    const before = residentMib()
    await whileHonestAgentsAreServed(async () => {
      const { hostname, port } = new URL(fleet.service.opampHttpUrl)
      const sockets = Array.from({ length: 50 }, () => connect({ host: hostname, port: Number(port) }))
      for (const socket of sockets) {
        socket.on('error', () => undefined)
        socket.write(
          'GET /v1/opamp HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
            'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
        )
        await once(socket, 'data')
        socket.write(Buffer.from('82ff00000001000000000000000000', 'hex'))
      }
      await pause(300)
      for (const socket of sockets) socket.destroy()
    })
    expect(residentMib() - before).toBeLessThan(100)
  })

  test('a deep health tree, broken protobuf and text are answered, and the socket goes on', async () => {
    await whileHonestAgentsAreServed(async () => {
      const wire = await openWire(url)
      let health: Record<string, unknown> = { healthy: true }
      for (let depth = 0; depth < 90; depth++) health = { healthy: true, componentHealthMap: { a: health } }
      const deep = AgentToServer.encode(AgentToServer.fromObject({ ...description(3), health })).finish()
      wire.sendBytes(Buffer.concat([Buffer.from([0]), deep]))
      expect(await wire.next()).toMatchObject({ errorResponse: { type: 1 } })
      for (const bytes of ['00ffffffff', '000a10', '0a', '00', 'ffffffffffffffffffffffff']) {
        wire.sendBytes(Buffer.from(bytes, 'hex'))
        expect(await wire.next()).toHaveProperty('errorResponse')
      }
      expect(await wire.exchange({ ...description(3), sequenceNum: 9 })).not.toHaveProperty('errorResponse')
      wire.close()
    })
  })

  test('a gzip bomb is refused before it is blown up', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * MIB))
    const before = residentMib()
    await whileHonestAgentsAreServed(async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => postAgent(url, bomb, { 'Content-Encoding': 'gzip' })),
      )
      for (const { status } of answers) expect([413, 503]).toContain(status)
    })
    expect(residentMib() - before).toBeLessThan(250)
  })

  test('a flood from one socket does not starve the others', async () => {
    await whileHonestAgentsAreServed(async () => {
      const wire = await openWire(url)
      for (let n = 0; n < 20_000; n++) wire.send({ ...description(4), sequenceNum: n })
      for (let n = 0; n < 20_000; n++) await wire.next()
      wire.close()
    })
  })
})

test('a storm of logins stalls no agent', async () => {
  await whileHonestAgentsAreServed(async () => {
    const login = (n: number) =>
      fetch(`${fleet.service.url}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: `nobody-${n}@example.com`, password: 'a wrong password' }),
      }).then(({ status }) => status)
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, n) => login(n)))
    for (const status of statuses) expect([401, 429, 503]).toContain(status)
    expect(statuses).toContain(429)
  })
})
