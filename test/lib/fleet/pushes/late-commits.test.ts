import { afterEach, expect, it } from 'vitest'
import { findWorkload } from '../../../../lib/store/workloads.ts'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'
import { slowDatabase } from '../../../support/slow-commit.ts'

// The answer to a commit is lost while the server is still at it: what is read before it has ended is not final.

const ACTOR = { userId: 'u1', email: 'pusher@example.com', askAgain: null }
const database = await useTestDatabase()
const slowed = slowDatabase(database)
let ctx: FleetTestContext
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

/** A workload that runs config 1; of the next transaction of this name the answer is lost, and `finish` commits it. */
async function loseOf(slow: string) {
  ctx = await createFleetContext(database, { db: slowed.db })
  const workload = new PushedWorkload(ctx, 'ab')
  await ctx.advance(500)
  await workload.settle(1)
  return { workload, finish: slowed.slowDown(slow) }
}

it('a push that the database is slow to commit is followed when it is, and its config goes out', async () => {
  const { workload, finish } = await loseOf('push')
  await expect(workload.push(2)).rejects.toThrow('connection lost at commit')
  const settled = ctx.advance(2_000)
  await slowed.untilAwaited()
  expect(workload.live.activeHash).toBe(config(1).hash)
  finish()
  await settled
  await ctx.advance(1_000)
  const { activeHash, generation } = (await findWorkload(ctx.db, workload.id))!
  expect(activeHash).toBe(config(2).hash)
  expect(workload.live).toMatchObject({ activeHash, generation })
  expect(workload.offered).toEqual([2, 2])
})

it('so is a step of a rollout of which the audit trail says nothing', async () => {
  const { workload, finish } = await loseOf('rollout.converge')
  await workload.stage(2, [
    { count: 1, dwellMs: 600_000, gates: [] },
    { percentage: 100, dwellMs: 0, gates: [] },
  ])
  workload.agents[0]!.apply()
  const settled = ctx.advance(4_000)
  await slowed.untilAwaited()
  finish()
  await settled
  await ctx.advance(1_000)
  const [{ progress } = { progress: [] }] = await database.pool.query<{
    progress: { convergedAt: string }[]
  }>('select progress from rollouts')
  expect(progress[0]!.convergedAt).not.toBeNull()
  expect(workload.live.rollout!.stored.progress).toEqual(progress)
})

it('nor is the workload taken for one that was deleted, where the audit trail tells of the push', async () => {
  const { workload, finish } = await loseOf('push')
  const { live } = workload
  const request = { workloadId: workload.id, ...config(2), used: [], path: 'request', actor: ACTOR } as const
  const pushed = ctx.fleet.push({ ...request, approvalId: null, rollbackTargetKind: null }, async (tx) => {
    const about = { resource: 'workload', resourceId: workload.id, configHash: config(2).hash }
    await tx.record({ action: 'config.approval.push', ...about, detail: '' })
    return { ok: true }
  })
  await expect(pushed).rejects.toThrow('connection lost at commit')
  const settled = ctx.advance(2_000)
  await slowed.untilAwaited()
  finish()
  await settled
  await ctx.advance(1_000)
  expect(ctx.frames.filter(({ type }) => type === 'workload_removed')).toEqual([])
  expect(workload.live).toBe(live)
  expect(live.activeHash).toBe(config(2).hash)
})
