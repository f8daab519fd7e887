import { expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { uidOf, useLinkedFleet } from '../../support/linked-fleet.ts'
import { keyValues } from '../../support/opamp-messages.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
const fleet = useLinkedFleet(database)

const YAML = configYaml(1)
const HASH = Buffer.from(configHash(YAML), 'hex')
const APPLYING = { remoteConfigStatus: { lastRemoteConfigHash: HASH, status: 2 } }
const NEW = {
  agentDescription: { identifyingAttributes: keyValues({ 'service.name': 'edge' }) },
  remoteConfigStatus: { lastRemoteConfigHash: Buffer.alloc(32), status: 1 },
}

/** A poller is in the middle of applying a push as it ends, by `end`, and starts anew; three times. Its losses after each. */
async function restartThrice(end: (front: ReturnType<typeof fleet.openFront>, n: number) => Promise<void>) {
  const front = fleet.openFront('a front')
  front.link(fleet.openOwner())
  void front.poll(1, 1, NEW)
  await fleet.ctx.advance(500)
  const { workload } = fleet.instanceOf(1)!
  await pushConfig(fleet.ctx.fleet, workload!.id, YAML)
  const losses: (number | undefined)[] = []
  for (let round = 0, n = 2; round < 3; round++, n = 1) {
    await fleet.ctx.advance(2_000)
    void front.poll(1, n)
    await fleet.ctx.advance(2_000)
    void front.poll(1, n + 1, APPLYING)
    await fleet.ctx.advance(2_000)
    await end(front, n + 2)
    void front.poll(1, 0, NEW)
    await fleet.ctx.advance(2_000)
    losses.push(workload!.active!.targets.get(uidOf(1))?.losses)
  }
  return losses
}

it('a poller that says goodbye in the middle of applying, and starts anew, was never lost', async () => {
  const losses = await restartThrice(async (front, n) => {
    void front.poll(1, n, { agentDisconnect: {} })
    await fleet.ctx.advance(20_000)
  })
  expect(losses).toEqual([0, 0, 0])
})

it('one that falls silent was lost once each time, and not once more as it starts anew', async () => {
  const losses = await restartThrice(() => fleet.ctx.advance(140_000))
  expect(losses).toEqual([1, 2, 3])
})

it('one that starts anew so soon that nobody has missed it was lost once each time', async () => {
  const losses = await restartThrice(() => fleet.ctx.advance(10_000))
  expect(losses).toEqual([1, 2, 3])
})

it('one whose front was gone as it started anew was lost to muster, not to the config', async () => {
  const losses = await restartThrice(async () => {
    const { connection } = fleet.instanceOf(1)!
    fleet.ctx.fleet.connectionClosed(connection!, { isOurDoing: true })
    await fleet.ctx.advance(20_000)
  })
  expect(losses).toEqual([0, 0, 0])
})
