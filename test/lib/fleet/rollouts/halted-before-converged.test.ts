import { afterEach, beforeEach, expect, it } from 'vitest'
import type { StagePlan } from '../../../../lib/store/rollouts.ts'
import { createFleetContext, type FleetTestContext } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { PushedWorkload } from '../../../support/pushed-workload.ts'

// A stage that is halted before its members run the config, and then continued.

const database = await useTestDatabase()
const GATES = ['no_failure', 'health', 'drift'] as const
const operator = { userId: 'u', email: 'operator@example.com', askAgain: null }
const times = { startTimeMs: 1, statusTimeMs: 1, children: new Map() }
const SICK = { healthy: false, status: 'StatusPermanentError', lastError: 'disk full', ...times }
const WELL = { healthy: true, status: 'StatusOK', lastError: '', ...times }

let ctx: FleetTestContext
let workload: PushedWorkload
beforeEach(async () => {
  ctx = await createFleetContext(database)
  workload = new PushedWorkload(ctx, 'ab')
  await ctx.advance(500)
  await workload.settle(1)
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const rollout = () => workload.live.rollout!.stored
const goOn = () => ctx.fleet.rollouts.continue(workload.id, rollout().id, operator)

/**
 * Let the first stage halt because its only member becomes unhealthy before it has applied the config, then continue
 * it.
 */
async function haltAndGoOn(first: Pick<StagePlan, 'dwellMs' | 'canary'>): Promise<void> {
  const [a] = workload.agents
  const rest: StagePlan = { percentage: 100, dwellMs: 0, gates: GATES }
  await workload.stage(2, [{ count: 1, gates: GATES, ...first }, rest])
  a!.say({ health: SICK })
  await ctx.advance(90_000)
  expect(rollout()).toMatchObject({ status: 'halted', halt: { gate: 'health' } })
  a!.say({ health: WELL })
  expect(await goOn()).toMatchObject({ ok: true, rollout: { status: 'running' } })
}

it('waits to be promoted once its canary runs the config, and is', async () => {
  const uids = [workload.agents[0]!.uid]
  await haltAndGoOn({
    dwellMs: 0,
    canary: { selection: { strategy: '', instance_uids: uids }, instanceUids: uids },
  })
  workload.agents[0]!.apply()
  await ctx.advance(5_000)
  expect(await goOn()).toMatchObject({ ok: true })
  await ctx.advance(5_000)
  expect(workload.offered).toEqual([2, 2])
})

it('dwells from when its members run the config, not from when it went on', async () => {
  await haltAndGoOn({ dwellMs: 100_000 })
  await ctx.advance(110_000)
  workload.agents[0]!.apply()
  await ctx.advance(90_000)
  expect(rollout()).toMatchObject({ status: 'running', stageIndex: 0 })
  await ctx.advance(20_000)
  expect(rollout().stageIndex).toBe(1)
})
