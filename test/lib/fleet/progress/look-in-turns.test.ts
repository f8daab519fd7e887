import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CHUNK } from '../../../../lib/fleet/progress/target-ends.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml, pushConfig } from '../../../support/push-config.ts'
import { type TimerTurns, watchTurns } from '../../../support/timer-turns.ts'

// Targets that have not answered are looked at some in each turn of the event loop, and so are workloads.

const database = await useTestDatabase()
let ctx: FleetTestContext
let turns: TimerTurns

beforeEach(async () => {
  ctx = await createFleetContext(database)
  turns = watchTurns(ctx)
})
afterEach(async () => {
  turns.count(() => 0)
  vi.restoreAllMocks()
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

it('looks at so many targets of a new push in a turn, and at all in the end', async () => {
  const agents = Array.from({ length: 2 * CHUNK + 100 }, () => fakeAgent(ctx.fleet, { host: 'vm' }))
  await ctx.advance(500)
  const { workloadId } = agents[0]!
  await pushConfig(ctx.fleet, workloadId, configYaml(1))
  const { awaiting } = ctx.fleet.workload(workloadId)!.active!
  const looked = () => [...awaiting.values()].filter((sinceMs) => sinceMs !== null).length
  turns.count(looked)
  expect(looked()).toBe(CHUNK)
  await ctx.advance(500)
  expect(turns.most()).toBe(CHUNK)
  expect(looked()).toBe(agents.length)
})

it('passes over so many workloads without a target in a turn, and comes to those behind them', async () => {
  const [agent, gone] = [fakeAgent(ctx.fleet, { host: 'vm' }), fakeAgent(ctx.fleet, { host: 'vm' })]
  await ctx.advance(500)
  await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
  await ctx.advance(500)
  const workload = ctx.fleet.workload(agent.workloadId)!
  const { targets } = workload.active!
  // Its capability goes without a word, so that only a look at all targets finds it out.
  Object.assign(ctx.fleet.state.instances.get(gone.uid)!, { capabilities: 0 })
  const many = 3 * CHUNK + 500
  let passed = 0
  vi.spyOn(ctx.fleet.state.workloads as Map<string, typeof workload>, 'values').mockImplementation(
    function* () {
      for (let n = 0; n < many; n++) {
        passed++
        yield { ...workload, active: null }
      }
      yield workload
      return undefined
    } as () => MapIterator<typeof workload>,
  )
  turns.count(() => passed)
  await ctx.advance(5_000)
  expect(turns.most()).toBeLessThanOrEqual(CHUNK)
  expect(passed).toBeGreaterThanOrEqual(many)
  expect(targets.get(gone.uid)?.state).toBe('gone')
  expect(targets.get(agent.uid)?.state).toBe('offered')
})
