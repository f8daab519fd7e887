import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { NO_BODY, sharedRoom } from '../../runtime/body-room.ts'
import type { Reply } from '../../runtime/reply.ts'
import { listen } from '../../runtime/uws.ts'
import type { HttpResponse } from '../../runtime/uws-library.ts'
import { writeReply } from '../../runtime/uws-reply.ts'
import { eventually } from '../support/eventually.ts'

const MiB = 1_024 * 1_024
/** Each byte tells where it stands, so that a part that is missing or comes twice is seen. */
const file = Buffer.alloc(16 * MiB)
for (let at = 0; at < file.length; at += 4) file.writeUInt32BE(at, at)

const listener = listen('127.0.0.1:0', {
  sockets: [],
  bodyRoom: sharedRoom(4 * MiB, (address) => address),
  room: null,
  bodyLimit: () => ({ ...NO_BODY, bytesMax: MiB }),
  handle: async ({ method, path, body }) => ({
    status: method === 'POST' && (await body()) === 'aborted' ? 400 : 200,
    headers: {},
    body: path === '/json' ? JSON.stringify('x'.repeat(8 * MiB)) : path === '/text' ? 'é'.repeat(MiB) : file,
  }),
})
afterAll(() => listener.destroy())
afterEach(() => void vi.useRealTimers())

async function get(path: string): Promise<{ answer: IncomingMessage; body: Buffer }> {
  const asked = request({ host: '127.0.0.1', port: listener.port, path }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { answer, body: await buffer(answer) }
}

it('keeps a long text once for who does not read it', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const before = process.memoryUsage()
  const clients = Array.from({ length: 8 }, () => connect({ host: '127.0.0.1', port: listener.port }))
  for (const client of clients) {
    client.pause()
    client.write('GET /json HTTP/1.1\r\nHost: muster\r\n\r\n')
  }
  await Promise.all(clients.map((client) => once(client, 'readable')))
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  expect(arrayBuffers - before.arrayBuffers).toBeGreaterThan(7 * 8 * MiB)
  expect(heapUsed - before.heapUsed).toBeLessThan(2 * 8 * MiB)
  for (const client of clients) client.destroy()
  await eventually('every answer is over', () => listener.inFlight() === 0)
})

it('keeps no copy of a file for who does not read it, and sends all of it once he does', async () => {
  const before = process.memoryUsage().rss
  const clients = Array.from({ length: 12 }, () => connect({ host: '127.0.0.1', port: listener.port }))
  for (const client of clients) {
    client.pause()
    client.write('GET /file HTTP/1.1\r\nHost: muster\r\n\r\n')
  }
  await Promise.all(clients.map((client) => once(client, 'readable')))
  // What the kernel holds for each is not ours, and is not counted.
  expect(process.memoryUsage().rss - before).toBeLessThan(6 * file.length)
  expect(listener.inFlight()).toBe(clients.length)
  // Whoever does not read is waited for by no stop.
  expect(listener.answering()).toBe(0)

  const read = async (client: (typeof clients)[number]) => {
    const pieces: Buffer[] = []
    let length = 0
    let headLength = Number.POSITIVE_INFINITY
    client.on('data', (piece: Buffer) => {
      pieces.push(piece)
      length += piece.length
      if (headLength === Number.POSITIVE_INFINITY) headLength = Buffer.concat(pieces).indexOf('\r\n\r\n') + 4
      if (length >= headLength + file.length) client.end()
    })
    await once(client, 'close')
    const whole = Buffer.concat(pieces)
    expect(whole.subarray(0, headLength).toString()).toContain(`Content-Length: ${file.length}\r\n`)
    expect(whole.subarray(headLength).equals(file)).toBe(true)
  }
  await Promise.all(clients.map(read))
  await eventually('every answer is over', () => listener.inFlight() === 0)
})

it('gives back the room of a body once there is an answer, however long that takes to be read', async () => {
  const free = listener.bodyBytesFree()
  const client = connect({ host: '127.0.0.1', port: listener.port })
  client.pause()
  client.write(`POST /file HTTP/1.1\r\nHost: muster\r\nContent-Length: ${MiB}\r\n\r\n`)
  client.write(Buffer.alloc(MiB))
  await once(client, 'readable')
  expect(listener.inFlight()).toBe(1)
  expect(listener.bodyBytesFree()).toBe(free)
  client.destroy()
})

it('sends a long text whole', async () => {
  const { answer, body } = await get('/text')
  expect(answer.headers['content-length']).toBe(String(2 * MiB))
  expect(body.toString()).toBe('é'.repeat(MiB))
})

it('closes the connection of a request that never came whole, and keeps no copy of a long answer for it', async () => {
  const client = connect({ host: '127.0.0.1', port: listener.port })
  client.write('GET /file HTTP/1.1\r\nHost: muster\r\nContent-Length: 2\r\n\r\n')
  const said = (await buffer(client)).toString()
  expect(said).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
  expect(said).toMatch(/\r\nConnection: close\r\n/)
  expect(said).toMatch(/\r\n\r\nThe request did not come whole\n$/)
})

/** A peer whose socket takes nothing but what `take` lets it, and the moment of the fake clock in which it was cut. */
function slowPeer() {
  const peer = { isAborted: false, onAborted: () => {} }
  const seen = { cutAtMs: null as number | null, taken: 0 }
  let writable: (offset: number) => boolean = () => true
  const startedMs = performance.now()
  const response = {
    cork: (work: () => void) => work(),
    writeStatus: () => response,
    writeHeader: () => response,
    onWritable: (handler: typeof writable) => {
      writable = handler
    },
    tryEnd: () => [false, false],
    write: () => false,
    getWriteOffset: () => seen.taken,
    close: () => {
      seen.cutAtMs = performance.now() - startedMs
      peer.isAborted = true
      peer.onAborted()
    },
  }
  const answer = (reply: Reply) => writeReply(response as unknown as HttpResponse, reply, false, peer)
  const take = (bytes: number) => {
    seen.taken += bytes
    writable(seen.taken)
  }
  return { answer, take, seen }
}

async function* endless(): AsyncGenerator<Uint8Array, void> {
  for (;;) yield Buffer.alloc(100)
}

it.each([
  ['a file', file],
  ['a stream', endless()],
])('cuts who reads %s slower than any line', async (_what, body) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const { answer, take, seen } = slowPeer()
  const done = answer({ status: 200, headers: {}, body })
  for (let second = 0; second < 120 && seen.cutAtMs === null; second++) {
    await vi.advanceTimersByTimeAsync(1_000)
    if (seen.cutAtMs === null) take(100)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await done
  expect(seen.cutAtMs).toBeGreaterThanOrEqual(60_000)
  expect(seen.cutAtMs).toBeLessThanOrEqual(120_000)
})
