import { describe, expect, test } from 'vitest'
import { postAgent } from '../../support/agent-wire.ts'
import { eventually } from '../../support/eventually.ts'
import { sha256Hex } from '../../support/fleet-server.ts'
import { hex, type PlainMessage } from '../../support/opamp-messages.ts'
import { CONFIG, OTHER, offerOf, openScene, SUPERVISED, statusOf } from '../../support/opamp-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const scene = openScene(await useTestDatabase())
const { start, beat, full, workloadOf, uidHex } = scene

const poll = async (message: PlainMessage) => (await postAgent(scene.server.url, message)).message()

/** A config that needs the receiver kafka. */
const KAFKA = `receivers: { kafka: {} }
exporters: { debug: {} }
service: { pipelines: { traces: { receivers: [kafka], exporters: [debug] } } }
`

const components = (...receivers: string[]): PlainMessage => ({
  capabilities: SUPERVISED | 0x4000,
  availableComponents: {
    hash: hex(sha256Hex(receivers.join())),
    components: {
      receivers: { subComponentMap: Object.fromEntries(receivers.map((type) => [type, {}])) },
      exporters: { subComponentMap: { debug: {} } },
    },
  },
})

describe('what a poll carries is decided when it comes', () => {
  test('a config that another poller failed meanwhile is not handed out', async () => {
    await start()
    for (const n of [1, 2]) await poll(full(n))
    await scene.server.push(workloadOf(1), CONFIG)
    const hash = sha256Hex(CONFIG)
    expect(offerOf(await poll(beat(1, 1)))?.hash).toBe(hash)
    await poll(beat(1, 2, statusOf(hash, 3, 'no')))
    const workload = scene.server.fleet.workload(workloadOf(1))!
    await eventually('the push has failed', () => workload.newestPush?.status === 'failed')
    expect(offerOf(await poll(beat(2, 1)))).toBeUndefined()
    expect(offerOf(await poll(beat(2, 2)))).toBeUndefined()
  })

  test('a poller that a newer push leaves out gets nothing of it, nor of the one before', async () => {
    await start()
    await poll(full(1, 0, components('kafka', 'otlp')))
    await poll(full(2, 0, components('otlp')))
    await scene.server.push(workloadOf(1), CONFIG)
    const push = await scene.server.push(workloadOf(1), KAFKA)
    expect(push.excluded).toEqual({ component_missing: 1 })
    expect(offerOf(await poll(beat(2, 1)))).toBeUndefined()
    expect(offerOf(await poll(beat(1, 1)))?.hash).toBe(sha256Hex(KAFKA))
    expect(scene.server.fleet.workload(workloadOf(1))!.active!.targets.has(uidHex(2))).toBe(false)
  })

  test('nothing is handed out while the process is cut off from its lock, and it comes once it is not', async () => {
    let mayOffer = true
    await start({ mayOffer: () => mayOffer })
    await poll(full(1))
    await scene.server.push(workloadOf(1), CONFIG)
    mayOffer = false
    expect(offerOf(await poll(beat(1, 1)))).toBeUndefined()
    mayOffer = true
    expect(offerOf(await poll(beat(1, 2)))?.hash).toBe(sha256Hex(CONFIG))
  })

  test('a newer push is what the poll carries, once', async () => {
    await start()
    await poll(full(1))
    await scene.server.push(workloadOf(1), CONFIG)
    await scene.server.push(workloadOf(1), OTHER)
    expect(offerOf(await poll(beat(1, 1)))?.hash).toBe(sha256Hex(OTHER))
    expect(offerOf(await poll(beat(1, 2)))).toBeUndefined()
  })
})

describe('what counts as sent', () => {
  test('is only what an answer carried: a push that no poll asked for was not sent', async () => {
    await start()
    await poll(full(1))
    const push = await scene.server.push(workloadOf(1), CONFIG)
    expect(push.sentAt).toBeNull()
    expect(scene.server.live(uidHex(1))!.offer).toMatchObject({ isCommitted: true, lastSentAtMs: null })
    await poll(beat(1, 1))
    expect(push.sentAt).not.toBeNull()
  })

  test('a poller that never came for its offer was not lost with it', async () => {
    await start()
    await poll(full(1))
    await scene.server.push(workloadOf(1), CONFIG)
    const { active } = scene.server.fleet.workload(workloadOf(1))!
    scene.server.clock.advance(100_000)
    await eventually('it is gone', () => scene.server.live(uidHex(1)) === undefined)
    expect(active!.targets.get(uidHex(1))!.losses).toBe(0)
    // When it comes back within the grace it gets the offer that it never fetched.
    expect(offerOf(await poll(beat(1, 1)))?.hash).toBe(sha256Hex(CONFIG))
  })

  test('a request that is sent again and again carries the offer three times at most', async () => {
    await start()
    await poll(full(1))
    await scene.server.push(workloadOf(1), CONFIG)
    const carried = []
    for (let n = 0; n < 6; n++) carried.push(offerOf(await poll(beat(1, 1))) !== undefined)
    expect(carried).toEqual([true, true, true, false, false, false])
  })
})
