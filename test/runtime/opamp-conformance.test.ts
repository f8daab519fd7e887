import { connect } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type AgentWire, openWire, postAgent } from '../support/agent-wire.ts'
import { eventually, type FleetServer, sha256Hex, startFleetServer } from '../support/fleet-server.ts'
import {
  agentFrame,
  hex,
  keyValues,
  type PlainMessage,
  readServerBody,
  readServerFrame,
  uidBytes,
} from '../support/opamp-messages.ts'
import { useTestDatabase } from '../support/postgres.ts'

/**
 * The conformance list of OpAMP servers, statement by statement, against the real listener, the real fleet
 * and a real database. Two statements do not hold by decision: 25 (an operator's new push of a failed hash is
 * offered) and 48 (agents get no Close frame on a stop, because it strands one of them).
 */

const database = await useTestDatabase()
let server: FleetServer
const wires: AgentWire[] = []
// Each test has uids and a host of its own: they share one database.
let tests = 0
const uid = (n: number) => uidBytes(tests * 100 + n)
const uidHex = (n: number) => Buffer.from(uid(n)).toString('hex')

async function start(options: Parameters<typeof startFleetServer>[1] = {}): Promise<FleetServer> {
  server = await startFleetServer(database, options)
  return server
}
async function wire(headers: Record<string, string> = {}): Promise<AgentWire> {
  const opened = await openWire(server.url, headers)
  wires.push(opened)
  return opened
}
afterEach(async () => {
  for (const opened of wires.splice(0)) opened.cut()
  await server.stop()
  tests += 1
})

/** ReportsStatus, AcceptsRemoteConfig, ReportsEffectiveConfig, ReportsHealth, ReportsRemoteConfig. */
const SUPERVISED = 0x1807
const READ_ONLY = 0x0805
const WITH_COMPONENTS = SUPERVISED | 0x4000
const FULL_STATE = 1
const COMPONENTS = 2

const beat = (n: number, sequenceNum: number, more: PlainMessage = {}): PlainMessage => ({
  instanceUid: uid(n),
  sequenceNum,
  capabilities: SUPERVISED,
  ...more,
})
const description = (more: Record<string, string> = {}): PlainMessage => ({
  identifyingAttributes: keyValues({ 'service.name': 'otelcol', 'service.version': '0.149.0', ...more }),
  nonIdentifyingAttributes: keyValues({ 'host.name': `host-${tests}` }),
})
/** A complete report of an agent that never got a config. */
const full = (n: number, sequenceNum = 0, more: PlainMessage = {}): PlainMessage =>
  beat(n, sequenceNum, {
    agentDescription: description(),
    health: { healthy: true, status: 'StatusOK' },
    remoteConfigStatus: {},
    ...more,
  })
const status = (hash: string, number: 1 | 2 | 3, errorMessage = ''): PlainMessage => ({
  remoteConfigStatus: { lastRemoteConfigHash: hex(hash), status: number, errorMessage },
})
const CONFIG = 'receivers: { otlp: {} }\n'
const OTHER = 'receivers: { otlp: {} }\nexporters: { debug: {} }\n'

const flagsOf = (answer: PlainMessage): number => (answer['flags'] as number | undefined) ?? 0
const offerOf = (answer: PlainMessage) => {
  const offer = answer['remoteConfig'] as
    | { config: { configMap: Record<string, { body: Buffer; contentType: string }> }; configHash: Buffer }
    | undefined
  return offer && { hash: offer.configHash.toString('hex'), files: offer.config.configMap }
}
const workloadOf = (n: number): string => server.live(uidHex(n))!.workload!.id

/** A described agent on a socket of its own, with its first answer behind it. */
async function join(n: number, more: PlainMessage = {}): Promise<AgentWire> {
  const opened = await wire()
  await opened.exchange(full(n, 0, more))
  return opened
}

/** Send beats until the server pushes an offer or gives one in an answer. */
async function nextOffer(opened: AgentWire) {
  for (;;) {
    const offer = offerOf(await opened.next())
    if (offer !== undefined) return offer
  }
}

describe('the connection', () => {
  test('1: an upgrade on the path yields 101, on another path it does not', async () => {
    await start()
    await wire()
    const other = await openWire(server.url.replace('opamp', 'other')).catch((error) => error)
    expect(other).toMatchObject({ status: 404 })
  })

  test('2: a missing or wrong secret yields 401 on upgrade and POST, before any message', async () => {
    await start({ secret: 'right' })
    for (const headers of [{}, { Authorization: 'Bearer wrong' }] as Record<string, string>[]) {
      expect(await openWire(server.url, headers).catch((error) => error)).toMatchObject({ status: 401 })
      expect((await postAgent(server.url, full(1), headers)).status).toBe(401)
    }
    expect(server.fleet.state.instances.size).toBe(0)
    const opened = await wire({ Authorization: 'Bearer right' })
    expect(await opened.exchange(full(1))).toMatchObject({ capabilities: 7 })
  })

  test('3, 4, 5: the first report gets one binary answer with the header, the uid, and defined capabilities', async () => {
    await start()
    const opened = await wire()
    const answer = await opened.exchange(full(1))
    expect(answer['instanceUid']).toEqual(Buffer.from(uid(1)))
    expect((answer['capabilities'] as number) & 0x1).toBe(1)
    expect((answer['capabilities'] as number) & ~0x7f).toBe(0)
    await opened.exchange(beat(1, 1))
    expect(opened.untaken()).toBe(0)
  })

  test('6: each later message gets one answer', async () => {
    await start()
    const opened = await join(1)
    for (let sequenceNum = 1; sequenceNum <= 20; sequenceNum++) {
      expect(await opened.exchange(beat(1, sequenceNum))).toMatchObject({ instanceUid: Buffer.from(uid(1)) })
    }
    expect(opened.untaken()).toBe(0)
  })

  test('7, 8: a wrong header and undecodable bytes are BAD_REQUEST, and the connection goes on', async () => {
    await start()
    const opened = await join(1)
    for (const bytes of [Buffer.concat([hex('01'), agentFrame(full(2)).subarray(1)]), hex('00ffffff')]) {
      opened.sendBytes(bytes)
      expect(await opened.next()).toMatchObject({ errorResponse: { type: 1 } })
    }
    expect(server.fleet.state.instances.size).toBe(1)
    expect(flagsOf(await opened.exchange(beat(1, 1)))).toBe(0)
  })

  test('9, 10: a uid of 0, 15 or 17 bytes is BAD_REQUEST alone, and no instance is made', async () => {
    await start()
    const opened = await wire()
    for (const length of [0, 15, 17]) {
      const answer = await opened.exchange({ ...full(1), instanceUid: new Uint8Array(length).fill(1) })
      expect(Object.keys(answer).filter((key) => key !== 'instanceUid')).toEqual(['errorResponse'])
      expect(answer).toMatchObject({ errorResponse: { type: 1 } })
    }
    expect(server.fleet.state.instances.size).toBe(0)
  })

  test('11: a text gets no answer and does no harm', async () => {
    await start()
    const opened = await join(1)
    opened.socket.send('a text')
    await opened.exchange(beat(1, 1))
    expect(opened.untaken()).toBe(0)
  })

  test('12: a report in three continuation frames is one', async () => {
    await start()
    const opened = await wire()
    const frame = agentFrame(full(1))
    opened.sendBytes(frame.subarray(0, 10), { fin: false })
    opened.sendBytes(frame.subarray(10, 40), { fin: false })
    opened.sendBytes(frame.subarray(40), { fin: true })
    expect(flagsOf(await opened.next())).toBe(0)
    expect(server.live(uidHex(1))).toBeDefined()
  })

  test('13: a message above the limit is not processed and closes with 1009', async () => {
    await start({ messageBytesMax: 2_000 })
    const opened = await wire()
    opened.send(full(1, 0, { customMessage: { data: new Uint8Array(2_000) } }))
    expect((await opened.ended).code).toBe(1009)
    expect(server.fleet.state.instances.size).toBe(0)
  })

  test('14: a compressed message cannot inflate above the limit: compression is never agreed on', async () => {
    await start({ messageBytesMax: 2_000 })
    const headers = { 'Content-Encoding': 'gzip' }
    const bomb = gzipSync(Buffer.alloc(1_000_000))
    expect((await postAgent(server.url, bomb, headers)).status).toBe(413)
    const socket = connect(Number(server.url.split(/[:/]/)[1]), '127.0.0.1')
    socket.on('error', () => {})
    const ended = new Promise((resolve) => void socket.on('close', resolve))
    socket.write(
      'GET /v1/opamp HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n',
    )
    const head = await new Promise<Buffer>((resolve) => void socket.once('data', resolve))
    expect(head.toString().toLowerCase()).not.toContain('sec-websocket-extensions')
    socket.write(hex('c28300000000000000'))
    await ended
  })

  test("15: a client that offers gorilla's parameters connects and round-trips", async () => {
    await start()
    const socket = new WebSocket(`ws://${server.url}`, {
      perMessageDeflate: { serverNoContextTakeover: true, clientNoContextTakeover: true },
    })
    const answer = new Promise<Buffer>((resolve) => void socket.on('message', resolve))
    await new Promise((resolve) => void socket.on('open', resolve))
    socket.send(agentFrame(full(1)))
    expect(readServerFrame(await answer)).toMatchObject({ capabilities: 7 })
    expect(socket.extensions).toBe('')
    socket.terminate()
  })
})

describe('full state and sequence numbers', () => {
  test('16: an unknown uid without a description is asked for its full state, once', async () => {
    await start()
    const opened = await wire()
    expect(flagsOf(await opened.exchange(beat(1, 5)))).toBe(FULL_STATE)
    expect(server.live(uidHex(1))).toBeUndefined()
    expect(flagsOf(await opened.exchange(beat(1, 6)))).toBe(0)
  })

  test('17: a jump by 2 is asked about, a step by 1 is not', async () => {
    await start()
    const opened = await join(1)
    expect(flagsOf(await opened.exchange(beat(1, 1)))).toBe(0)
    expect(flagsOf(await opened.exchange(beat(1, 3)))).toBe(FULL_STATE)
  })

  test('18: the same number again is answered, without flags and without change', async () => {
    await start()
    const opened = await join(1)
    await opened.exchange(beat(1, 1))
    const before = { ...server.live(uidHex(1)) }
    for (let i = 0; i < 5; i++) expect(flagsOf(await opened.exchange(beat(1, 1)))).toBe(0)
    expect(server.live(uidHex(1))).toMatchObject({ health: before.health, attributes: before.attributes })
  })

  test('19: a full report that answers the flag is not asked again', async () => {
    await start()
    const opened = await join(1)
    expect(flagsOf(await opened.exchange(beat(1, 9)))).toBe(FULL_STATE)
    expect(flagsOf(await opened.exchange(full(1, 10)))).toBe(0)
    expect(flagsOf(await opened.exchange(beat(1, 11)))).toBe(0)
  })

  test('a storm of gaps is asked about a few times, not each time', async () => {
    await start()
    const opened = await join(1)
    let asked = 0
    for (let i = 1; i <= 100; i++) asked += flagsOf(await opened.exchange(beat(1, i * 10)))
    expect(asked).toBeGreaterThan(0)
    expect(asked).toBeLessThan(10)
  })

  test('20: a bare heartbeat leaves everything as it was', async () => {
    await start()
    const opened = await join(1, {
      effectiveConfig: { configMap: { configMap: { '': { body: Buffer.from(OTHER) } } } },
      ...status(sha256Hex(CONFIG), 1),
    })
    await eventually('the effective config is known', () => server.live(uidHex(1))!.reportedConfigHash !== '')
    const { attributes, health, reportedConfigHash, reported, appliedHash } = server.live(uidHex(1))!
    await opened.exchange(beat(1, 1))
    expect(server.live(uidHex(1))).toMatchObject({
      attributes,
      health,
      reportedConfigHash,
      reported,
      appliedHash,
    })
  })
})

describe('remote config', () => {
  test('21: AcceptsRemoteConfig switched off takes effect at once', async () => {
    await start()
    const opened = await join(1)
    expect(server.fleet.workload(workloadOf(1))!.acceptsRemoteConfig).toBe(false)
    await eventually('it is capable', () => {
      server.fleet.writer.beforeFlush()
      return server.fleet.workload(workloadOf(1))!.acceptsRemoteConfig
    })
    await opened.exchange(beat(1, 1, { capabilities: READ_ONLY }))
    await expect(server.push(workloadOf(1), CONFIG)).rejects.toThrow('workload-not-connected')
    expect(offerOf(await opened.exchange(beat(1, 2, { capabilities: READ_ONLY })))).toBeUndefined()
  })

  test('22: an agent without AcceptsRemoteConfig is never offered anything, on push or on join', async () => {
    await start()
    const capable = await join(1)
    const readOnly = await join(2, { capabilities: READ_ONLY })
    await server.push(workloadOf(1), CONFIG)
    await nextOffer(capable)
    expect(offerOf(await readOnly.exchange(beat(2, 1, { capabilities: READ_ONLY })))).toBeUndefined()
    const late = await wire()
    expect(offerOf(await late.exchange(full(3, 0, { capabilities: READ_ONLY })))).toBeUndefined()
    for (let i = 1; i < 5; i++)
      expect(offerOf(await late.exchange(beat(3, i, { capabilities: READ_ONLY })))).toBeUndefined()
    expect(readOnly.untaken()).toBe(0)
  })

  test('23, 26: a joiner without a config is offered the active one, once, with the hash of its bytes', async () => {
    await start()
    const first = await join(1)
    await server.push(workloadOf(1), CONFIG)
    await nextOffer(first)
    const late = await wire()
    late.send(full(2))
    const offer = await nextOffer(late)
    expect(offer.hash).toBe(sha256Hex(CONFIG))
    expect(offer.files).toEqual({ '': { body: Buffer.from(CONFIG), contentType: 'text/yaml' } })
    for (let i = 1; i <= 10; i++) expect(offerOf(await late.exchange(beat(2, i)))).toBeUndefined()
    expect(late.untaken()).toBe(0)
  })

  test('24: an agent that reports the desired hash as applied is offered nothing', async () => {
    await start()
    const first = await join(1)
    await server.push(workloadOf(1), CONFIG)
    await nextOffer(first)
    await first.exchange(beat(1, 1, status(sha256Hex(CONFIG), 1)))
    const late = await join(2, status(sha256Hex(CONFIG), 1))
    for (let i = 1; i < 5; i++) expect(offerOf(await late.exchange(beat(2, i)))).toBeUndefined()
    expect(late.untaken()).toBe(0)
  })

  test('25, as decided: a hash that failed is not sent again, until an operator pushes it anew', async () => {
    await start()
    const opened = await join(1)
    await server.push(workloadOf(1), CONFIG)
    await nextOffer(opened)
    await opened.exchange(beat(1, 1, status(sha256Hex(CONFIG), 3, 'no')))
    await eventually('the push failed', () => {
      return server.fleet.workload(workloadOf(1))!.newestPush!.status === 'failed'
    })
    for (let i = 2; i < 7; i++) expect(offerOf(await opened.exchange(beat(1, i)))).toBeUndefined()
    expect(opened.untaken()).toBe(0)
    await server.push(workloadOf(1), CONFIG)
    expect((await nextOffer(opened)).hash).toBe(sha256Hex(CONFIG))
  })

  test('27: failed(B), then applied(A) from the agent itself: B is not offered again', async () => {
    await start()
    const [one, two] = [await join(1), await join(2)]
    await server.push(workloadOf(1), OTHER)
    await nextOffer(one)
    await nextOffer(two)
    const [a, b] = [sha256Hex(CONFIG), sha256Hex(OTHER)]
    await two.exchange(beat(2, 1, status(b, 1)))
    await eventually('it is applied somewhere', () => server.fleet.workload(workloadOf(1))!.active !== null)
    await one.exchange(beat(1, 1, status(b, 3, 'no')))
    await one.exchange(beat(1, 2, status(a, 1)))
    for (let i = 3; i < 8; i++) expect(offerOf(await one.exchange(beat(1, i)))?.hash).not.toBe(b)
  })

  test('28: FAILED for a hash that was never offered rolls nothing back', async () => {
    await start()
    const opened = await join(1)
    await server.push(workloadOf(1), CONFIG)
    await nextOffer(opened)
    await opened.exchange(beat(1, 1, status(sha256Hex(CONFIG), 1)))
    await opened.exchange(beat(1, 2, status('ab'.repeat(32), 3, 'foreign')))
    await opened.exchange(beat(1, 3))
    const workload = server.fleet.workload(workloadOf(1))!
    expect(workload.newestPush).toMatchObject({ status: 'applied', kind: 'approval' })
    expect(server.notices.rollbacks).toEqual([])
  })

  test('29, 30: a push arrives unasked, under the 16 raw bytes of the uid', async () => {
    await start()
    const opened = await join(1)
    await server.push(workloadOf(1), CONFIG)
    const pushed = await opened.next()
    expect(offerOf(pushed)?.hash).toBe(sha256Hex(CONFIG))
    expect(pushed['instanceUid']).toEqual(Buffer.from(uid(1)))
  })
})

describe('uids, and agents that come and go', () => {
  test('31: RequestInstanceUid yields a fresh UUIDv7, and the answer echoes the old uid', async () => {
    await start()
    const opened = await wire()
    const answer = await opened.exchange({ ...full(1), flags: 1 })
    const { newInstanceUid } = answer['agentIdentification'] as { newInstanceUid: Buffer }
    expect(newInstanceUid.length).toBe(16)
    expect(newInstanceUid[6]! >> 4).toBe(7)
    expect(newInstanceUid[8]! >> 6).toBe(2)
    expect(answer['instanceUid']).toEqual(Buffer.from(uid(1)))
    expect(server.fleet.state.instances.size).toBe(0)
  })

  test('32: two sockets that both talk under one uid: one of them is given a new uid', async () => {
    await start()
    const [first, second] = [await join(1), await join(1)]
    await first.exchange(beat(1, 7))
    const renamed = (answers: PlainMessage[]) => answers.some((answer) => 'agentIdentification' in answer)
    const answers = [await second.next()]
    expect(renamed(answers)).toBe(true)
    expect(answers[0]!['instanceUid']).toEqual(Buffer.from(uid(1)))
  })

  test('33: the old socket ends after the agent moved to a new one: it stays, and is pushed to there', async () => {
    await start()
    const old = await join(1)
    const fresh = await wire()
    await fresh.exchange(beat(1, 1))
    old.cut()
    await eventually('the old socket is gone', () => server.fleet.state.byConnection.size === 1)
    await fresh.exchange(beat(1, 2))
    expect(server.live(uidHex(1))).toBeDefined()
    await server.push(workloadOf(1), CONFIG)
    expect(offerOf(await fresh.next())?.hash).toBe(sha256Hex(CONFIG))
    const events = (await server.events()).filter(({ instanceUid }) => instanceUid === uidHex(1))
    expect(events.map(({ eventType }) => eventType)).toEqual(['connected'])
  })

  test('34: agent_disconnect ends the instance at once, answered, with one event', async () => {
    await start()
    const opened = await join(1)
    const last = await opened.exchange(beat(1, 1, { agentDisconnect: {} }))
    expect(last).toMatchObject({ instanceUid: Buffer.from(uid(1)) })
    expect(server.live(uidHex(1))).toBeUndefined()
    opened.close()
    await opened.ended
    const types = (await server.events())
      .filter(({ instanceUid }) => instanceUid === uidHex(1))
      .map(({ eventType }) => eventType)
    expect(types).toEqual(['connected', 'disconnected'])
  })

  test('a beat that overtook the goodbye does not bring the agent back', async () => {
    await start()
    const opened = await join(1)
    await opened.exchange(beat(1, 1, { agentDisconnect: {} }))
    expect(flagsOf(await opened.exchange(beat(1, 1)))).toBe(0)
    expect(server.live(uidHex(1))).toBeUndefined()
  })

  test('35: a socket that carried two agents is cut: both are gone', async () => {
    await start()
    const opened = await join(1)
    await opened.exchange(full(2))
    expect([1, 2].map((n) => server.live(uidHex(n)) !== undefined)).toEqual([true, true])
    opened.cut()
    await eventually('both are gone', () => !server.live(uidHex(1)) && !server.live(uidHex(2)))
    const gone = (await server.events()).filter(({ eventType }) => eventType === 'disconnected')
    expect(
      gone
        .map(({ instanceUid }) => instanceUid)
        .sort()
        .slice(-2),
    ).toEqual([uidHex(1), uidHex(2)])
  })

  test('36: a dead peer, which answers no ping, is dropped within the idle time', async () => {
    await start({ idleSeconds: 8 })
    const port = Number(server.url.split(/[:/]/)[1])
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const ended = new Promise((resolve) => void socket.on('close', resolve))
    socket.write(
      'GET /v1/opamp HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    await new Promise((resolve) => void socket.once('data', resolve))
    const frame = agentFrame(full(1))
    // FIN, binary; masked with zeros; a length of two bytes.
    const head = Buffer.from([0x82, 0x80 | 126, frame.length >> 8, frame.length & 255, 0, 0, 0, 0])
    socket.write(Buffer.concat([head, frame]))
    await eventually('it is live', () => server.live(uidHex(1)) !== undefined)
    await ended
    await eventually('it is gone', () => server.live(uidHex(1)) === undefined)
  })

  test('37: unknown components are asked for, the bare answer is kept, and only a new hash is asked for again', async () => {
    await start()
    const opened = await wire()
    const withHash = (hash: string, more: PlainMessage = {}) => ({
      capabilities: WITH_COMPONENTS,
      availableComponents: { hash: hex(hash), ...more },
    })
    const list = (...types: string[]) => ({
      components: {
        receivers: { subComponentMap: Object.fromEntries(types.map((type) => [type, {}])) },
      },
    })
    const [first, second] = [`a${tests}`.padEnd(8, '0'), `b${tests}`.padEnd(8, '0')]
    expect(flagsOf(await opened.exchange(full(1, 0, withHash(first))))).toBe(COMPONENTS)
    expect(flagsOf(await opened.exchange(beat(1, 1, withHash(first, list('otlp')))))).toBe(0)
    expect(server.live(uidHex(1))!.components!.components.get('receivers')).toEqual(['otlp'])
    expect(flagsOf(await opened.exchange(full(1, 2, withHash(first))))).toBe(0)
    expect(flagsOf(await opened.exchange(beat(1, 3, withHash(second))))).toBe(COMPONENTS)
    expect(flagsOf(await opened.exchange(beat(1, 4, { capabilities: WITH_COMPONENTS })))).toBe(0)
    await opened.exchange(beat(1, 5, withHash(second, list('otlp', 'kafka'))))
    expect(server.live(uidHex(1))!.components!.components.get('receivers')).toEqual(['kafka', 'otlp'])
    // Another agent with a list that is known already is not asked.
    expect(flagsOf(await opened.exchange(full(2, 0, withHash(second))))).toBe(0)
  })

  test('38: no connection settings are ever sent, so beats are never switched off by mistake', async () => {
    await start()
    const opened = await wire()
    const answers = [await opened.exchange(full(1, 0, { capabilities: SUPERVISED | 0x2000 }))]
    for (let i = 1; i < 5; i++)
      answers.push(await opened.exchange(beat(1, i, { capabilities: SUPERVISED | 0x2000 })))
    expect(answers.filter((answer) => 'connectionSettings' in answer)).toEqual([])
  })
})

describe('plain HTTP', () => {
  test('39: POST yields 200, exactly that content type, and a body without a header', async () => {
    await start()
    const reply = await postAgent(server.url, full(1))
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/x-protobuf')
    expect(reply.message()).toEqual({ instanceUid: Buffer.from(uid(1)), capabilities: 7 })
  })

  test('40: a gzip body and a plain one are taken; bad gzip is 400', async () => {
    await start()
    const gzip = { 'Content-Encoding': 'gzip' }
    const body = agentFrame(full(1)).subarray(1)
    expect((await postAgent(server.url, gzipSync(body), gzip)).status).toBe(200)
    expect((await postAgent(server.url, body, { 'Content-Encoding': 'identity' })).status).toBe(200)
    expect((await postAgent(server.url, body, gzip)).status).toBe(400)
    expect(server.live(uidHex(1))).toBeDefined()
    await eventually('nothing is held', () => server.heldBytes() === 0)
  })

  test('41: the answer is gzip exactly when it was asked for', async () => {
    await start()
    const asked = await postAgent(server.url, full(1), { 'Accept-Encoding': 'gzip' })
    expect(asked.headers['content-encoding']).toBe('gzip')
    expect(readServerBody(gunzipSync(asked.body))).toMatchObject({ capabilities: 7 })
    for (const headers of [{}, { 'Accept-Encoding': 'gzip;q=0' }] as Record<string, string>[]) {
      const reply = await postAgent(server.url, beat(1, 1), headers)
      expect(reply.headers['content-encoding']).toBeUndefined()
    }
  })

  test('42: a body above the limit, plain or inflated, is 413', async () => {
    await start({ messageBytesMax: 2_000 })
    expect((await postAgent(server.url, new Uint8Array(2_001))).status).toBe(413)
    const inflated = gzipSync(new Uint8Array(2_001))
    expect((await postAgent(server.url, inflated, { 'Content-Encoding': 'gzip' })).status).toBe(413)
  })

  test('43: a poller is one instance across its polls, and gets what waits for it in an answer', async () => {
    await start()
    const poll = async (message: PlainMessage) => (await postAgent(server.url, message)).message()
    await poll(full(1))
    for (let i = 1; i < 4; i++) expect(flagsOf(await poll(beat(1, i)))).toBe(0)
    await server.push(workloadOf(1), CONFIG)
    expect(offerOf(await poll(beat(1, 4)))?.hash).toBe(sha256Hex(CONFIG))
    expect(offerOf(await poll(beat(1, 5)))).toBeUndefined()
    await poll(beat(1, 6, status(sha256Hex(CONFIG), 1)))
    expect(server.fleet.workload(workloadOf(1))!.newestPush!.status).toBe('applied')
    const events = (await server.events()).filter(({ instanceUid }) => instanceUid === uidHex(1))
    expect(events.map(({ eventType }) => eventType)).toEqual(['connected'])
  })

  test('a poller that never got its answer asks again with the same bytes and is offered again', async () => {
    await start()
    const poll = async (message: PlainMessage) => (await postAgent(server.url, message)).message()
    await poll(full(1))
    await server.push(workloadOf(1), CONFIG)
    const hash = sha256Hex(CONFIG)
    expect(offerOf(await poll(beat(1, 1)))?.hash).toBe(hash)
    expect(offerOf(await poll(beat(1, 1)))?.hash).toBe(hash)
    expect(offerOf(await poll(beat(1, 2)))).toBeUndefined()
  })

  test('a poller that joins is offered the active config in the answer to its first report', async () => {
    await start()
    const first = await join(1)
    await server.push(workloadOf(1), CONFIG)
    await nextOffer(first)
    const answer = (await postAgent(server.url, full(2))).message()
    expect(offerOf(answer)?.hash).toBe(sha256Hex(CONFIG))
  })

  test('44: a poller that stops is gone after a while, one that says goodbye at once', async () => {
    await start()
    for (const n of [1, 2]) await postAgent(server.url, full(n))
    await postAgent(server.url, beat(2, 1, { agentDisconnect: {} }))
    expect(server.live(uidHex(2))).toBeUndefined()
    server.clock.advance(60_000)
    await postAgent(server.url, beat(1, 1))
    server.clock.advance(89_000)
    await new Promise((resolve) => void setTimeout(resolve, 30))
    expect(server.live(uidHex(1))).toBeDefined()
    server.clock.advance(200_000)
    await eventually('it is gone', () => server.live(uidHex(1)) === undefined)
  })
})

describe('load and hostile input', () => {
  test('45: over budget, upgrades and polls are 503 with Retry-After 30, and messages UNAVAILABLE', async () => {
    await start({ messageBytesMax: 10_000 })
    const opened = await join(1)
    const port = Number(server.url.split(/[:/]/)[1])
    const held = Array.from({ length: 8 }, () => connect(port, '127.0.0.1'))
    const head = 'POST /v1/opamp HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n'
    for (const socket of held) socket.write(`${head}Content-Length: 10000\r\n\r\n${'x'.repeat(9_990)}`)
    await eventually('the bodies are held', () => server.heldBytes() === 8 * 9_990)
    const refusal = await openWire(server.url).catch((error) => error)
    expect(refusal).toMatchObject({ status: 503, headers: { 'retry-after': '30' } })
    const reply = await postAgent(server.url, beat(2, 0))
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '30'])
    const busy = await opened.exchange(beat(1, 1, { customMessage: { data: new Uint8Array(200) } }))
    expect(busy).toMatchObject({
      errorResponse: { type: 2, retryInfo: { retryAfterNanoseconds: 30_000_000_000 } },
    })
    for (const socket of held) socket.destroy()
    await eventually('nothing is held', () => server.heldBytes() === 0)
    expect(flagsOf(await opened.exchange(beat(1, 1)))).toBe(0)
  })

  test('46: a health tree of depth 50 is taken, one of 5,000 refused; a hostile name is a name', async () => {
    await start()
    const opened = await wire()
    const nested = (depth: number): PlainMessage =>
      depth === 1
        ? { healthy: true }
        : { healthy: true, componentHealthMap: { __proto__x: nested(depth - 1) } }
    expect(await opened.exchange(full(1, 0, { health: nested(50) }))).not.toHaveProperty('errorResponse')
    let depth = 0
    for (let node = server.live(uidHex(1))!.health; node; node = [...node.children.values()][0] ?? null)
      depth++
    expect(depth).toBe(50)
    opened.sendBytes(deepHealth(5_000))
    expect(await opened.next()).toMatchObject({ errorResponse: { type: 1 } })
    expect(flagsOf(await opened.exchange(beat(1, 1)))).toBe(0)
  })

  test('47: attribute values of every kind are taken and do not change which workload it is', async () => {
    await start()
    const opened = await wire()
    const kinds = [
      { key: 'bool', value: { boolValue: true } },
      { key: 'int', value: { intValue: 5 } },
      { key: 'double', value: { doubleValue: 1.5 } },
      { key: 'bytes', value: { bytesValue: Buffer.from('x') } },
      { key: 'array', value: { arrayValue: { values: [{ stringValue: 'x' }] } } },
      { key: 'list', value: { kvlistValue: { values: keyValues({ k: 'v' }) } } },
      { key: 'k8s.namespace.name', value: { intValue: 5 } },
      { key: 'none', value: {} },
    ]
    const agentDescription = description()
    ;(agentDescription['identifyingAttributes'] as PlainMessage[]).push(...kinds)
    expect(await opened.exchange(full(1, 0, { agentDescription }))).not.toHaveProperty('errorResponse')
    expect(server.live(uidHex(1))!.workload!.fingerprintSource).toBe('host')
  })

  test('48, as decided: on a stop agents are cut without a Close frame, and come back to a new server', async () => {
    await start()
    const opened = await join(1)
    await server.stop()
    expect((await opened.ended).code).toBe(1006)
    await start()
    const again = await wire()
    // All it says is that it is there; where it belongs is remembered, the rest is asked for once.
    expect(flagsOf(await again.exchange(beat(1, 1)))).toBe(FULL_STATE)
    expect(flagsOf(await again.exchange(full(1, 2)))).toBe(0)
    expect(server.live(uidHex(1))).toBeDefined()
  })
})

/** A frame with a health tree far too deep for a recursive encoder. */
function deepHealth(depth: number): Uint8Array {
  const field = (number: number, content: Uint8Array): Uint8Array => {
    const head = [(number << 3) | 2]
    let length = content.length
    for (; length > 127; length >>>= 7) head.push((length & 127) | 128)
    return Buffer.concat([Uint8Array.from([...head, length]), content])
  }
  let node: Uint8Array = hex('0801')
  for (let level = 1; level < depth; level++) {
    node = field(6, Buffer.concat([field(1, Buffer.from('c')), field(2, node)]))
  }
  return Buffer.concat([hex('00'), field(1, uid(9)), field(5, node)])
}
