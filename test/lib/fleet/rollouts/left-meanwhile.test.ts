import { afterEach, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import type { Database } from '../../../../lib/store/db.ts'
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

/** The database, in which something happens as this transaction begins, each time. */
const whenItBegins = (step: string, happens: () => void): Database => ({
  query: (...asked) => database.pool.query(...asked),
  execute: (...asked) => database.pool.execute(...asked),
  snapshot: (...asked) => database.pool.snapshot(...asked),
  transaction: (name, work) => {
    if (name === step) happens()
    return database.pool.transaction(name, work)
  },
})

/** A rollout of which these agents leave as a transaction begins, the first time. */
async function openRollout(step: string, leavers: readonly number[]) {
  let pushed: PushedWorkload | null = null
  const leave = () => {
    for (const index of leavers) pushed?.agents[index]?.lose()
    pushed = null
  }
  ctx = await createFleetContext(database, { db: whenItBegins(step, leave) })
  const opened = new PushedWorkload(ctx, 'abcd')
  await ctx.advance(500)
  await opened.settle(1)
  await opened.stage(2, [
    { count: 1, dwellMs: 10_000, gates: GATES },
    { percentage: 100, dwellMs: 0, gates: GATES },
  ])
  opened.agents[0]!.apply()
  pushed = opened
  return opened
}

function comeBack(pushed: PushedWorkload, index: number, runs: number) {
  const { uid } = pushed.agents[index]!
  const agent = fakeAgent(ctx.fleet, {
    uid,
    host: 'vm',
    pod: `pod-${'abcd'[index]}`,
    more: { health: HEALTHY },
  })
  agent.apply(configHash(configYaml(runs)))
}

it('the next stage waits also for those that leave while it waits for the database', async () => {
  const pushed = await openRollout('rollout.advance', [1, 2])
  await ctx.advance(20_000)
  expect(pushed.live.rollout!.stored.stageIndex).toBe(0)
  comeBack(pushed, 1, 1)
  comeBack(pushed, 2, 1)
  await ctx.advance(3_000)
  expect(pushed.live.rollout!.stored).toMatchObject({ stageIndex: 1, progress: [{}, { targetCount: 4 }] })
})

it('so does the end of the last one', async () => {
  const pushed = await openRollout('rollout.complete', [1, 2])
  await ctx.advance(15_000)
  expect(pushed.live.rollout!.stored.stageIndex).toBe(1)
  for (const agent of pushed.agents.slice(1)) agent.apply(configHash(configYaml(2)))
  await ctx.advance(20_000)
  expect(pushed.live.rollout?.stored.status).toBe('running')
  comeBack(pushed, 1, 2)
  comeBack(pushed, 2, 2)
  await ctx.advance(3_000)
  expect(pushed.live.rollout).toBeNull()
})
