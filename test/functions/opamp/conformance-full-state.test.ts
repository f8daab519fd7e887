import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { sha256Hex } from '../../support/fleet-server.ts'
import { hex, type PlainMessage } from '../../support/opamp-messages.ts'
import {
  COMPONENTS,
  CONFIG,
  FULL_STATE,
  flagsOf,
  OTHER,
  openScene,
  SUPERVISED,
  statusOf,
} from '../../support/opamp-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const scene = openScene(await useTestDatabase())
const { start, wire, join, uidHex, beat, full, testNumber } = scene

describe('OpAMP conformance: full state, sequence numbers and components', () => {
  test('16: an unknown uid without a description is asked for its full state, once', async () => {
    await start()
    const opened = await wire()
    expect(flagsOf(await opened.exchange(beat(1, 5)))).toBe(FULL_STATE)
    expect(scene.server.live(uidHex(1))).toBeUndefined()
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
    const before = { ...scene.server.live(uidHex(1)) }
    for (let i = 0; i < 5; i++) expect(flagsOf(await opened.exchange(beat(1, 1)))).toBe(0)
    expect(scene.server.live(uidHex(1))).toMatchObject({
      health: before.health,
      attributes: before.attributes,
    })
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
      ...statusOf(sha256Hex(CONFIG), 1),
    })
    await eventually(
      'the effective config is known',
      () => scene.server.live(uidHex(1))!.reportedConfigHash !== '',
    )
    const { attributes, health, reportedConfigHash, reported, appliedHash } = scene.server.live(uidHex(1))!
    await opened.exchange(beat(1, 1))
    expect(scene.server.live(uidHex(1))).toMatchObject({
      attributes,
      health,
      reportedConfigHash,
      reported,
      appliedHash,
    })
  })

  test('37: unknown components are asked for, the bare answer is kept, and only a new hash is asked for again', async () => {
    await start()
    const opened = await wire()
    const withHash = (hash: string, more: PlainMessage = {}) => ({
      capabilities: SUPERVISED | 0x4000,
      availableComponents: { hash: hex(hash), ...more },
    })
    const list = (...types: string[]) => ({
      components: {
        receivers: { subComponentMap: Object.fromEntries(types.map((type) => [type, {}])) },
      },
    })
    const [first, second] = [`a${testNumber()}`.padEnd(8, '0'), `b${testNumber()}`.padEnd(8, '0')]
    expect(flagsOf(await opened.exchange(full(1, 0, withHash(first))))).toBe(COMPONENTS)
    expect(flagsOf(await opened.exchange(beat(1, 1, withHash(first, list('otlp')))))).toBe(0)
    expect(scene.server.live(uidHex(1))!.components!.components.get('receivers')).toEqual(['otlp'])
    expect(flagsOf(await opened.exchange(full(1, 2, withHash(first))))).toBe(0)
    expect(flagsOf(await opened.exchange(beat(1, 3, withHash(second))))).toBe(COMPONENTS)
    expect(flagsOf(await opened.exchange(beat(1, 4, { capabilities: SUPERVISED | 0x4000 })))).toBe(0)
    await opened.exchange(beat(1, 5, withHash(second, list('otlp', 'kafka'))))
    expect(scene.server.live(uidHex(1))!.components!.components.get('receivers')).toEqual(['kafka', 'otlp'])
    // Another agent that reports the hash of a known list is not asked for the list.
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
