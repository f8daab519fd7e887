import { afterEach, describe, expect, it } from 'vitest'
import type { StagePlan } from '../../../../lib/fleet/decide/rollout.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, type losingAnswers, PushedWorkload } from '../../../support/pushed-workload.ts'

// Rollouts beside the push that everyone else runs, and how they end.

const database = await useTestDatabase()
let ctx: FleetTestContext

async function begin(pods: string, db = database.pool as Parameters<typeof losingAnswers>[0]) {
  ctx = await createFleetContext(database, { db })
  const workload = new PushedWorkload(ctx, pods)
  await ctx.advance(500)
  return workload
}
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const GATES = ['no_failure', 'health', 'drift'] as const
const STAGES: StagePlan[] = [
  { count: 1, dwellMs: 10_000, gates: GATES },
  { percentage: 100, dwellMs: 0, gates: GATES },
]

describe('a push that is pending when a rollout starts', () => {
  it('goes on for the others, is applied by them, and is what a later failure goes back to', async () => {
    const workload = await begin('abc')
    await workload.settle(1)
    const pending = await workload.push(2)
    await workload.stage(3, STAGES)
    const [a, b, c] = workload.agents
    b!.apply()
    c!.apply()
    await ctx.advance(1_000)
    expect(await workload.stored(pending)).toMatchObject({ status: 'applied', phase: 'applied' })
    expect(await workload.ends(pending)).toEqual({ a: 'gone: joined_rollout', b: 'applied', c: 'applied' })
    a!.fail('exit code 1', config(3).hash)
    await ctx.advance(1_000)
    expect(workload.offered).toEqual([2, 2, 2])
    a!.apply()
    await workload.push(4)
    a!.fail('exit code 1')
    await ctx.advance(1_000)
    expect(workload.offered).toEqual([2, 2, 2])
  })

  it('still fails and is rolled back for everyone, the rollout with it', async () => {
    const workload = await begin('abc')
    await workload.settle(1)
    const pending = await workload.push(2)
    await workload.stage(3, STAGES)
    workload.agents[1]!.fail('exit code 1', config(2).hash)
    await ctx.advance(1_000)
    expect(await workload.stored(pending)).toMatchObject({ status: 'failed' })
    expect(workload.offered).toEqual([1, 1, 1])
    expect(workload.live).toMatchObject({ activeHash: config(1).hash, rollout: null })
  })

  it('is superseded only when the last stage is done', async () => {
    const workload = await begin('ab')
    await workload.settle(1)
    const pending = await workload.push(2)
    await workload.stage(3, STAGES)
    workload.agents[0]!.apply()
    await ctx.advance(15_000)
    expect(workload.offered).toEqual([3, 3])
    workload.agents[1]!.apply()
    await ctx.advance(5_000)
    expect(workload.live.activeHash).toBe(config(3).hash)
    expect(await workload.stored(pending)).toMatchObject({ status: 'pending', phase: 'superseded' })
  })

  it('is followed on after a restart in the middle of the rollout, and so is what its members went back to', async () => {
    const workload = await begin('abc')
    await workload.settle(1)
    const pending = await workload.push(2)
    await workload.stage(3, STAGES)
    workload.agents[0]!.fail('exit code 1')
    await ctx.advance(1_000)
    const rollback = workload.live.newestPush!
    expect(rollback).toMatchObject({ kind: 'auto-rollback', hash: config(2).hash, counts: { target: 1 } })
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    const again = ['a', 'b', 'c'].map((pod, i) =>
      fakeAgent(ctx.fleet, { uid: workload.agents[i]!.uid, host: 'vm', pod: `pod-${pod}` }),
    )
    await ctx.advance(1_000)
    for (const agent of again) agent.apply(config(2).hash)
    await ctx.advance(1_000)
    const after = new PushedWorkload(ctx, '')
    expect(await after.stored(pending)).toMatchObject({ status: 'applied', counts: { applied: 2, gone: 1 } })
    expect(await after.stored(rollback.pushId)).toMatchObject({ status: 'applied', counts: { target: 1 } })
  })
})

it('takes its members back to what was applied before, where the active config has failed itself', async () => {
  const workload = await begin('ab')
  await workload.settle(1)
  await workload.settle(2)
  await workload.push(3)
  const [a, b] = workload.agents
  a!.fail('exit code 1')
  await ctx.advance(1_000)
  expect(workload.offered).toEqual([2, 2])
  // What it was rolled back to fails as well: a rollback is not rolled back, and stays what is assigned.
  b!.fail('exit code 1')
  await ctx.advance(1_000)
  expect(workload.live.activeHash).toBe(config(2).hash)
  await workload.stage(4, STAGES)
  a!.fail('exit code 1', config(4).hash)
  await ctx.advance(1_000)
  expect(workload.live.newestPush).toMatchObject({ kind: 'auto-rollback', hash: config(1).hash })
  expect(workload.offered[0]).toBe(1)
})

describe('an instance that fails also what it is taken back to', () => {
  it('is kept from it alone: the others run it, and who joins is offered it', async () => {
    const workload = await begin('abc')
    await workload.settle(1)
    await workload.stage(2, STAGES)
    const [a] = workload.agents
    a!.fail('exit code 1')
    await ctx.advance(1_000)
    a!.fail('port 1 is in use')
    await ctx.advance(1_000)
    const rollback = workload.live.newestPush!
    expect(await workload.stored(rollback.pushId)).toMatchObject({ status: 'failed', hash: config(1).hash })
    expect(workload.live.activeHash).toBe(config(1).hash)
    workload.join('d')
    await ctx.advance(1_000)
    expect(workload.offered).toEqual([1, 1, 1, 1])
    expect(a!.offered()).toEqual([config(1).hash, config(2).hash, config(1).hash])
    await workload.settle(3)
    await workload.push(4)
    a!.fail('exit code 1')
    await ctx.advance(1_000)
    expect(workload.offered).toEqual([3, 3, 3, 3])
  })

  it('does not keep the other members from going back', async () => {
    const workload = await begin('abc')
    await workload.settle(1)
    await workload.stage(2, [{ count: 2, dwellMs: 0, gates: GATES }, STAGES[1]!])
    const [a, b] = workload.agents
    b!.apply()
    a!.fail('exit code 1')
    await ctx.advance(1_000)
    a!.fail('exit code 1')
    await ctx.advance(1_000)
    b!.apply()
    await ctx.advance(1_000)
    const rollback = workload.live.newestPush!
    expect(await workload.stored(rollback.pushId)).toMatchObject({ status: 'applied', counts: { failed: 1 } })
    expect(await workload.ends(rollback.pushId)).toEqual({ a: 'failed: agent_exited', b: 'applied' })
  })
})
