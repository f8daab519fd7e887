import { afterEach, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml } from '../../../support/push-config.ts'
import { PushedWorkload } from '../../../support/pushed-workload.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const GATES = ['no_failure', 'health', 'drift'] as const

/**
 * A rollout of four, of whose two first members one has said goodbye; then another process takes the fleet over, while the
 * first stage dwells for so long.
 */
async function handOver(dwellMs = 300_000) {
  ctx = await createFleetContext(database)
  const before = new PushedWorkload(ctx, 'abcd')
  await ctx.advance(500)
  await before.settle(1)
  await before.stage(2, [
    { count: 2, dwellMs, gates: GATES },
    { percentage: 100, dwellMs: 0, gates: GATES },
  ])
  before.agents[0]!.apply()
  before.agents[1]!.apply()
  await ctx.advance(5_000)
  before.agents[1]!.goodbye()
  await ctx.advance(10_000)
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  const comeBack = (index: number, runs: number) => {
    const { uid } = before.agents[index]!
    const more = { health: HEALTHY }
    const agent = fakeAgent(ctx.fleet, { uid, host: 'vm', pod: `pod-${'abcd'[index]}`, more })
    agent.apply(configHash(configYaml(runs)))
  }
  comeBack(0, 2)
  comeBack(2, 1)
  comeBack(3, 1)
  return { workload: ctx.fleet.workload(before.id)!, comeBack, gone: before.agents[1]!.uid }
}

it('a member that said goodbye has not vanished for the process that decides next, nor is it awaited', async () => {
  const { workload, gone } = await handOver()
  expect(ctx.fleet.state.knownAtStart.has(gone)).toBe(false)
  await ctx.advance(135_000)
  expect(workload.rollout!.stored.status).toBe('running')
  await ctx.advance(300_000)
  expect(workload.rollout!.stored).toMatchObject({ status: 'running', stageIndex: 1 })
})

it('once it is back it is awaited as all others', async () => {
  const { comeBack, gone } = await handOver()
  comeBack(1, 2)
  await ctx.advance(5_000)
  await ctx.close()
  ctx = await createFleetContext(database, { clock: ctx.clock })
  expect(ctx.fleet.state.knownAtStart.has(gone)).toBe(true)
})

it('the stage waits no longer for one that said goodbye than it would have under the process before', async () => {
  const { workload } = await handOver(30_000)
  await ctx.advance(40_000)
  expect(workload.rollout!.stored).toMatchObject({ status: 'running', stageIndex: 1 })
})
