import { afterEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import type { StagePlan } from '../../../../lib/store/rollouts.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import { SICK } from '../../../support/campaign-scene.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml } from '../../../support/push-config.ts'
import { config, PushedWorkload } from '../../../support/pushed-workload.ts'

// A stage is watched by a process: time in which none ran proves nothing, and neither do agents that are on their way.

const database = await useTestDatabase()
let ctx: FleetTestContext
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const GATES = ['no_failure', 'health', 'drift'] as const
const AWAY_MS = 90_000

/** A rollout whose first stage, of pod-a alone, has converged; then nothing runs for 90 s, and a process starts. */
async function restartIn(dwellMs: number, { watchedMs = 5_000 } = {}) {
  ctx = await createFleetContext(database)
  const before = new PushedWorkload(ctx, 'abc')
  await ctx.advance(500)
  await before.settle(1)
  const stages: StagePlan[] = [
    { count: 1, dwellMs, gates: GATES },
    { percentage: 100, dwellMs: 0, gates: GATES },
  ]
  await before.stage(2, stages)
  before.agents[0]!.apply()
  await ctx.advance(watchedMs)
  const { stageIndex, progress } = before.live.rollout!.stored
  expect(stageIndex).toBe(0)
  expect(progress[0]!.convergedAt).not.toBeNull()
  await ctx.close()
  ctx.clock.advance(AWAY_MS)
  ctx = await createFleetContext(database, { clock: ctx.clock })
  const workload = ctx.fleet.workload(before.id)!
  const comeBack = (index: number, runs: number, more: object = { health: HEALTHY }) => {
    const pod = ['pod-a', 'pod-b', 'pod-c'][index]!
    const agent = fakeAgent(ctx.fleet, { uid: before.agents[index]!.uid, host: 'vm', pod, more })
    agent.apply(configHash(configYaml(runs)))
    return agent
  }
  return { workload, comeBack }
}

describe('after a restart a stage', () => {
  it('is watched anew: the time without a process is no dwell', async () => {
    const { workload, comeBack } = await restartIn(60_000)
    const a = comeBack(0, 2)
    const others = [comeBack(1, 1), comeBack(2, 1)]
    await ctx.advance(50_000)
    expect(workload.rollout?.stored).toMatchObject({ status: 'running', stageIndex: 0 })
    expect(others.map((agent) => agent.offered())).toEqual([[], []])
    await ctx.advance(15_000)
    expect(workload.rollout?.stored).toMatchObject({ status: 'running', stageIndex: 1 })
    expect(others.map((agent) => agent.offered())).toEqual([[config(2).hash], [config(2).hash]])
    expect(a.offered()).toEqual([])
  })

  it('says until when it is watched now', async () => {
    const { workload, comeBack } = await restartIn(60_000)
    const startedAt = ctx.clock.now()
    comeBack(0, 2)
    await ctx.advance(5_000)
    expect(ctx.fleet.rollouts.dwellEndsAt(workload)).toEqual(new Date(startedAt.getTime() + 60_000))
  })

  it('halts by its gate where its member comes back ill, and nobody else has got the config', async () => {
    const { workload, comeBack } = await restartIn(3_000, { watchedMs: 2_000 })
    const others = [comeBack(1, 1), comeBack(2, 1)]
    await ctx.advance(5_000)
    comeBack(0, 2, { health: SICK })
    await ctx.advance(5_000)
    expect(workload.rollout?.stored).toMatchObject({
      status: 'halted',
      stageIndex: 0,
      halt: { gate: 'health' },
    })
    expect(others.map((agent) => agent.offered())).toEqual([[], []])
  })

  it('waits, a minute at most, for a member that is back and has not said how healthy it is', async () => {
    const { workload, comeBack } = await restartIn(3_000, { watchedMs: 2_000 })
    for (const index of [0, 1, 2]) comeBack(index, index === 0 ? 2 : 1, {})
    await ctx.advance(50_000)
    expect(workload.rollout?.stored).toMatchObject({ status: 'running', stageIndex: 0 })
    await ctx.advance(15_000)
    expect(workload.rollout?.stored).toMatchObject({ status: 'running', stageIndex: 1 })
  })

  it('waits for those who are to be in the next stage, and that one is judged by them', async () => {
    const { workload, comeBack } = await restartIn(3_000, { watchedMs: 2_000 })
    comeBack(0, 2)
    await ctx.advance(10_000)
    expect(workload.rollout?.stored).toMatchObject({ status: 'running', stageIndex: 0 })
    const others = [comeBack(1, 1), comeBack(2, 1)]
    await ctx.advance(3_000)
    expect(workload.rollout?.stored).toMatchObject({ status: 'running', stageIndex: 1 })
    expect(workload.rollout!.followed.push.counts.target).toBe(3)
    for (const agent of others) agent.apply()
    await ctx.advance(3_000)
    expect(workload).toMatchObject({ activeHash: config(2).hash, rollout: null })
  })

  it('waits no longer than the grace for those who do not come back', async () => {
    const { workload, comeBack } = await restartIn(3_000, { watchedMs: 2_000 })
    comeBack(0, 2)
    await ctx.advance(125_000)
    expect(workload).toMatchObject({ activeHash: config(2).hash, rollout: null })
  })
})

it('what a stage was watched for before a halt counts after a restart, and the halt does not', async () => {
  const { workload, comeBack } = await restartIn(20_000)
  const uids = [comeBack(0, 2), comeBack(1, 1), comeBack(2, 1)].map(({ uid }) => uid)
  await ctx.advance(12_000)
  const sick = fakeAgent(ctx.fleet, { uid: uids[0]!, host: 'vm', pod: 'pod-a', more: { health: SICK } })
  sick.apply(config(2).hash)
  await ctx.advance(2_000)
  expect(workload.rollout?.stored).toMatchObject({ status: 'halted', stageIndex: 0 })
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  for (const [index, uid] of uids.entries())
    fakeAgent(ctx.fleet, { uid, host: 'vm', pod: `pod-${'abc'[index]}`, more: { health: HEALTHY } }).apply(
      config(index === 0 ? 2 : 1).hash,
    )
  await ctx.advance(40_000)
  const again = ctx.fleet.workload(workload.id)!
  const { id } = again.rollout!.stored
  const actor = { userId: 'u1', email: 'pusher@example.com', askAgain: null }
  expect(await ctx.fleet.rollouts.continue(workload.id, id, actor)).toMatchObject({ ok: true })
  await ctx.advance(4_000)
  expect(again.rollout?.stored).toMatchObject({ status: 'running', stageIndex: 0 })
  await ctx.advance(6_000)
  expect(again.rollout?.stored).toMatchObject({ status: 'running', stageIndex: 1 })
})
