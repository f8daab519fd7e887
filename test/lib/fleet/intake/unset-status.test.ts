import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import { invoke, signIn } from '../../../support/invoke.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { PushedWorkload } from '../../../support/pushed-workload.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let as: string

beforeEach(async () => {
  ctx = await createFleetContext(database)
  as = (await signIn(ctx)).token
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const UNSET = { remoteConfigStatus: { hash: '', status: 'unset', errorMessage: '' } } as const
const shown = async (id: string) => {
  const json = (await invoke(ctx, `GET /api/workloads/${id}`, { as })).json as Record<string, never>
  return { status: json['remote_config_status']?.['status'] ?? null, drifted: json['drifted_instance_count'] }
}

it('the record of a workload follows when an instance says that it runs no remote config any more', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  await workload.settle(1)
  expect(await shown(workload.id)).toEqual({ status: 'applied', drifted: 0 })
  workload.agents[0]!.say(UNSET)
  await ctx.advance(60_000)
  expect(await shown(workload.id)).toEqual({ status: null, drifted: 1 })
})

it('an instance that says it runs none is not counted among those that run a config', async () => {
  const workload = new PushedWorkload(ctx, 'ab')
  await ctx.advance(500)
  await workload.push(1)
  workload.agents[0]!.apply()
  await ctx.advance(500)
  workload.agents[1]!.fail('exit code 1')
  await ctx.advance(5_000)
  const failed = workload.live.newestPush!
  expect(failed.status).toBe('failed')
  workload.agents[0]!.say(UNSET)
  await ctx.advance(60_000)
  expect(workload.live.live.appliedCount(failed.hash)).toBe(0)
})
