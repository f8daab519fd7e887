import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Assignments } from '../../../../lib/fleet/pushes/assignments.ts'
import { listQuarantines } from '../../../../lib/store/quarantines.ts'
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

it('a config that was pushed again has just been applied by whom it found with it, also where the answer to that was lost', async () => {
  await workload.settle(1)
  await ctx.advance(30 * 60_000)
  db.loseAnswer('push')
  await workload.push(1).catch(() => undefined)
  await ctx.advance(5_000)
  workload.agents[0]!.lose()
  const { active } = workload.live
  expect(active!.push.seq).toBe(2)
  expect(active!.targets.get(workload.agents[0]!.uid)).toMatchObject({ state: 'applied', losses: 1 })
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
    // It never answered, so its row goes with it.
    expect(Object.keys(await workload.ends(push))).not.toContain('b')
  },
)

describe('a push that stands while what follows its commit fails in this process', () => {
  beforeEach(() => {
    vi.spyOn(Assignments.prototype, 'apply').mockImplementationOnce(() => {
      throw new Error('no room')
    })
  })
  afterEach(() => vi.restoreAllMocks())

  it.each(['alone', 'together'])('is followed as the database holds it, pushed %s', async (way) => {
    const wish = {
      workloadId: workload.id,
      ...config(1),
      used: [],
      path: 'campaign' as const,
      approvalId: null,
      rollbackTargetKind: null,
      actor: { userId: 'u1', email: 'ada@example.com', askAgain: null },
    }
    const pushed =
      way === 'alone'
        ? ctx.fleet.push(wish, async () => ({ ok: true }))
        : ctx.fleet.pushTogether('campaign.push', wish.actor, [wish], async () => ({ ok: true }))
    await expect(pushed).rejects.toThrow('no room')
    await ctx.advance(5_000)
    expect(workload.live).toMatchObject({ hasStoppedOffers: false, newestPush: { hash: config(1).hash } })
    expect(workload.agents[0]!.offered()).toEqual([config(1).hash])
  })
})

/** Which instances each config is kept from: in memory, and by the database. */
async function keptFrom() {
  await ctx.fleet.writer.flush()
  const stored = await listQuarantines(ctx.db, workload.id)
  return {
    memory: [...workload.live.quarantinedInstances].flatMap(([hash, uids]) =>
      [...uids].map((uid) => `${hash} ${uid}`),
    ),
    stored: stored.map(({ hash, instanceUid }) => `${hash} ${instanceUid}`),
  }
}

it('what an instance failed before the same config was pushed again is not kept from it, also where the answer to that push was lost', async () => {
  await workload.push(1)
  db.loseAnswer('push')
  await expect(workload.push(1)).rejects.toThrow('connection lost at commit')
  // While it is read what became of the second push, the agent answers the first.
  db.beforeEnd('push.settle', () => workload.agents[0]!.fail('exit code 1'))
  await ctx.advance(5_000)
  expect(await keptFrom()).toEqual({ memory: [], stored: [] })
  expect(workload.agents[0]!.offered()).toHaveLength(2)
})

it('what an instance has failed is kept from it, also where it is just being stored while a lost answer is settled', async () => {
  await workload.push(1)
  db.loseAnswer('push')
  await expect(workload.push(2)).rejects.toThrow('connection lost at commit')
  db.beforeEnd('push.settle', () => {
    workload.agents[0]!.fail('exit code 1', config(1).hash)
    void ctx.fleet.writer.flush()
  })
  await ctx.advance(5_000)
  const kept = [`${config(1).hash} ${workload.agents[0]!.uid}`]
  expect(await keptFrom()).toEqual({ memory: kept, stored: kept })
})
