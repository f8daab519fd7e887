import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openWire, UpgradeRefused } from '../../support/agent-wire.ts'
import { startTestListener, type TestListener } from '../../support/opamp-listener.ts'
import { agentFrame, hex, keyValues, readServerFrame, uidBytes } from '../../support/opamp-messages.ts'

let listener: TestListener
const start = (options: Parameters<typeof startTestListener>[0] = {}) => {
  listener = startTestListener(options)
  return listener
}
afterEach(() => listener.close())

const beat = { instanceUid: uidBytes(1), sequenceNum: 1, capabilities: 0x1807 }
const acknowledgement = { instanceUid: Buffer.from(uidBytes(1)), capabilities: 7 }
const bad = (uid?: Uint8Array) => ({
  ...(uid === undefined ? {} : { instanceUid: Buffer.from(uid) }),
  errorResponse: { type: 1, errorMessage: expect.stringMatching(/^Cannot /) },
})

describe('the shared secret', () => {
  const refusalOf = async (headers: Record<string, string>) => {
    const outcome = await openWire(listener.url, headers).catch((error) => error)
    if (!(outcome instanceof UpgradeRefused)) throw new Error('the upgrade was accepted')
    return outcome
  }

  test.each([
    ['no header', {}],
    ['another token', { Authorization: 'Bearer s3cret-but-longer' }],
    ['an empty token', { Authorization: 'Bearer ' }],
    ['another scheme', { Authorization: 'Basic s3cret' }],
    ['the bare token', { Authorization: 's3cret' }],
  ])('%s is 401 before anything is read', async (_, headers) => {
    start({ secret: 's3cret' })
    const refusal = await refusalOf(headers)
    expect(refusal.status).toBe(401)
    expect(refusal.headers['www-authenticate']).toBe('Bearer realm="opamp"')
    expect(refusal.headers['content-length'] ?? '0').toBe('0')
    expect(listener.fleet.received).toEqual([])
  })

  test.each(['Bearer s3cret', 'bearer s3cret', 'BEARER   s3cret '])(
    '"%s" is let in',
    async (authorization) => {
      start({ secret: 's3cret' })
      const wire = await openWire(listener.url, { Authorization: authorization })
      expect(await wire.exchange(beat)).toEqual(acknowledgement)
      wire.close()
    },
  )

  test('without a secret everybody is let in, header or not', async () => {
    start()
    const wire = await openWire(listener.url, { Authorization: 'Bearer whatever' })
    expect(await wire.exchange(beat)).toEqual(acknowledgement)
    wire.close()
  })
})

describe('a page in a browser', () => {
  test.each(['https://evil.example', 'http://localhost:5173', 'null'])(
    'of the origin %s cannot become an agent, with the secret or without one',
    async (origin) => {
      for (const secret of ['', 's3cret']) {
        start({ secret })
        const headers = { Origin: origin, Authorization: 'Bearer s3cret' }
        const refusal = await openWire(listener.url, headers).catch((error) => error)
        if (!(refusal instanceof UpgradeRefused)) throw new Error('the upgrade was accepted')
        expect(refusal.status).toBe(403)
        expect(refusal.headers['content-type']).toBe('text/plain; charset=utf-8')
        expect(listener.fleet.received).toEqual([])
        listener.close()
      }
    },
  )
})

describe('messages', () => {
  test('each is answered once, with the uid that it carried', async () => {
    const { fleet, url } = start()
    const wire = await openWire(url)
    for (let sequenceNum = 0; sequenceNum < 5; sequenceNum++) {
      expect(await wire.exchange({ ...beat, sequenceNum })).toEqual(acknowledgement)
    }
    const other = uidBytes(2)
    expect(await wire.exchange({ ...beat, instanceUid: other })).toEqual({
      instanceUid: Buffer.from(other),
      capabilities: 7,
    })
    expect(wire.untaken()).toBe(0)
    expect(fleet.received.map(({ report }) => report.sequenceNum)).toEqual([0, 1, 2, 3, 4, 1])
    expect(new Set(fleet.received.map(({ connection }) => connection)).size).toBe(1)
    wire.close()
  })

  test('one in three continuation frames is one', async () => {
    const { fleet, url } = start()
    const wire = await openWire(url)
    const frame = agentFrame({ ...beat, agentDescription: { identifyingAttributes: keyValues({ a: 'b' }) } })
    wire.sendBytes(frame.subarray(0, 5), { fin: false })
    wire.sendBytes(frame.subarray(5, 20), { fin: false })
    wire.sendBytes(frame.subarray(20), { fin: true })
    expect(await wire.next()).toEqual(acknowledgement)
    expect(fleet.received[0]!.report.attributes).toEqual(new Map([['a', 'b']]))
    wire.close()
  })

  test.each([
    ['an undecodable message', '00ffffff', undefined],
    ['a header that is not zero', '050a10000102030405060708090a0b0c0d0e0f', undefined],
    ['a uid of 15 bytes', '000a0f000102030405060708090a0b0c0d0e', hex('000102030405060708090a0b0c0d0e')],
    ['no uid', '001001', undefined],
    ['nothing', '', undefined],
  ])('%s is a bad request, changes nothing, and the connection goes on', async (_, bytes, uid) => {
    const { fleet, url } = start()
    const wire = await openWire(url)
    wire.sendBytes(hex(bytes))
    expect(await wire.next()).toEqual(bad(uid))
    expect(fleet.received).toEqual([])
    expect(await wire.exchange(beat)).toEqual(acknowledgement)
    wire.close()
  })

  test('a text is answered by nothing, and the connection goes on', async () => {
    const { fleet, url } = start()
    const wire = await openWire(url)
    wire.socket.send('hello')
    expect(await wire.exchange(beat)).toEqual(acknowledgement)
    expect(wire.untaken()).toBe(0)
    expect(fleet.received.length).toBe(1)
    wire.close()
  })

  test('one above the limit is not processed, and the connection closes with 1009', async () => {
    const { fleet, url } = start({ messageBytesMax: 1000 })
    const wire = await openWire(url)
    wire.sendBytes(new Uint8Array(1001))
    expect((await wire.ended).code).toBe(1009)
    expect(fleet.received).toEqual([])
  })

  test('one of exactly the limit is processed', async () => {
    const { url } = start({ messageBytesMax: 1000 })
    const wire = await openWire(url)
    // Field 25 is of a newer protocol: it is passed over. Two bytes of tag, two of length.
    const spare = 1000 - agentFrame(beat).length - 4
    const padding = Buffer.concat([hex('ca01'), varint(spare), Buffer.alloc(spare)])
    const exact = Buffer.concat([agentFrame(beat), padding])
    expect(exact.length).toBe(1000)
    wire.sendBytes(exact)
    expect(await wire.next()).toEqual(acknowledgement)
    wire.close()
  })

  test('a bug in the fleet costs one message only', async () => {
    const { fleet, url, log } = start()
    const wire = await openWire(url)
    const receive = fleet.receive
    fleet.receive = () => {
      throw new Error('broken')
    }
    expect(await wire.exchange(beat)).toEqual({
      instanceUid: Buffer.from(uidBytes(1)),
      errorResponse: { errorMessage: 'internal error' },
    })
    fleet.receive = receive
    expect(await wire.exchange(beat)).toEqual(acknowledgement)
    expect(log.lines.filter(({ level }) => level === 'error').length).toBe(1)
    wire.close()
  })

  test('an answer above the size limit goes out without its offer', async () => {
    const { fleet, url, log } = start({ messageBytesMax: 1000 })
    fleet.answer = { capabilities: 7, remoteConfig: { hash: new Uint8Array(32), body: new Uint8Array(1000) } }
    const wire = await openWire(url)
    expect(await wire.exchange(beat)).toEqual(acknowledgement)
    expect(log.lines.map(({ level }) => level)).toEqual(['error'])
    wire.close()
  })

  test('refusals are logged once in a while, with their number', async () => {
    const { url, log, clock } = start()
    const wire = await openWire(url)
    for (let i = 0; i < 20; i++) {
      wire.sendBytes(hex('001001'))
      await wire.next()
    }
    clock.advance(10_000)
    wire.sendBytes(hex('001001'))
    await wire.next()
    expect(log.lines.map(({ fields }) => fields)).toEqual([
      { code: 'instance-uid-invalid', count: 1 },
      { code: 'instance-uid-invalid', count: 20 },
    ])
    wire.close()
  })
})

describe('connections', () => {
  test('one that ends is told to the fleet, whichever way it ended', async () => {
    const { fleet, url } = start()
    const [polite, crashed] = [await openWire(url), await openWire(url)]
    await polite.exchange(beat)
    await crashed.exchange({ ...beat, instanceUid: uidBytes(2) })
    polite.close()
    await fleet.hasClosed(1)
    crashed.cut()
    await fleet.hasClosed(2)
    expect(fleet.closed).toEqual(fleet.received.map(({ connection }) => connection))
    expect(fleet.closed[0]!.send(hex('00'))).toBe('dropped')
  })

  test('a Close frame of the agent is answered with one', async () => {
    const { url } = start()
    const wire = await openWire(url)
    wire.close()
    expect((await wire.ended).code).toBe(1000)
  })

  test('the fleet can push at any time, and cut without a Close frame', async () => {
    const { fleet, url } = start()
    const wire = await openWire(url)
    await wire.exchange(beat)
    const { connection } = fleet.received[0]!
    expect(connection.transport).toBe('ws')
    expect(connection.send(agentFrame({ instanceUid: uidBytes(1) }))).toBe('sent')
    expect(await wire.next()).toEqual({ instanceUid: Buffer.from(uidBytes(1)) })
    connection.drop()
    expect((await wire.ended).code).toBe(1006)
  })

  test('while bodies fill the budget, upgrades wait 30 s and messages are UNAVAILABLE', async () => {
    const { exchange, url, fleet } = start({ messageBytesMax: 1000, decodingBytesMax: 1500 })
    const wire = await openWire(url)
    exchange.decoding.take(1490)
    const refusal = await openWire(url).catch((error) => error)
    expect(refusal).toMatchObject({ status: 503, headers: { 'retry-after': '30' } })
    expect(await wire.exchange(beat)).toEqual({
      instanceUid: Buffer.from(uidBytes(1)),
      errorResponse: {
        type: 2,
        errorMessage: 'the server is busy',
        retryInfo: { retryAfterNanoseconds: 30_000_000_000 },
      },
    })
    expect(fleet.received).toEqual([])
    exchange.decoding.give(1490)
    expect(await wire.exchange(beat)).toEqual(acknowledgement)
    wire.close()
  })

  test('a client that insists on compression parameters gets no extension and is let in', async () => {
    const { url } = start()
    const socket = new WebSocket(`ws://${url}`, { perMessageDeflate: { serverNoContextTakeover: true } })
    const answered = new Promise<Buffer>((resolve) => void socket.on('message', resolve))
    await new Promise((resolve) => void socket.on('open', resolve))
    expect(socket.extensions).toBe('')
    socket.send(agentFrame(beat))
    expect(readServerFrame(await answered)).toEqual(acknowledgement)
    socket.close()
  })

  test('other paths do not upgrade', async () => {
    const { port } = start()
    const outcome = await openWire(`127.0.0.1:${port}/v1/other`).catch((error) => error)
    expect(outcome).toMatchObject({ status: 404 })
  })

  test('a compressed frame that nobody agreed on ends the connection', async () => {
    const { port, fleet } = start()
    const socket = connect(port, '127.0.0.1')
    const upgrade = [
      'GET /v1/opamp HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ]
    const ended = new Promise((resolve) => void socket.on('close', resolve))
    socket.on('error', () => {})
    socket.write(`${upgrade.join('\r\n')}\r\n\r\n`)
    await new Promise((resolve) => void socket.once('data', resolve))
    // FIN and RSV1, binary, masked with zeros.
    socket.write(hex('c28300000000000000'))
    await ended
    expect(fleet.received).toEqual([])
  })

  test('HEAD, which one old client sends first, is not 404', async () => {
    const { port } = start()
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const call = request({ port, host: '127.0.0.1', path: '/v1/opamp', method: 'HEAD' }, (response) => {
        response.resume()
        resolve(response)
      })
      call.on('error', reject)
      call.end()
    })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, POST'])
  })
})

const varint = (value: number): Uint8Array =>
  value < 128 ? Uint8Array.from([value]) : Uint8Array.from([(value & 127) | 128, value >>> 7])
