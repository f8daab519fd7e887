import { connect } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { startTestListener, type TestListener } from '../../support/opamp-listener.ts'
import { agentBody, hex, readServerBody, uidBytes } from '../../support/opamp-messages.ts'

let listener: TestListener
const start = (options: Parameters<typeof startTestListener>[0] = {}) => {
  listener = startTestListener(options)
  return listener
}
afterEach(() => listener.close())

const poll = { instanceUid: uidBytes(1), sequenceNum: 1, capabilities: 0x1807 }
const acknowledgement = { instanceUid: Buffer.from(uidBytes(1)), capabilities: 7 }
const post = (body: Parameters<typeof postAgent>[1], headers: Record<string, string> = {}) =>
  postAgent(listener.url, body, headers)

test.each(['https://evil.example', 'null'])(
  'a page in a browser, of the origin %s, cannot poll as an agent',
  async (origin) => {
    const { fleet } = start()
    const reply = await post(poll, { Origin: origin })
    expect(reply.status).toBe(403)
    expect(reply.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(fleet.received).toEqual([])
  },
)

describe('a poll', () => {
  test('is answered 200 with exactly the content type, and a body without a header byte', async () => {
    start()
    const reply = await post(poll)
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/x-protobuf')
    expect(reply.headers['content-encoding']).toBeUndefined()
    expect(reply.body[0]).toBe(0x0a)
    expect(reply.message()).toEqual(acknowledgement)
  })

  test.each(['application/x-protobuf; charset=utf-8', 'Application/X-Protobuf'])(
    'with content type %s is understood',
    async (contentType) => {
      start()
      expect((await post(poll, { 'Content-Type': contentType })).status).toBe(200)
    },
  )

  test('of another content type is 415', async () => {
    const { fleet } = start()
    expect((await post(poll, { 'Content-Type': 'application/json' })).status).toBe(415)
    expect(fleet.received).toEqual([])
  })

  test('is of the same connection as the last of its uid, and cannot be sent to', async () => {
    const { fleet } = start()
    await post(poll)
    await post({ ...poll, sequenceNum: 2 })
    await post({ ...poll, instanceUid: uidBytes(2) })
    const [first, second, other] = fleet.received.map(({ connection }) => connection)
    expect(second).toBe(first)
    expect(other).not.toBe(first)
    expect(first).toMatchObject({ transport: 'http' })
    expect(first!.id).toBeLessThan(0)
    expect(first!.send(hex('00'))).toBe('dropped')
    expect(fleet.closed).toEqual([])
  })

  test('after the fleet dropped its connection is of a new one', async () => {
    const { fleet } = start()
    await post(poll)
    fleet.received[0]!.connection.drop()
    await post({ ...poll, sequenceNum: 2 })
    expect(fleet.received[1]!.connection).not.toBe(fleet.received[0]!.connection)
  })

  test('after a goodbye is of a new connection', async () => {
    const { fleet } = start()
    await post({ ...poll, agentDisconnect: {} })
    await post({ ...poll, sequenceNum: 2 })
    expect(fleet.received[1]!.connection).not.toBe(fleet.received[0]!.connection)
  })

  test('that comes again byte for byte is known as sent again', async () => {
    const { fleet } = start()
    await post(poll)
    await post(poll)
    await post({ ...poll, sequenceNum: 2 })
    expect(fleet.received.map(({ isRetransmission }) => isRetransmission)).toEqual([false, true, false])
  })

  test('carries the offer that follows within the wait', async () => {
    const { fleet } = start()
    const offer = { remoteConfig: { hash: new Uint8Array(32).fill(1), body: Buffer.from('a: 1') } }
    fleet.pendingOffer = Promise.resolve(offer)
    expect((await post(poll)).message()).toMatchObject({
      capabilities: 7,
      remoteConfig: { config: { configMap: { '': { body: Buffer.from('a: 1') } } } },
    })
    fleet.pendingOffer = Promise.resolve(null)
    expect((await post({ ...poll, sequenceNum: 2 })).message()).toEqual(acknowledgement)
    const lost = Promise.reject(new Error('no database'))
    lost.catch(() => {})
    fleet.pendingOffer = lost
    expect((await post({ ...poll, sequenceNum: 3 })).message()).toEqual(acknowledgement)
  })

  test('with a message that is none is told so in a 200, with the sender as far as it was legible', async () => {
    const { fleet } = start()
    const replies = [await post(hex('ffff')), await post(hex('0a0101')), await post(new Uint8Array(0))]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(replies.map((reply) => reply.message())).toMatchObject([
      { errorResponse: { type: 1 } },
      { errorResponse: { type: 1 }, instanceUid: Buffer.from([1]) },
      { errorResponse: { type: 1 } },
    ])
    expect(fleet.received).toEqual([])
  })
})

describe('the shared secret', () => {
  test('missing or wrong is 401 with the challenge and an empty body', async () => {
    const { fleet } = start({ secret: 's3cret' })
    for (const headers of [{}, { Authorization: 'Bearer wrong' }]) {
      const reply = await post(poll, headers as Record<string, string>)
      expect(reply.status).toBe(401)
      expect(reply.headers['www-authenticate']).toBe('Bearer realm="opamp"')
      expect(reply.body.length).toBe(0)
    }
    expect((await post(poll, { Authorization: 'bearer s3cret' })).status).toBe(200)
    expect(fleet.received.length).toBe(1)
  })
})

describe('content codings', () => {
  test('a gzip body and a plain one are the same', async () => {
    const { fleet } = start()
    for (const coding of ['gzip', 'GZIP', 'identity', '']) {
      const isPlain = coding === 'identity' || coding === ''
      const body = isPlain ? agentBody(poll) : gzipSync(agentBody(poll))
      const headers: Record<string, string> = coding === '' ? {} : { 'Content-Encoding': coding }
      expect((await post(body, headers)).message()).toEqual(acknowledgement)
    }
    expect(fleet.received.length).toBe(4)
  })

  test.each([
    ['no gzip at all', agentBody(poll)],
    ['cut gzip', gzipSync(agentBody(poll)).subarray(0, 20)],
    ['nothing', new Uint8Array(0)],
  ])('%s under Content-Encoding gzip is 400', async (_, body) => {
    const { exchange } = start()
    expect((await post(body, { 'Content-Encoding': 'gzip' })).status).toBe(400)
    expect((await post(poll)).status).toBe(200)
    expect(exchange.decoding.free()).toBe(8 * 65_536)
  })

  test('an unknown coding is 415 and names the known one', async () => {
    start()
    const reply = await post(poll, { 'Content-Encoding': 'br' })
    expect(reply.status).toBe(415)
    expect(reply.headers['accept-encoding']).toBe('gzip')
  })

  test.each([
    ['gzip', true],
    ['deflate, gzip;q=0.5', true],
    ['GZIP', true],
    ['*', true],
    ['gzip;q=0', false],
    ['gzip; q=0.0, *', false],
    ['*;q=0', false],
    ['identity', false],
    ['', false],
  ])('Accept-Encoding "%s": gzip is %s', async (acceptEncoding, isCompressed) => {
    start()
    const reply = await post(poll, acceptEncoding === '' ? {} : { 'Accept-Encoding': acceptEncoding })
    expect(reply.headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined)
    expect(reply.headers['content-type']).toBe('application/x-protobuf')
    const body = isCompressed ? gunzipSync(reply.body) : reply.body
    expect(readServerBody(body)).toEqual(acknowledgement)
  })

  test('a large answer is compressed too', async () => {
    const { fleet } = start()
    const body = Buffer.alloc(50_000, 'receivers: {}\n')
    fleet.answer = { remoteConfig: { hash: new Uint8Array(32), body } }
    const reply = await post(poll, { 'Accept-Encoding': 'gzip' })
    expect(reply.body.length).toBeLessThan(1000)
    expect(gunzipSync(reply.body).includes(body)).toBe(true)
  })
})

describe('limits', () => {
  test('a body above the limit is 413, plain or inflated, and the limit itself is fine', async () => {
    const { fleet, exchange } = start({ messageBytesMax: 1000 })
    expect((await post(new Uint8Array(1001))).status).toBe(413)
    const bomb = gzipSync(new Uint8Array(5_000_000))
    expect((await post(bomb.subarray(0, bomb.length), { 'Content-Encoding': 'gzip' })).status).toBe(413)
    const small = gzipSync(new Uint8Array(2000))
    expect(small.length).toBeLessThan(100)
    expect((await post(small, { 'Content-Encoding': 'gzip' })).status).toBe(413)
    expect(fleet.received).toEqual([])
    expect((await post(new Uint8Array(1000))).status).toBe(200)
    expect(exchange.decoding.free()).toBe(8000)
  })

  test('while the budget is used up, polls are 503 and wait 30 s', async () => {
    const { exchange, fleet } = start({ messageBytesMax: 1000, decodingBytesMax: 2000 })
    exchange.decoding.take(1500)
    const reply = await post(poll)
    expect(reply.status).toBe(503)
    expect(reply.headers['retry-after']).toBe('30')
    expect(fleet.received).toEqual([])
    exchange.decoding.give(1500)
    expect((await post(poll)).status).toBe(200)
  })

  test('a body that inflates beyond the budget is 503 and gives back what it took', async () => {
    const { exchange } = start({ messageBytesMax: 100_000, decodingBytesMax: 150_000 })
    exchange.decoding.take(50_000)
    const body = gzipSync(Buffer.alloc(99_999))
    const reply = await post(body, { 'Content-Encoding': 'gzip' })
    // Of the 100,000 bytes that are left, the compressed body takes some until it is answered.
    expect(reply.status).toBe(503)
    expect(exchange.decoding.free()).toBe(100_000)
  })

  test('a refused request is answered though its body is not whole, and holds nothing of it', async () => {
    const { exchange, port } = start({ secret: 's3cret', messageBytesMax: 1000, decodingBytesMax: 1900 })
    const sender = connect(port, '127.0.0.1')
    const answer = new Promise<Buffer>((resolve) => void sender.once('data', resolve))
    const head = 'POST /v1/opamp HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n'
    sender.write(`${head}Content-Length: 1000\r\n\r\n${'x'.repeat(900)}`)
    expect((await answer).toString()).toMatch(/^HTTP\/1.1 401 /)
    expect(exchange.decoding.free()).toBe(1900)
    sender.destroy()
    expect((await post(new Uint8Array(1_000_000))).status).toBe(401)
  })

  test('bodies in flight fill the room of their address, and give it back when their senders leave', async () => {
    const { exchange, port } = start({ messageBytesMax: 1000, decodingBytesMax: 8000 })
    const sender = connect(port, '127.0.0.1')
    const head = 'POST /v1/opamp HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\n'
    sender.write(`${head}Content-Length: 1000\r\n\r\n${'x'.repeat(990)}`)
    await eventually('the bytes are held', () => exchange.decoding.free() === 7010)
    expect((await post(poll)).status).toBe(503)
    sender.destroy()
    await eventually('the bytes are given back', () => exchange.decoding.free() === 8000)
    expect((await post(poll)).status).toBe(200)
  })
})
