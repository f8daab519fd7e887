import { afterAll, beforeEach, expect, it } from 'vitest'
import { insertOffers, listTargets } from '../../../lib/store/push-targets.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { PushedWorkload } from '../../support/pushed-workload.ts'

// Transactions that lock several rows lock them in one order, so that no two wait for each other: workloads by id, then
// pushes, then the targets of pushes.

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database)
})
afterAll(() => ctx.close())

/** Run `work` until it waits for a row that the test holds; returns whether the other rows are still free then. */
async function whileHolding(
  held: { text: string; params: unknown[] },
  work: () => Promise<unknown>,
  other: { text: string; params: unknown[] },
): Promise<boolean> {
  let under: Promise<unknown> = Promise.resolve()
  const isFree = await database.pool.transaction('test', async (tx) => {
    // The lock that an update of the row takes.
    await tx.execute(`${held.text} for no key update`, held.params)
    under = work()
    await expect.poll(() => countWaiting(), { timeout: 5_000 }).toBe(1)
    const rows = await database.pool.query(`${other.text} for update skip locked`, other.params)
    return rows.length > 0
  })
  await under
  return isFree
}

async function countWaiting(): Promise<number> {
  const rows = await database.pool.query(
    `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  )
  return rows.length
}

it('offers lock their workloads by id, whichever was pushed to first', async () => {
  const pair = [new PushedWorkload(ctx, 'a', { host: 'one' }), new PushedWorkload(ctx, 'b', { host: 'two' })]
  const [low, high] = pair.sort((a, b) => (a.id < b.id ? -1 : 1))
  await ctx.advance(500)
  const pushIds = [await high!.push(1), await low!.push(1)]
  const targets = await listTargets(database.pool, pushIds)
  expect(targets).toHaveLength(2)
  const of = (id: string) => ({ text: 'select id from workloads where id = $1', params: [id] })
  const work = () => database.pool.transaction('test', (tx) => insertOffers(tx, targets))
  expect(await whileHolding(of(low!.id), work, of(high!.id))).toBe(true)
})

it('what agents report locks a push before its targets, as a push does that takes its place', async () => {
  const workload = new PushedWorkload(ctx, 'ab')
  await ctx.advance(500)
  const pushId = await workload.push(1)
  workload.agents[0]!.apply()
  const isFree = await whileHolding(
    { text: 'select push_id from pushes where push_id = $1', params: [pushId] },
    () => ctx.fleet.writer.flush(),
    {
      text: 'select instance_uid from push_targets where push_id = $1 and instance_uid = $2',
      params: [pushId, workload.agents[0]!.uid],
    },
  )
  expect(isFree).toBe(true)
})
