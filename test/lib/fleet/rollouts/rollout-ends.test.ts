import { afterEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../../lib/store/db.ts'
import type { StagePlan } from '../../../../lib/store/rollouts.ts'
import { faultyDatabase } from '../../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

// Rollouts while the other instances run an earlier push, and how they end.

const database = await useTestDatabase()
let ctx: FleetTestContext

async function begin(pods: string, db: Database = database.pool) {
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

it('does not make the active config a failed one by taking those who run it away from it', async () => {
  const workload = await begin('ab')
  const active = await workload.settle(1)
  const [, b] = workload.agents
  b!.fail('exit code 1')
  await ctx.advance(1_000)
  expect(await workload.stored(active)).toMatchObject({ status: 'applied', counts: { failed: 1 } })
  await workload.stage(2, STAGES)
  b!.fail('exit code 1', config(1).hash)
  await ctx.advance(5_000)
  expect(workload.offered[0]).toBe(2)
  expect(await workload.stored(active)).toMatchObject({ status: 'applied' })
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
  // The config of the rollback fails everywhere. A rollback is not rolled back, and its config stays assigned.
  for (const agent of [a!, b!]) agent.fail('exit code 1')
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

describe('a stage', () => {
  const operator = { userId: 'u', email: 'operator@example.com', askAgain: null }
  const rollout = (workload: PushedWorkload) => workload.live.rollout!.stored
  const advance = (workload: PushedWorkload) =>
    ctx.fleet.rollouts.continue(workload.id, rollout(workload).id, operator)

  it('halts when its canary died and came back under another uid, and goes on with another one when told to', async () => {
    const workload = await begin('abc')
    await workload.settle(1)
    await workload.stage(2, STAGES)
    workload.agents[0]!.lose()
    workload.join('a')
    await ctx.advance(130_000)
    expect(rollout(workload)).toMatchObject({
      status: 'halted',
      halt: { gate: 'no_member', value: 1, instanceUids: [workload.agents[0]!.uid] },
    })
    expect(await advance(workload)).toMatchObject({ ok: true, rollout: { status: 'running' } })
    await ctx.advance(1_000)
    const again = workload.agents[3]!
    expect(workload.offered).toEqual([2, 1, 1, 2])
    again.apply()
    await ctx.advance(15_000)
    expect(workload.offered).toEqual([2, 2, 2, 2])
  })

  it('halts when its canary applied the config and is gone', async () => {
    const workload = await begin('ab')
    await workload.settle(1)
    await workload.stage(2, [{ ...STAGES[0]!, dwellMs: 600_000 }, STAGES[1]!])
    workload.agents[0]!.apply()
    await ctx.advance(2_000)
    workload.agents[0]!.goodbye()
    await ctx.advance(130_000)
    expect(rollout(workload)).toMatchObject({ status: 'halted', halt: { gate: 'no_member' } })
    // Only the other instance is left of the workload, so it becomes the member.
    await advance(workload)
    await ctx.advance(1_000)
    expect(workload.offered).toEqual([2, 2])
  })

  it('halts when none of its members ever answers', async () => {
    const workload = await begin('ab')
    await workload.settle(1)
    await workload.stage(2, [{ count: 1, dwellMs: 0, gates: [] }, STAGES[1]!])
    await ctx.advance(15 * 60_000)
    expect(rollout(workload)).toMatchObject({ status: 'halted', halt: { gate: 'no_answer', value: 1 } })
  })

  it('is refused when it is the first and nobody could be in it; nothing is written', async () => {
    const workload = await begin('ab', undefined)
    await workload.settle(1)
    const needsMore = { ...config(2), used: [{ category: 'exporters', type: 'otlp', id: 'otlp', path: 'x' }] }
    for (const agent of workload.agents)
      agent.say({ components: { hash: 'few', components: new Map([['exporters', ['debug']]]) } })
    const newest = workload.live.newestPush
    for (const stages of [STAGES, [STAGES[1]!]]) {
      const outcome = await ctx.fleet.push(
        {
          workloadId: workload.id,
          ...needsMore,
          stages,
          path: 'request',
          actor: { userId: 'u1', email: 'p@example.com', askAgain: null },
          approvalId: null,
          rollbackTargetKind: null,
        },
        async () => ({ ok: true }),
      )
      expect(outcome).toEqual({ ok: false, code: 'stage-empty' })
    }
    expect(workload.live).toMatchObject({ rollout: null, newestPush: newest, hasStoppedOffers: false })
    expect(await database.pool.query('select 1 from rollouts')).toEqual([])
    expect(
      await database.pool.query('select 1 from pushes where config_hash = $1', [config(2).hash]),
    ).toEqual([])
  })

  it('is watched only while it runs: the time that it was halted does not count', async () => {
    const workload = await begin('ab')
    await workload.settle(1)
    await workload.stage(2, [{ ...STAGES[0]!, dwellMs: 600_000 }, STAGES[1]!])
    const [a] = workload.agents
    a!.apply()
    await ctx.advance(60_000)
    const sick = { healthy: false, status: 'StatusPermanentError', lastError: 'disk full' }
    a!.say({ health: { ...sick, startTimeMs: 1, statusTimeMs: 1, children: new Map() } })
    await ctx.advance(30_000)
    expect(rollout(workload)).toMatchObject({ status: 'halted', halt: { gate: 'health' } })
    await ctx.advance(700_000)
    await advance(workload)
    await ctx.advance(400_000)
    expect(rollout(workload)).toMatchObject({ status: 'running', stageIndex: 0 })
    await ctx.advance(200_000)
    expect(rollout(workload).stageIndex).toBe(1)
  })
})

it('is stored as done when its last commit got no answer and somebody left while that was read back', async () => {
  const db = faultyDatabase(database.pool)
  const workload = await begin('abc', db)
  await workload.settle(1)
  const outcome = await workload.stage(2, STAGES)
  if (!outcome.ok) throw new Error(outcome.code)
  workload.agents[0]!.apply()
  await ctx.advance(15_000)
  db.loseAnswer('rollout.complete')
  for (const agent of workload.agents) agent.apply()
  await ctx.advance(2_000)
  expect(db.pending()).toEqual([])
  db.beforeEnd('push.settle', () => workload.agents[2]!.goodbye())
  await ctx.advance(5_000)
  expect(db.pending()).toEqual([])
  expect(workload.live).toMatchObject({ activeHash: config(2).hash, rollout: null })
  expect(await workload.stored(outcome.push.pushId)).toMatchObject({ status: 'applied', phase: 'applied' })
  expect(await database.pool.query('select status from rollouts')).toEqual([{ status: 'succeeded' }])
})
