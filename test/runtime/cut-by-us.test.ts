import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { CONFIG, nextOffer, openScene } from '../support/opamp-scene.ts'
import { useTestDatabase } from '../support/postgres.ts'

const scene = openScene(await useTestDatabase())

/** The agent on a new connection; it has described itself. */
async function returned() {
  const wire = await scene.wire()
  wire.send(scene.full(1))
  return wire
}

it.each([
  ['memory is short', 'cutQuiet'],
  ['their process is cut off from the owner', 'sendElsewhere'],
] as const)('agents that are cut because %s are not lost while they apply a config', async (_, cut) => {
  const server = await scene.start()
  let wire = await scene.join(1)
  const id = scene.workloadOf(1)
  await server.push(id, CONFIG)
  const { active } = server.fleet.workload(id)!
  await nextOffer(wire)
  for (let times = 0; times < 4; times++) {
    server[cut]()
    await wire.ended
    await eventually('the end is taken', () => server.live(scene.uidHex(1)) === undefined)
    wire = await returned()
    await nextOffer(wire)
  }
  expect(active).toMatchObject({ lossCount: 0, push: { status: 'pending' } })
  expect(active!.targets.get(scene.uidHex(1))).toMatchObject({ state: 'offered' })
  expect([...server.fleet.workload(id)!.quarantinedHashes]).toEqual([])
})

it('an agent that breaks its connection each time still is', async () => {
  const server = await scene.start()
  let wire = await scene.join(1)
  const id = scene.workloadOf(1)
  await server.push(id, CONFIG)
  await nextOffer(wire)
  for (let times = 0; times < 3; times++) {
    wire.cut()
    await eventually('the end is taken', () => server.live(scene.uidHex(1)) === undefined)
    wire = await returned()
    if (times < 2) await nextOffer(wire)
  }
  await eventually('the push has failed', () => server.fleet.workload(id)!.newestPush!.status === 'failed')
})
