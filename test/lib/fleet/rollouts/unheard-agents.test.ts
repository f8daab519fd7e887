import { afterEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import type { StagePlan } from '../../../../lib/store/rollouts.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import { type FaultyDatabase, faultyDatabase } from '../../../support/faulty-database.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml } from '../../../support/push-config.ts'
import { PushedWorkload } from '../../../support/pushed-workload.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let db: FaultyDatabase
let before: PushedWorkload
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const OPERATOR = { userId: 'u', email: 'operator@example.com', askAgain: null }
const GATES = ['no_failure', 'health', 'drift'] as const
const first = (count: number, dwellMs: number): StagePlan[] => [
  { count, dwellMs, gates: GATES },
  { percentage: 100, dwellMs: 0, gates: GATES },
]

/** A workload of these pods, which run config 1. */
async function openRunning(pods: string): Promise<void> {
  db = faultyDatabase(database.pool)
  ctx = await createFleetContext(database, { db })
  before = new PushedWorkload(ctx, pods)
  await ctx.advance(500)
  await before.settle(1)
}

/** Let the process stand still for so long, and go on for a moment. */
async function standStill(ms: number): Promise<void> {
  ctx.timers.standStill(ms)
  await ctx.advance(100)
}

/** An agent comes back, which runs that config. */
function comeBack(index: number, runs: number) {
  const { uid } = before.agents[index]!
  const agent = fakeAgent(ctx.fleet, {
    uid,
    host: 'vm',
    pod: `pod-${'abcdef'[index]}`,
    more: { health: HEALTHY },
  })
  agent.apply(configHash(configYaml(runs)))
  return agent
}

describe('while agents are away that may come back', () => {
  it.each([20_000, 70_000])(
    'a stage does not end by those that are there: after a stall of %i ms',
    async (stallMs) => {
      await openRunning('abcdef')
      await before.stage(2, first(1, 10_000))
      before.agents[0]!.apply()
      await ctx.advance(5_000)
      await standStill(stallMs)
      for (const agent of before.agents) agent.lose()
      comeBack(0, 2)
      await ctx.advance(20_000)
      expect(before.live.rollout!.stored).toMatchObject({ status: 'running', stageIndex: 0 })
      const others = [1, 2, 3, 4, 5].map((index) => comeBack(index, 1))
      await ctx.advance(2_000)
      // All of them are members of the next stage, and what they fail takes the config back.
      expect(others.map((agent) => agent.offered().at(-1))).toEqual(Array(5).fill(configHash(configYaml(2))))
      for (const agent of others) agent.fail(configHash(configYaml(2)))
      await ctx.advance(5_000)
      expect(before.live.activeHash).toBe(configHash(configYaml(1)))
    },
  )

  it('it goes on without those that are away for the whole grace, whoever else leaves meanwhile', async () => {
    await openRunning('abcd')
    await before.stage(2, first(1, 10_000))
    before.agents[0]!.apply()
    await ctx.advance(5_000)
    before.agents[1]!.lose()
    await ctx.advance(60_000)
    expect(before.live.rollout!.stored.stageIndex).toBe(0)
    before.agents[2]!.lose()
    await ctx.advance(70_000)
    expect(before.live.rollout!.stored.stageIndex).toBe(1)
  })

  it('it does not wait for one that said goodbye', async () => {
    await openRunning('abc')
    await before.stage(2, first(1, 10_000))
    before.agents[0]!.apply()
    await ctx.advance(5_000)
    before.agents[1]!.goodbye()
    await ctx.advance(10_000)
    expect(before.live.rollout!.stored.stageIndex).toBe(1)
  })
})

describe('while the process stands still', () => {
  it('time does not speak for a config: a member that vanished before its start, soon after it had applied it, has', async () => {
    await openRunning('abc')
    await before.stage(2, first(2, 3_600_000))
    before.agents[0]!.apply()
    before.agents[1]!.apply()
    await ctx.advance(480_000)
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    const { rollout } = ctx.fleet.workload(before.id)!
    comeBack(0, 2)
    comeBack(2, 1)
    await ctx.advance(1_000)
    await standStill(300_000)
    await ctx.advance(140_000)
    expect(rollout!.stored).toMatchObject({
      status: 'halted',
      halt: { gate: 'health', instanceUids: [before.agents[1]!.uid] },
    })
  })

  it('the grace after its start does not pass: a member that was not heard yet has not vanished', async () => {
    await openRunning('abc')
    await before.stage(2, first(2, 600_000))
    before.agents[0]!.apply()
    before.agents[1]!.apply()
    await ctx.advance(5_000)
    await ctx.close()
    ctx = await createFleetContext(database, { clock: ctx.clock })
    const { rollout } = ctx.fleet.workload(before.id)!
    comeBack(0, 2)
    comeBack(2, 1)
    await ctx.advance(1_000)
    await standStill(130_000)
    await ctx.advance(4_000)
    expect(rollout!.stored.status).toBe('running')
    comeBack(1, 2)
    await ctx.advance(130_000)
    expect(rollout!.stored.status).toBe('running')
  })

  it('a target that is away is not gone before it could come back, and what it fails counts', async () => {
    await openRunning('ab')
    await before.push(2)
    await ctx.advance(500)
    before.agents[0]!.apply()
    before.agents[1]!.lose()
    await ctx.advance(1_000)
    await standStill(130_000)
    await ctx.advance(3_000)
    const { push } = before.live.active!
    expect(push.status).toBe('pending')
    comeBack(1, 1)
    await ctx.advance(1_000)
    const again = ctx.fleet.state.instances.get(before.agents[1]!.uid)
    expect(again?.offer?.hash).toBe(configHash(configYaml(2)))
  })

  it('no target has had the time to answer', async () => {
    await openRunning('ab')
    await before.push(2)
    await ctx.advance(500)
    before.agents[0]!.apply()
    await ctx.advance(500)
    await standStill(540_000)
    expect(before.live.active!.push.status).toBe('pending')
    before.agents[1]!.fail(configHash(configYaml(2)))
    await ctx.advance(3_000)
    expect(before.live.activeHash).toBe(configHash(configYaml(1)))
  })
  it.each(['is converged', 'goes on after a halt'])(
    'no stage is watched, also where the commit by which it %s gets no answer',
    async (how) => {
      await openRunning('abc')
      await ctx.advance(150_000)
      await before.stage(2, first(1, 60_000))
      const [agent] = before.agents
      if (how === 'is converged') db.loseAnswer('rollout.converge')
      agent!.apply()
      const hasConverged = () => before.live.rollout!.stored.progress[0]!.convergedAt !== null
      while (how === 'is converged' ? db.pending().length > 0 : !hasConverged()) await ctx.advance(100)
      if (how !== 'is converged') {
        agent!.say({ health: { ...HEALTHY, healthy: false } })
        await ctx.advance(45_000)
        agent!.say({ health: HEALTHY })
        const { stored } = before.live.rollout!
        expect(stored.status).toBe('halted')
        await ctx.advance(100_000)
        db.loseAnswer('rollout.continue')
        const goesOn = ctx.fleet.rollouts.continue(before.id, stored.id, OPERATOR)
        await expect(goesOn).rejects.toThrow('connection lost')
      }
      await standStill(130_000)
      await ctx.advance(10_000)
      expect(before.live.rollout!.stored).toMatchObject({ status: 'running', stageIndex: 0 })
      await ctx.advance(60_000)
      expect(before.live.rollout!.stored.stageIndex).toBe(1)
    },
  )
})
