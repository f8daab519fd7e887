import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Context } from '../../runtime/context.ts'
import { keptMetrics } from '../../runtime/metrics-kept.ts'
import { createFleetContext, type FleetTestContext } from '../support/fleet.ts'
import { useTestDatabase } from '../support/postgres.ts'
import { config, PushedWorkload } from '../support/pushed-workload.ts'

// The soak judges what a process keeps by these numbers: what is left out of them may grow unseen.

const database = await useTestDatabase()
let ctx: FleetTestContext
beforeEach(async () => {
  ctx = await createFleetContext(database)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const keptTargets = async () => {
  const around = { hub: { keyCount: 0 }, opamp: { counts: () => ({ pollers: 0 }) } }
  const { samples } = await keptMetrics({ fleet: ctx.fleet, ...around } as unknown as Context)
  return samples.find(({ labels }) => labels === 'what="pushTargets"')!.value
}
const STAGES = [
  { count: 1, dwellMs: 86_400_000, gates: [] },
  { percentage: 100, dwellMs: 0, gates: [] },
]

it('counts the targets of stages that failed with nothing to go back to', async () => {
  const workload = new PushedWorkload(ctx, 'ab')
  await workload.stage(1, STAGES)
  for (const agent of workload.agents) if (agent.offered().length > 0) agent.fail('exit code 1')
  await ctx.advance(1_000)
  expect(workload.live).toMatchObject({ active: null, rollout: null })
  expect(workload.live.endedStages).not.toBeNull()
  expect(await keptTargets()).toBe(1)
})

it('counts the targets of the push that takes the members of a rollout back', async () => {
  const workload = new PushedWorkload(ctx, 'ab')
  await workload.settle(1)
  await workload.stage(2, STAGES)
  for (const agent of workload.agents)
    if (agent.offered().at(-1) === config(2).hash) agent.fail('exit code 1')
  await ctx.advance(1_000)
  expect(workload.live.takenBack).not.toBeNull()
  expect(await keptTargets()).toBe(3)
})
