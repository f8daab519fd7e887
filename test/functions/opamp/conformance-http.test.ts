import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { sha256Hex } from '../../support/fleet-server.ts'
import { agentFrame, type PlainMessage, readServerBody } from '../../support/opamp-messages.ts'
import { CONFIG, flagsOf, nextOffer, offerOf, openScene, statusOf } from '../../support/opamp-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const scene = openScene(await useTestDatabase())
const { start, join, uid, uidHex, beat, full, workloadOf } = scene

describe('OpAMP conformance: plain HTTP', () => {
  test('39: POST yields 200, exactly that content type, and a body without a header', async () => {
    await start()
    const reply = await postAgent(scene.server.url, full(1))
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/x-protobuf')
    expect(reply.message()).toEqual({ instanceUid: Buffer.from(uid(1)), capabilities: 7 })
  })

  test('40: a gzip body and a plain one are taken; bad gzip is 400', async () => {
    await start()
    const gzip = { 'Content-Encoding': 'gzip' }
    const body = agentFrame(full(1)).subarray(1)
    expect((await postAgent(scene.server.url, gzipSync(body), gzip)).status).toBe(200)
    expect((await postAgent(scene.server.url, body, { 'Content-Encoding': 'identity' })).status).toBe(200)
    expect((await postAgent(scene.server.url, body, gzip)).status).toBe(400)
    expect(scene.server.live(uidHex(1))).toBeDefined()
    await eventually('nothing is held', () => scene.server.heldBytes() === 0)
  })

  test('41: the answer is gzip exactly when it was asked for', async () => {
    await start()
    const asked = await postAgent(scene.server.url, full(1), { 'Accept-Encoding': 'gzip' })
    expect(asked.headers['content-encoding']).toBe('gzip')
    expect(readServerBody(gunzipSync(asked.body))).toMatchObject({ capabilities: 7 })
    for (const headers of [{}, { 'Accept-Encoding': 'gzip;q=0' }] as Record<string, string>[]) {
      const reply = await postAgent(scene.server.url, beat(1, 1), headers)
      expect(reply.headers['content-encoding']).toBeUndefined()
    }
  })

  test('42: a body above the limit, plain or inflated, is 413', async () => {
    await start({ messageBytesMax: 2_000 })
    expect((await postAgent(scene.server.url, new Uint8Array(2_001))).status).toBe(413)
    const inflated = gzipSync(new Uint8Array(2_001))
    expect((await postAgent(scene.server.url, inflated, { 'Content-Encoding': 'gzip' })).status).toBe(413)
  })

  test('43: a poller is one instance across its polls, and gets what waits for it in an answer', async () => {
    await start()
    const poll = async (message: PlainMessage) => (await postAgent(scene.server.url, message)).message()
    await poll(full(1))
    for (let i = 1; i < 4; i++) expect(flagsOf(await poll(beat(1, i)))).toBe(0)
    await scene.server.push(workloadOf(1), CONFIG)
    expect(offerOf(await poll(beat(1, 4)))?.hash).toBe(sha256Hex(CONFIG))
    expect(offerOf(await poll(beat(1, 5)))).toBeUndefined()
    await poll(beat(1, 6, statusOf(sha256Hex(CONFIG), 1)))
    expect(scene.server.fleet.workload(workloadOf(1))!.newestPush!.status).toBe('applied')
    const events = (await scene.server.events()).filter(({ instanceUid }) => instanceUid === uidHex(1))
    expect(events.map(({ eventType }) => eventType)).toEqual(['connected'])
  })

  test('a poller that never got its answer asks again with the same bytes and is offered again', async () => {
    await start()
    const poll = async (message: PlainMessage) => (await postAgent(scene.server.url, message)).message()
    await poll(full(1))
    await scene.server.push(workloadOf(1), CONFIG)
    const hash = sha256Hex(CONFIG)
    expect(offerOf(await poll(beat(1, 1)))?.hash).toBe(hash)
    expect(offerOf(await poll(beat(1, 1)))?.hash).toBe(hash)
    expect(offerOf(await poll(beat(1, 2)))).toBeUndefined()
  })

  test('a poller that joins is offered the active config in the answer to its first report', async () => {
    await start()
    const first = await join(1)
    await scene.server.push(workloadOf(1), CONFIG)
    await nextOffer(first)
    const answer = (await postAgent(scene.server.url, full(2))).message()
    expect(offerOf(answer)?.hash).toBe(sha256Hex(CONFIG))
  })

  test('44: a poller that stops is gone after a while, one that says goodbye at once', async () => {
    await start()
    for (const n of [1, 2]) await postAgent(scene.server.url, full(n))
    await postAgent(scene.server.url, beat(2, 1, { agentDisconnect: {} }))
    expect(scene.server.live(uidHex(2))).toBeUndefined()
    scene.server.clock.advance(60_000)
    await postAgent(scene.server.url, beat(1, 1))
    scene.server.clock.advance(89_000)
    await new Promise((resolve) => void setTimeout(resolve, 30))
    expect(scene.server.live(uidHex(1))).toBeDefined()
    scene.server.clock.advance(200_000)
    await eventually('it is gone', () => scene.server.live(uidHex(1)) === undefined)
  })
})

describe('two pollers under one uid', () => {
  test('are told apart: the second is given a uid of its own, and gets nothing of the first', async () => {
    await start()
    const poll = async (message: PlainMessage) => (await postAgent(scene.server.url, message)).message()
    await poll(full(1, 40))
    const id = workloadOf(1)
    let given: PlainMessage = {}
    for (let round = 1; round < 8; round++) {
      await poll(beat(1, 40 + round))
      given = await poll(beat(1, round))
    }
    expect(given['agentIdentification']).toMatchObject({ newInstanceUid: expect.anything() })
    await scene.server.push(id, CONFIG)
    expect(offerOf(await poll(beat(1, 8)))).toBeUndefined()
    expect(offerOf(await poll(beat(1, 48)))?.hash).toBe(sha256Hex(CONFIG))
    // When one of the two says goodbye, the other stays live.
    await poll(beat(1, 9, { agentDisconnect: {} }))
    expect(scene.server.live(uidHex(1))).toBeDefined()
    // What the second agent reports never counts for the first.
    await poll(beat(1, 10, statusOf(sha256Hex(CONFIG), 3, 'not mine')))
    expect(scene.server.fleet.workload(id)!.newestPush!.counts.failed).toBe(0)
    await poll(beat(1, 49, statusOf(sha256Hex(CONFIG), 1)))
    expect(scene.server.fleet.workload(id)!.newestPush!.status).toBe('applied')
  })
})
