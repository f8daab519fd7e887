import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { sha256Hex } from '../../support/fleet-server.ts'
import { agentFrame, type PlainMessage } from '../../support/opamp-messages.ts'
import { CONFIG, flagsOf, offerOf, openScene } from '../../support/opamp-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const scene = openScene(await useTestDatabase())
const { start, wire, join, uid, uidHex, beat, full, workloadOf, port } = scene

describe('OpAMP conformance: uids, and agents that come and go', () => {
  test('31: RequestInstanceUid yields a fresh UUIDv7, and the answer echoes the old uid', async () => {
    await start()
    const opened = await wire()
    const answer = await opened.exchange({ ...full(1), flags: 1 })
    const { newInstanceUid } = answer['agentIdentification'] as { newInstanceUid: Buffer }
    expect(newInstanceUid.length).toBe(16)
    expect(newInstanceUid[6]! >> 4).toBe(7)
    expect(newInstanceUid[8]! >> 6).toBe(2)
    expect(answer['instanceUid']).toEqual(Buffer.from(uid(1)))
    expect(scene.server.fleet.state.instances.size).toBe(0)
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

  test('two that count alike are told apart as well, and one that changes sockets with each message is one', async () => {
    await start()
    const twins = [await join(1), await join(1)]
    const renamed: boolean[] = []
    for (const n of [1, 2, 3])
      for (const twin of twins) {
        twin.send(beat(1, n))
        renamed.push('agentIdentification' in (await twin.next()))
      }
    expect(renamed).toContain(true)
    const one = [await join(2), await wire()]
    for (let n = 1; n < 8; n++) {
      const answer = await one[n % 2]!.exchange(beat(2, n))
      expect(answer).not.toHaveProperty('agentIdentification')
    }
  })

  test('33: the old socket ends after the agent moved to a new one: it stays, and is pushed to there', async () => {
    await start()
    const old = await join(1)
    const fresh = await wire()
    await fresh.exchange(beat(1, 1))
    old.cut()
    await eventually('the old socket is gone', () => scene.server.fleet.state.byConnection.size === 1)
    await fresh.exchange(beat(1, 2))
    expect(scene.server.live(uidHex(1))).toBeDefined()
    await scene.server.push(workloadOf(1), CONFIG)
    expect(offerOf(await fresh.next())?.hash).toBe(sha256Hex(CONFIG))
    const events = (await scene.server.events()).filter(({ instanceUid }) => instanceUid === uidHex(1))
    expect(events.map(({ eventType }) => eventType)).toEqual(['connected'])
  })

  test('34: agent_disconnect ends the instance at once, answered, with one event', async () => {
    await start()
    const opened = await join(1)
    const last = await opened.exchange(beat(1, 1, { agentDisconnect: {} }))
    expect(last).toMatchObject({ instanceUid: Buffer.from(uid(1)) })
    expect(scene.server.live(uidHex(1))).toBeUndefined()
    opened.close()
    await opened.ended
    const types = (await scene.server.events())
      .filter(({ instanceUid }) => instanceUid === uidHex(1))
      .map(({ eventType }) => eventType)
    expect(types).toEqual(['connected', 'disconnected'])
  })

  test('a beat that overtook the goodbye does not bring the agent back', async () => {
    await start()
    const opened = await join(1)
    await opened.exchange(beat(1, 1, { agentDisconnect: {} }))
    expect(flagsOf(await opened.exchange(beat(1, 1)))).toBe(0)
    expect(scene.server.live(uidHex(1))).toBeUndefined()
  })

  test('35: a socket that carried two agents is cut: both are gone', async () => {
    await start()
    const opened = await join(1)
    await opened.exchange(full(2))
    expect([1, 2].map((n) => scene.server.live(uidHex(n)) !== undefined)).toEqual([true, true])
    opened.cut()
    await eventually('both are gone', () => !scene.server.live(uidHex(1)) && !scene.server.live(uidHex(2)))
    const gone = (await scene.server.events()).filter(({ eventType }) => eventType === 'disconnected')
    expect(
      gone
        .map(({ instanceUid }) => instanceUid)
        .sort()
        .slice(-2),
    ).toEqual([uidHex(1), uidHex(2)])
  })

  test('36: a dead peer, which answers no ping, is dropped within the idle time', async () => {
    await start({ idleSeconds: 8 })
    const at = port()
    const socket = connect(at, '127.0.0.1')
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
    await eventually('it is live', () => scene.server.live(uidHex(1)) !== undefined)
    await ended
    await eventually('it is gone', () => scene.server.live(uidHex(1)) === undefined)
  })
})
