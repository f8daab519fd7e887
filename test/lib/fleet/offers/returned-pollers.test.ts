import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFleetContext, type FakeAgent, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

// All polls of an agent count as one connection; whether it has reconnected can be told by its messages only.

const database = await useTestDatabase()
let ctx: FleetTestContext
let workload: PushedWorkload
let poller: FakeAgent
beforeEach(async () => {
  ctx = await createFleetContext(database)
  workload = new PushedWorkload(ctx, 'a')
  await workload.settle(1)
  poller = workload.join('p', { transport: 'http' })
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

async function poll(times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    poller.say({})
    await ctx.advance(30_000)
  }
}

/** Let the poller's process restart: it describes itself and counts its messages from 0. */
function restart(): void {
  const attributes = { 'service.name': 'edge', 'host.name': 'vm', 'k8s.pod.name': 'pod-p' }
  poller.say({ sequenceNum: 0, attributes: new Map(Object.entries(attributes)) })
}

it('one whose request came three times at once, each answered too late, is asked again', async () => {
  poller.say({ sequenceNum: 7 })
  await ctx.advance(500)
  // These polls waited at a process that stood still; the agent has given up waiting for their answers.
  for (let copy = 0; copy < 5; copy++) poller.say({ sequenceNum: 7 })
  expect(poller.offered()).toHaveLength(3)
  await poll(5)
  expect(poller.offered()).toHaveLength(4)
  poller.apply()
  expect(await workload.ends(workload.live.active!.push.pushId)).toMatchObject({ p: 'applied' })
})

it('one that sends each request again is asked three times, and answered again twice each time', async () => {
  for (let sequenceNum = 100; sequenceNum < 140; sequenceNum++) {
    for (let copy = 0; copy < 4; copy++) poller.say({ sequenceNum })
    await ctx.advance(30_000)
  }
  expect(poller.offered()).toHaveLength(9)
})

it('one that applies the config and dies of it each time is asked three times', async () => {
  await poll(1)
  for (let i = 0; i < 8; i++) {
    if (poller.offered().length > i) poller.apply()
    await poll(1)
    restart()
    await ctx.advance(500)
    await poll(1)
  }
  expect(poller.offered()).toHaveLength(3)
  const ends = await workload.ends(workload.live.active!.push.pushId)
  expect(ends).toMatchObject({ a: 'applied', p: 'failed: lost_while_applying' })
})

it('one that was asked in vain is offered the config again when it comes back', async () => {
  await poll(30)
  expect(poller.offered()).toHaveLength(3)
  await ctx.advance(150_000)
  expect(ctx.fleet.state.instances.get(poller.uid)).toMatchObject({ connection: null })
  await poll(1)
  expect(poller.offered()).toHaveLength(4)
})

it('one that was asked in vain is offered the config again when it starts anew', async () => {
  await poll(30)
  expect(poller.offered()).toHaveLength(3)
  restart()
  await ctx.advance(500)
  expect(poller.offered()).toHaveLength(4)
})

it('one that ran the config and starts anew without it is offered it again', async () => {
  await poll(2)
  poller.apply()
  await poll(2)
  expect(poller.offered()).toEqual([config(1).hash])
  restart()
  poller.say({ remoteConfigStatus: { hash: '', status: 'unset', errorMessage: '' } })
  await ctx.advance(500)
  await poll(1)
  expect(poller.offered()).toEqual([config(1).hash, config(1).hash])
})

it('one that dies of the config each time is asked three times, and the config fails there', async () => {
  const push = workload.live.active!.push.pushId
  for (let i = 0; i < 10; i++) {
    await poll(1)
    restart()
    await ctx.advance(500)
  }
  expect(poller.offered()).toHaveLength(3)
  expect(await workload.ends(push)).toMatchObject({ p: 'failed: lost_while_applying' })
})
