import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openWire, postAgent } from '../../support/agent-wire.ts'
import { agentFrame, hex, readServerFrame } from '../../support/opamp-messages.ts'
import { flagsOf, openScene } from '../../support/opamp-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const scene = openScene(await useTestDatabase())
const { start, wire, join, uid, uidHex, beat, full, port } = scene

describe('OpAMP conformance: the connection', () => {
  test('1: an upgrade on the path yields 101, on another path it does not', async () => {
    await start()
    await wire()
    const other = await openWire(scene.server.url.replace('opamp', 'other')).catch((error) => error)
    expect(other).toMatchObject({ status: 404 })
  })

  test('2: a missing or wrong secret yields 401 on upgrade and POST, before any message', async () => {
    await start({ secret: 'right' })
    for (const headers of [{}, { Authorization: 'Bearer wrong' }] as Record<string, string>[]) {
      expect(await openWire(scene.server.url, headers).catch((error) => error)).toMatchObject({ status: 401 })
      expect((await postAgent(scene.server.url, full(1), headers)).status).toBe(401)
    }
    expect(scene.server.fleet.state.instances.size).toBe(0)
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
    expect(scene.server.fleet.state.instances.size).toBe(1)
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
    expect(scene.server.fleet.state.instances.size).toBe(0)
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
    expect(scene.server.live(uidHex(1))).toBeDefined()
  })

  test('13: a message above the limit is not processed and closes with 1009', async () => {
    await start({ messageBytesMax: 2_000 })
    const opened = await wire()
    opened.send(full(1, 0, { customMessage: { data: new Uint8Array(2_000) } }))
    expect((await opened.ended).code).toBe(1009)
    expect(scene.server.fleet.state.instances.size).toBe(0)
  })

  test('14: a compressed message cannot inflate above the limit: compression is never agreed on', async () => {
    await start({ messageBytesMax: 2_000 })
    const headers = { 'Content-Encoding': 'gzip' }
    const bomb = gzipSync(Buffer.alloc(1_000_000))
    expect((await postAgent(scene.server.url, bomb, headers)).status).toBe(413)
    const socket = connect(port(), '127.0.0.1')
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
    const socket = new WebSocket(`ws://${scene.server.url}`, {
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
