import { describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { sha256Hex } from '../../support/fleet-server.ts'
import {
  CONFIG,
  nextOffer,
  OTHER,
  offerOf,
  openScene,
  READ_ONLY,
  statusOf,
} from '../../support/opamp-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const scene = openScene(await useTestDatabase())
const { start, wire, join, uid, beat, full, workloadOf } = scene

/**
 * The numbers count the statements that the server's behaviour over OpAMP was specified by. 25 (a config that an agent
 * failed is not sent to it again) is deliberately not kept for an operator's new push.
 */
describe('OpAMP conformance: remote config', () => {
  test('21: AcceptsRemoteConfig switched off takes effect at once', async () => {
    await start()
    const opened = await join(1)
    expect(scene.server.fleet.workload(workloadOf(1))!.acceptsRemoteConfig).toBe(true)
    await opened.exchange(beat(1, 1, { capabilities: READ_ONLY }))
    await expect(scene.server.push(workloadOf(1), CONFIG)).rejects.toThrow('workload-not-connected')
    expect(offerOf(await opened.exchange(beat(1, 2, { capabilities: READ_ONLY })))).toBeUndefined()
  })

  test('22: an agent without AcceptsRemoteConfig is never offered anything, on push or on join', async () => {
    await start()
    const capable = await join(1)
    const readOnly = await join(2, { capabilities: READ_ONLY })
    await scene.server.push(workloadOf(1), CONFIG)
    await nextOffer(capable)
    expect(offerOf(await readOnly.exchange(beat(2, 1, { capabilities: READ_ONLY })))).toBeUndefined()
    const late = await wire()
    expect(offerOf(await late.exchange(full(3, 0, { capabilities: READ_ONLY })))).toBeUndefined()
    for (let i = 1; i < 5; i++)
      expect(offerOf(await late.exchange(beat(3, i, { capabilities: READ_ONLY })))).toBeUndefined()
    expect(readOnly.untaken()).toBe(0)
  })

  test('23, 26: a joiner without a config is offered the active one, once, with the hash of its bytes', async () => {
    await start()
    const first = await join(1)
    await scene.server.push(workloadOf(1), CONFIG)
    await nextOffer(first)
    const late = await wire()
    late.send(full(2))
    const offer = await nextOffer(late)
    expect(offer.hash).toBe(sha256Hex(CONFIG))
    expect(offer.files).toEqual({ '': { body: Buffer.from(CONFIG), contentType: 'text/yaml' } })
    for (let i = 1; i <= 10; i++) expect(offerOf(await late.exchange(beat(2, i)))).toBeUndefined()
    expect(late.untaken()).toBe(0)
  })

  test('24: an agent that reports the desired hash as applied is offered nothing', async () => {
    await start()
    const first = await join(1)
    await scene.server.push(workloadOf(1), CONFIG)
    await nextOffer(first)
    await first.exchange(beat(1, 1, statusOf(sha256Hex(CONFIG), 1)))
    const late = await join(2, statusOf(sha256Hex(CONFIG), 1))
    for (let i = 1; i < 5; i++) expect(offerOf(await late.exchange(beat(2, i)))).toBeUndefined()
    expect(late.untaken()).toBe(0)
  })

  test('25, as decided: a hash that failed is not sent again, until an operator pushes it anew', async () => {
    await start()
    const opened = await join(1)
    await scene.server.push(workloadOf(1), CONFIG)
    await nextOffer(opened)
    await opened.exchange(beat(1, 1, statusOf(sha256Hex(CONFIG), 3, 'no')))
    await eventually('the push failed', () => {
      return scene.server.fleet.workload(workloadOf(1))!.newestPush!.status === 'failed'
    })
    for (let i = 2; i < 7; i++) expect(offerOf(await opened.exchange(beat(1, i)))).toBeUndefined()
    expect(opened.untaken()).toBe(0)
    await scene.server.push(workloadOf(1), CONFIG)
    expect((await nextOffer(opened)).hash).toBe(sha256Hex(CONFIG))
  })

  test('27: failed(B), then applied(A) from the agent itself: B is not offered again', async () => {
    await start()
    const [one, two] = [await join(1), await join(2)]
    await scene.server.push(workloadOf(1), OTHER)
    await nextOffer(one)
    await nextOffer(two)
    const [a, b] = [sha256Hex(CONFIG), sha256Hex(OTHER)]
    await two.exchange(beat(2, 1, statusOf(b, 1)))
    await eventually(
      'it is applied somewhere',
      () => scene.server.fleet.workload(workloadOf(1))!.active !== null,
    )
    await one.exchange(beat(1, 1, statusOf(b, 3, 'no')))
    await one.exchange(beat(1, 2, statusOf(a, 1)))
    for (let i = 3; i < 8; i++) expect(offerOf(await one.exchange(beat(1, i)))?.hash).not.toBe(b)
  })

  test('28: FAILED for a hash that was never offered rolls nothing back', async () => {
    await start()
    const opened = await join(1)
    await scene.server.push(workloadOf(1), CONFIG)
    await nextOffer(opened)
    await opened.exchange(beat(1, 1, statusOf(sha256Hex(CONFIG), 1)))
    await opened.exchange(beat(1, 2, statusOf('ab'.repeat(32), 3, 'foreign')))
    await opened.exchange(beat(1, 3))
    const workload = scene.server.fleet.workload(workloadOf(1))!
    expect(workload.newestPush).toMatchObject({ status: 'applied', kind: 'approval' })
    expect(scene.server.notices.rollbacks).toEqual([])
  })

  test('29, 30: a push arrives unasked, under the 16 raw bytes of the uid', async () => {
    await start()
    const opened = await join(1)
    await scene.server.push(workloadOf(1), CONFIG)
    const pushed = await opened.next()
    expect(offerOf(pushed)?.hash).toBe(sha256Hex(CONFIG))
    expect(pushed['instanceUid']).toEqual(Buffer.from(uid(1)))
  })
})
