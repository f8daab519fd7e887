import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFleetContext, type FakeAgent, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

// Some agents say their config status again with each message. Said after another config was sent, it is no news.

const database = await useTestDatabase()
let ctx: FleetTestContext
let workload: PushedWorkload
beforeEach(async () => {
  ctx = await createFleetContext(database)
  workload = new PushedWorkload(ctx, 'a')
  await workload.settle(1)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const repeat = (agent: FakeAgent, number: number) =>
  agent.say({ remoteConfigStatus: { hash: config(number).hash, status: 'applied', errorMessage: '' } })

/** A poller that runs config 1 and was sent config 2, which another instance has failed: the workload goes back to 1. */
async function goBack(): Promise<{ poller: FakeAgent; pushId: string }> {
  const poller = workload.join('p', { transport: 'http' })
  await ctx.advance(500)
  repeat(poller, 1)
  await workload.push(2)
  repeat(poller, 1)
  await ctx.advance(500)
  expect(poller.offered()).toEqual([config(2).hash])
  workload.agents[0]!.fail('exit code 1')
  await ctx.advance(1_000)
  expect(workload.live.activeHash).toBe(config(1).hash)
  return { poller, pushId: workload.live.newestPush!.pushId }
}

it('an agent that was sent a config which is taken back gets the former one, whatever it repeats meanwhile', async () => {
  const { poller, pushId } = await goBack()
  repeat(poller, 1)
  expect(poller.offered()).toEqual([config(2).hash, config(1).hash])
  await ctx.advance(500)
  expect(await workload.ends(pushId)).toMatchObject({ p: 'offered' })
  // It has come to run the config that was taken back, and then takes the other.
  repeat(poller, 2)
  await ctx.advance(500)
  expect(await workload.ends(pushId)).toMatchObject({ p: 'offered' })
  repeat(poller, 1)
  await ctx.advance(500)
  expect(await workload.ends(pushId)).toMatchObject({ p: 'applied' })
})

it('the same config, pushed again by an operator, is not applied by who was sent another one since', async () => {
  const poller = workload.join('p', { transport: 'http' })
  await ctx.advance(500)
  repeat(poller, 1)
  await workload.push(2)
  repeat(poller, 1)
  const again = await workload.push(1)
  repeat(poller, 1)
  await ctx.advance(500)
  expect(poller.offered()).toEqual([config(2).hash, config(1).hash])
  expect(await workload.ends(again)).toMatchObject({ p: 'offered' })
})
