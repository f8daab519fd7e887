import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { openWire, postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestListener, type TestListener } from '../../support/opamp-listener.ts'
import { agentBody, keyValues, uidBytes } from '../../support/opamp-messages.ts'

const KIB = 1_024
const MESSAGE = 1_024 * KIB
const ROOM = 8 * MESSAGE
/** The longest part of a message that its sender leaves without an end. */
const MOST = MESSAGE - 64 * KIB

let listener: TestListener
let slow: Socket[] = []
const start = (options: Parameters<typeof startTestListener>[0] = {}) => {
  listener = startTestListener({ messageBytesMax: MESSAGE, ...options })
}
afterEach(() => {
  for (const socket of slow) socket.destroy()
  slow = []
  listener.close()
})

const held = () => ROOM - listener.exchange.decoding.free()

/** Begin a body of this length from this address, and leave it without its last bytes. What it is answered. */
function begin(from: string, bytes = MOST, isLengthSaid = true): Promise<string> {
  const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress: from })
  slow.push(socket)
  socket.on('error', () => undefined)
  const framing = isLengthSaid ? `Content-Length: ${bytes + 100}` : 'Transfer-Encoding: chunked'
  const head = `POST /v1/opamp HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n${framing}\r\n\r\n`
  socket.write(isLengthSaid ? head : `${head}${(bytes + 100).toString(16)}\r\n`)
  socket.write(Buffer.alloc(bytes))
  return once(socket, 'data').then(([data]) => String(data))
}

/** Begin these bodies, until each is held or has its answer; how many have one. */
async function beginAll(froms: readonly string[], bytes = MOST): Promise<string[]> {
  const before = held() / bytes
  const answers: string[] = []
  for (const from of froms) begin(from, bytes).then((answer) => answers.push(answer))
  await eventually(
    'all are held or answered',
    () => held() / bytes - before + answers.length === froms.length,
  )
  return answers
}

const expectToComeAgain = (answer: string): void => {
  expect(answer).toMatch(/^HTTP\/1.1 503 /)
  expect(answer.toLowerCase()).toContain('retry-after: 30')
}

const report = (n: number, length: number) => ({
  instanceUid: uidBytes(n),
  sequenceNum: 1,
  capabilities: 0x1807,
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'x'.repeat(length) }) },
})
const poll = (n: number, from: string, length = 10, headers: Record<string, string> = {}) =>
  postAgent(listener.url, report(n, length), headers, from)
const CHUNKED = { 'Transfer-Encoding': 'chunked' }

test('eight long bodies of one address that never end keep nobody away, and not its own polls and sockets', async () => {
  start()
  const answers = await beginAll(Array(8).fill('127.0.0.2'))
  for (const answer of answers) expectToComeAgain(answer)
  for (const from of ['127.0.0.1', '127.0.0.2']) {
    expect((await poll(1, from)).status, from).toBe(200)
    expect((await poll(2, from, 50 * KIB, CHUNKED)).status, from).toBe(200)
    const wire = await openWire(listener.url, {}, from)
    expect(await wire.exchange(report(3, 700 * KIB))).toMatchObject({ capabilities: 7 })
    wire.close()
  }
  for (const headers of [{}, CHUNKED])
    expect((await poll(4, '127.0.0.1', 300 * KIB, headers)).status).toBe(200)
  for (const socket of slow) socket.destroy()
  await eventually('all room is given back', () => held() === 0)
})

test('long bodies of many addresses leave room for short ones and for sockets', async () => {
  start()
  await beginAll([
    '127.0.0.2',
    '127.0.0.3',
    '127.0.0.4',
    '127.0.0.5',
    '127.0.0.6',
    '127.0.0.7',
    '127.0.0.8',
    '127.0.0.9',
  ])
  expect((await poll(1, '127.0.0.1', 50 * KIB)).status).toBe(200)
  const wire = await openWire(listener.url)
  expect(await wire.exchange(report(3, 700 * KIB))).toMatchObject({ capabilities: 7 })
  wire.close()
  const refused = await poll(2, '127.0.0.1', 900 * KIB)
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30'])
})

test('where room is wanted, the body that began first makes room once it has had some seconds', async () => {
  start()
  await beginAll(['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'])
  const [first] = slow
  const ended = text(first!)
  expect((await poll(1, '127.0.0.1', 900 * KIB)).status).toBe(503)
  listener.clock.advance(5_000)
  expect((await poll(1, '127.0.0.1', 900 * KIB)).status).toBe(200)
  expectToComeAgain(await ended)
})

test('short bodies that never end keep none of other addresses away, and their own for some seconds only', async () => {
  start()
  const answers = await beginAll(Array(40).fill('127.0.0.2'), 60 * KIB)
  expect(answers.length).toBeGreaterThan(0)
  expect((await poll(1, '127.0.0.1')).status).toBe(200)
  expect((await poll(1, '127.0.0.2', 50 * KIB)).status).toBe(503)
  listener.clock.advance(5_000)
  expect((await poll(1, '127.0.0.2', 50 * KIB)).status).toBe(200)
})

test('a body that is not whole in time is told to come again, and its connection ends', async () => {
  start({ bodyWithinMs: 200 })
  for (const isLengthSaid of [true, false]) {
    begin('127.0.0.2', MOST, isLengthSaid)
    const socket = slow.at(-1)!
    const trickle = setInterval(() => socket.write('x'), 20)
    const answer = await text(socket)
    clearInterval(trickle)
    expectToComeAgain(answer)
    expect(answer.toLowerCase()).toContain('connection: close')
  }
  expect(held()).toBe(0)
})

test('the first reports of a fleet behind one address get in at once', async () => {
  start()
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, n) => poll(n, '127.0.0.2', n % 20 === 0 ? 40 * KIB : 4 * KIB, CHUNKED)),
  )
  expect(replies.map(({ status }) => status)).toEqual(Array(100).fill(200))
})

test('long bodies that are inflated leave room for polls and for sockets, and for short ones to inflate', async () => {
  start()
  const inflated = (length: number) =>
    postAgent(listener.url, gzipSync(agentBody(report(1, length))), { 'Content-Encoding': 'gzip' })
  const others = ROOM - 2 * MESSAGE - 100 * KIB
  listener.exchange.decoding.take(others)
  const refused = await inflated(900 * KIB)
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30'])
  expect((await inflated(50 * KIB)).status).toBe(200)
  listener.exchange.decoding.give(others)
  expect((await inflated(900 * KIB)).status).toBe(200)
  expect(held()).toBe(0)
})
