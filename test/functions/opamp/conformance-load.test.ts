import { describe, expect, test } from 'vitest'
import { openWire, postAgent } from '../../support/agent-wire.ts'
import { hex, keyValues, type PlainMessage } from '../../support/opamp-messages.ts'
import { FULL_STATE, flagsOf, openScene } from '../../support/opamp-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const scene = openScene(await useTestDatabase())
const { start, wire, join, uid, uidHex, description, beat, full } = scene

/**
 * The numbers count the statements that the server's behaviour over OpAMP was specified by. 48 (a Close frame to all
 * agents on a stop) is deliberately not kept, because a Close frame strands one kind of client.
 */
describe('OpAMP conformance: load and hostile input', () => {
  test('45: over budget, upgrades and polls are 503 with Retry-After 30, and messages UNAVAILABLE', async () => {
    await start({ messageBytesMax: 10_000 })
    const opened = await join(1)
    const release = scene.server.holdBytes(8 * 9_990)
    const refusal = await openWire(scene.server.url).catch((error) => error)
    expect(refusal).toMatchObject({ status: 503, headers: { 'retry-after': '30' } })
    const reply = await postAgent(scene.server.url, beat(2, 0))
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '30'])
    const busy = await opened.exchange(beat(1, 1, { customMessage: { data: new Uint8Array(200) } }))
    expect(busy).toMatchObject({
      errorResponse: { type: 2, retryInfo: { retryAfterNanoseconds: 30_000_000_000 } },
    })
    release()
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
    for (let node = scene.server.live(uidHex(1))!.health; node; node = [...node.children.values()][0] ?? null)
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
    expect(scene.server.live(uidHex(1))!.workload!.fingerprintSource).toBe('host')
  })

  test('48, as decided: on a stop agents are cut without a Close frame, and come back to a new server', async () => {
    await start()
    const opened = await join(1)
    await scene.server.stop()
    expect((await opened.ended).code).toBe(1006)
    await start()
    const again = await wire()
    // The agent sends a message without any part. Its workload is remembered; everything else is asked for once.
    expect(flagsOf(await again.exchange(beat(1, 1)))).toBe(FULL_STATE)
    expect(flagsOf(await again.exchange(full(1, 2)))).toBe(0)
    expect(scene.server.live(uidHex(1))).toBeDefined()
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
