import { afterAll, beforeEach, expect, it } from 'vitest'
import type { Db } from '../../../lib/store/db.ts'
import { storeHold } from '../../../lib/store/holds.ts'
import { insertOffers, listTargets, updateTargets } from '../../../lib/store/push-targets.ts'
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

it('what instances did is written by push and uid, over all statements that it takes', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  const [one] = await listTargets(database.pool, [await workload.push(1)])
  const pushIds = [1, 2].map((n) => `0192d3b4-0000-7000-8000-00000000000${n}`)
  // Scattered, and the second push first: 7 and 2,500 have no common divisor.
  const targets = Array.from({ length: 2_500 }, (_, n) => ({
    pushId: pushIds[(n + 1) % 2]!,
    target: { ...one!.target, instanceUid: String((n * 7) % 2_500).padStart(32, '0') },
  }))
  const statements: string[][] = []
  const tx: Db = {
    query: () => Promise.reject(new Error('nothing is read')),
    async execute(_, [ids, uids] = []) {
      const read = (list: unknown) => String(list).slice(1, -1).replaceAll('"', '').split(',')
      const named = read(uids)
      statements.push(read(ids).map((id, at) => `${id}/${named[at]}`))
      return named.length
    },
  }
  await updateTargets(tx, targets)
  expect(statements.map(({ length }) => length)).toEqual([1_000, 1_000, 500])
  const written = statements.flat()
  expect(written).toEqual([...written].sort())
  expect(new Set(written).size).toBe(2_500)
})

it('a hold locks its workload before it is written, as a push by hand does that holds the workload as well', async () => {
  const workload = new PushedWorkload(ctx, 'a')
  await ctx.advance(500)
  const hold = {
    workloadId: workload.id,
    reason: 'by hand',
    heldBy: 'a@example.com',
    heldById: 'u1',
    heldAt: ctx.clock.now(),
    dueAt: ctx.clock.now(),
  }
  let other: Promise<unknown> = Promise.resolve()
  await database.pool.transaction('test', async (tx) => {
    // The lock that a push takes.
    await tx.query('select id from workloads where id = $1 for update', [workload.id])
    other = database.pool.transaction('test', (also) => storeHold(also, hold))
    await expect.poll(() => countWaiting(), { timeout: 5_000 }).toBe(1)
    await storeHold(tx, hold)
  })
  await other
})
