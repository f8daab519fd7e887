import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { claimByItself, endTakenBack } from '../../../lib/store/auto-apply-roll-back.ts'
import { endAutoApplyTargets } from '../../../lib/store/auto-apply-targets.ts'
import type { Db } from '../../../lib/store/db.ts'
import { storeHold } from '../../../lib/store/holds.ts'
import { insertOffers, listTargets, updateTargets } from '../../../lib/store/push-targets.ts'
import { deleteWorkload } from '../../../lib/store/workloads.ts'
import { createFleetContext, type FleetTestContext } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { config, PushedWorkload } from '../../support/pushed-workload.ts'

// Transactions that lock several rows lock them in one order, so that no two wait for each other: workloads by id, then
// pushes by id, then the targets of pushes. What came by itself is locked by auto-apply and workload.

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

/** Two workloads with an active push each; the workload that comes first by id has the push that comes last. */
async function pushedCrosswise() {
  const pair = [new PushedWorkload(ctx, 'a', { host: 'one' }), new PushedWorkload(ctx, 'b', { host: 'two' })]
  const [first, second] = pair.sort((a, b) => (a.id < b.id ? -1 : 1))
  await ctx.advance(500)
  const low = await second!.push(1)
  await ctx.advance(10)
  const high = await first!.push(1)
  expect(low < high).toBe(true)
  return { first: first!, second: second!, low, high }
}
const push = (id: string) => ({ text: 'select push_id from pushes where push_id = $1', params: [id] })

it('what agents report locks pushes by id, whichever agent was first', async () => {
  const { first, second, low, high } = await pushedCrosswise()
  first.agents[0]!.apply()
  second.agents[0]!.apply()
  expect(await whileHolding(push(low), () => ctx.fleet.writer.flush(), push(high))).toBe(true)
})

it('what agents report locks the pushes of all targets before any target', async () => {
  const { first, second, low, high } = await pushedCrosswise()
  const [one, two] = await listTargets(database.pool, [low, high])
  for (const entry of [two!, one!]) ctx.fleet.writer.target(entry)
  const target = (pushId: string) => ({
    text: 'select push_id from push_targets where push_id = $1',
    params: [pushId],
  })
  expect([first.agents.length, second.agents.length]).toEqual([1, 1])
  expect(await whileHolding(push(high), () => ctx.fleet.writer.flush(), target(low))).toBe(true)
})

it('pushes that begin together lock those whose place they take by id, as what agents report does', async () => {
  const { first, second, low, high } = await pushedCrosswise()
  const actor = { userId: 'u1', email: 'pusher@example.com', askAgain: null }
  const requests = [first, second].map(({ id }) => ({
    workloadId: id,
    ...config(2),
    used: [],
    path: 'request' as const,
    approvalId: null,
    rollbackTargetKind: null,
  }))
  const together = () => ctx.fleet.pushTogether('push', actor, requests, async () => ({ ok: true }))
  expect(await whileHolding(push(low), together, push(high))).toBe(true)
})

it('a push that is undone locks those of its workload by id, as what agents report does', async () => {
  const workload = new PushedWorkload(ctx, 'ab')
  await ctx.advance(500)
  const base = await workload.settle(1)
  const stages = [50, 100].map((percentage) => ({ percentage, dwellMs: 60_000, gates: [] }))
  await workload.stage(2, stages)
  const staged = workload.live.newestPush!.pushId
  expect(base < staged).toBe(true)
  const failing = async () => {
    // What it says is stored first, so that only the undoing waits.
    workload.agents.find((agent) => agent.offered().length === 2)!.fail('exit code 1')
    await ctx.advance(1_000)
  }
  expect(await whileHolding(push(base), failing, push(staged))).toBe(true)
})

describe('what came by itself', () => {
  const row = (autoApplyId: string, workloadId: string) => ({
    text: 'select workload_id from auto_apply_targets where auto_apply_id = $1 and workload_id = $2',
    params: [autoApplyId, workloadId],
  })
  const inTransaction = (work: (tx: Db) => Promise<void>) => () => database.pool.transaction('test', work)

  beforeEach(async () => {
    await database.pool.execute('delete from auto_applies')
    for (const id of ['auto_1', 'auto_2'])
      await database.pool.execute(
        `insert into auto_applies (id, fleet_config_id, fleet_config_name, status, number, version_hash, selector,
           priority, policy_hash, reaches_production, plan, plan_hash, author_ids, requested_by, requested_by_id,
           requested_at, request_comment, approvals, updated_at)
         values ($1, gen_random_uuid(), 'Hosts', 'ended', 1, 'h', '{}', 0, 'p', false, '{}', 'p', '{}', 'a', 'a', now(),
           '', '[]', now())`,
        [id],
      )
    await database.pool.execute(
      `insert into auto_apply_targets (auto_apply_id, workload_id, workload_name, workload_place, is_newcomer,
         is_production, result_hash, state, push_id, started_at)
       select a.id, w, w, '', false, false, 'h', 'started', gen_random_uuid(), now()
       from auto_applies a, unnest(array['w2', 'w1']) as w`,
    )
  })

  it('is taken back in one order', async () => {
    const claim = inTransaction((tx) =>
      claimByItself(tx, 'cmp_1', [
        { autoApplyId: 'auto_2', workloadId: 'w1' },
        { autoApplyId: 'auto_1', workloadId: 'w2' },
        { autoApplyId: 'auto_1', workloadId: 'w1' },
      ]),
    )
    expect(await whileHolding(row('auto_1', 'w1'), claim, row('auto_2', 'w1'))).toBe(true)
    expect(await whileHolding(row('auto_1', 'w1'), claim, row('auto_1', 'w2'))).toBe(true)
  })

  it('ends in that order', async () => {
    const end = inTransaction((tx) =>
      endAutoApplyTargets(
        tx,
        'auto_1',
        'started',
        ['w2', 'w1'].map((workloadId) => ({ workloadId, state: 'applied' })),
        ctx.clock.now(),
      ),
    )
    expect(await whileHolding(row('auto_1', 'w1'), end, row('auto_1', 'w2'))).toBe(true)
  })

  it('ends in that order also where it is taken back', async () => {
    await database.pool.execute(`update auto_apply_targets set rolled_back_by = 'cmp_1'`)
    const end = inTransaction((tx) =>
      endTakenBack(
        tx,
        'cmp_1',
        ['started', 'moved_on'],
        ['w2', 'w1'].map((workloadId) => ({ workloadId, state: 'moved_on' })),
        ctx.clock.now(),
      ),
    )
    expect(await whileHolding(row('auto_1', 'w1'), end, row('auto_2', 'w1'))).toBe(true)
    expect(await whileHolding(row('auto_1', 'w1'), end, row('auto_1', 'w2'))).toBe(true)
  })
})

it('a workload is removed with who asked for a text on it just before, and locked before that is looked up', async () => {
  const workload = new PushedWorkload(ctx, 'a', { host: 'one' })
  await ctx.advance(500)
  let removing: Promise<unknown> = Promise.resolve()
  await database.pool.transaction('test', async (tx) => {
    await tx.execute(
      `insert into approvals (id, workload_id, draft_yaml, draft_hash, base_config_hash, target_group, target_env, requester,
         requester_id, request_comment, status, prod_target, prod_confirmation, prod_double_confirmed, break_glass,
         created_at, updated_at)
       values ('car_late', $1, '', repeat('e', 64), repeat('0', 64), '', '', 'p', 'late', '', 'pending', false, false,
         false, false, now(), now())`,
      [workload.id],
    )
    removing = database.pool.transaction('test', (other) => deleteWorkload(other, workload.id))
    await expect.poll(() => countWaiting(), { timeout: 5_000 }).toBe(1)
  })
  expect(await removing).toBe(true)
  const kept = `select author_id as id from authors_of_removed where hash = repeat('e', 64)`
  expect(await database.pool.query(kept)).toEqual([{ id: 'late' }])
})
