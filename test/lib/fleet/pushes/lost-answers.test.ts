import { afterEach, beforeEach, expect, it } from 'vitest'
import { type FaultyDatabase, faultyDatabase } from '../../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

// Commits that stand although their caller got an error.

const database = await useTestDatabase()
let ctx: FleetTestContext
let db: FaultyDatabase
let workload: PushedWorkload
beforeEach(async () => {
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db })
  workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
})
afterEach(async () => {
  expect(db.pending()).toEqual([])
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

it('a push that was stored as failed has failed, also where its instance applies it after all', async () => {
  const push = await workload.push(1)
  db.loseAnswer('rollback.automatic')
  workload.agents[0]!.fail('exit code 1')
  await ctx.advance(500)
  workload.agents[0]!.apply(config(1).hash)
  await ctx.advance(5_000)
  expect(await workload.stored(push)).toMatchObject({ status: 'failed' })
  expect(workload.live).toMatchObject({
    hasStoppedOffers: false,
    newestPush: { status: 'failed', phase: 'failed' },
  })
})

it('browsers are told that a failed config was taken back by itself, also where the answer to that was lost', async () => {
  await workload.settle(1)
  await workload.push(2)
  db.loseAnswer('rollback.automatic')
  workload.agents[0]!.fail('exit code 1')
  await ctx.advance(5_000)
  const told = ctx.frames.filter((frame) => frame.type === 'auto_rollback_applied')
  const { newestPush } = workload.live
  expect(newestPush).toMatchObject({ kind: 'auto-rollback', hash: config(1).hash })
  expect(told).toEqual([
    {
      type: 'auto_rollback_applied',
      workload_id: workload.id,
      from_hash: config(2).hash,
      to_hash: config(1).hash,
      reason: expect.stringMatching(/./),
      target_kind: 'previous',
      push_id: newestPush!.pushId,
    },
  ])
})

it('browsers are told once of a rollback that was made again because its commit was lost', async () => {
  await workload.settle(1)
  await workload.push(2)
  db.loseCommit('rollback.automatic')
  workload.agents[0]!.fail('exit code 1')
  await ctx.advance(5_000)
  const told = ctx.frames.filter((frame) => frame.type === 'auto_rollback_applied')
  expect(told).toHaveLength(1)
})

it.each(['applied', 'pending'])(
  'an offer of a push that is %s ends when its joiner leaves before it is known to be stored',
  async (standing) => {
    const push = await workload.push(1)
    if (standing === 'applied') workload.agents[0]!.apply()
    db.loseAnswer('offers.store')
    const joiner = workload.join('b')
    await ctx.advance(500)
    joiner.goodbye()
    await ctx.advance(10_000)
    expect(await workload.ends(push)).toMatchObject({ b: 'gone: left' })
    await ctx.advance(130_000)
    expect('b' in (await workload.ends(push))).toBe(standing === 'pending')
  },
)
