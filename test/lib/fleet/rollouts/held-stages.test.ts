import { afterEach, expect, it } from 'vitest'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { storeFreeze } from '../../../../lib/store/freeze.ts'
import { HEALTHY } from '../../../support/agent-report.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../../support/fleet.ts'
import { useTestDatabase } from '../../../support/postgres.ts'
import { configYaml } from '../../../support/push-config.ts'
import { PushedWorkload } from '../../../support/pushed-workload.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
afterEach(async () => {
  await freeze(false)
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const PODS = 'abcdefghij'
const GATES = ['no_failure', 'health', 'drift'] as const
const DAY_MS = 86_400_000

function freeze(isFrozen: boolean) {
  const now = ctx.clock.now()
  const until = new Date(now.getTime() + DAY_MS)
  const frozen = { selector: null, reason: 'r', until, setBy: 'e', setAt: now }
  return database.pool.transaction('test', (tx) => storeFreeze(tx as never, isFrozen ? frozen : null))
}

/** A rollout whose second stage is due, and held by a freeze since five minutes. */
async function holdStage() {
  ctx = await createFleetContext(database)
  const pushed = new PushedWorkload(ctx, PODS)
  await ctx.advance(500)
  await pushed.settle(1)
  await pushed.stage(2, [
    { count: 1, dwellMs: 10_000, gates: GATES },
    { percentage: 50, dwellMs: 600_000, gates: GATES },
    { percentage: 100, dwellMs: 0, gates: GATES },
  ])
  pushed.agents[0]!.apply()
  await ctx.advance(5_000)
  await freeze(true)
  await ctx.advance(300_000)
  expect(pushed.live.rollout!.hold).toMatchObject({ reason: 'frozen' })
  return pushed
}

const stageOf = ({ live }: PushedWorkload) => live.rollout!.stored.stageIndex

function comeBack(pushed: PushedWorkload, index: number) {
  const { uid } = pushed.agents[index]!
  const more = { health: HEALTHY }
  const agent = fakeAgent(ctx.fleet, { uid, host: 'vm', pod: `pod-${PODS[index]}`, more })
  agent.apply(configHash(configYaml(1)))
  pushed.agents[index] = agent
}

it('a stage that was held waits for those away as any other, once it may go on', async () => {
  const pushed = await holdStage()
  for (const index of [4, 5, 6, 7, 8, 9]) pushed.agents[index]!.lose()
  await ctx.advance(1_000)
  await freeze(false)
  await ctx.advance(15_000)
  expect(stageOf(pushed)).toBe(0)
  for (const index of [4, 5, 6, 7, 8, 9]) comeBack(pushed, index)
  await ctx.advance(3_000)
  expect(pushed.live.rollout!.stored).toMatchObject({ stageIndex: 1, progress: [{}, { targetCount: 5 }] })
})

it('it waits for the whole grace though agents came and went all the while that it was held', async () => {
  const pushed = await holdStage()
  for (let round = 0; round < 7; round++) {
    pushed.agents[4]!.lose()
    await ctx.advance(15_000)
    comeBack(pushed, 4)
    pushed.agents[5]!.lose()
    await ctx.advance(15_000)
    comeBack(pushed, 5)
  }
  for (const index of [6, 7, 8, 9]) pushed.agents[index]!.lose()
  await ctx.advance(1_000)
  await freeze(false)
  await ctx.advance(100_000)
  expect(stageOf(pushed)).toBe(0)
  await ctx.advance(30_000)
  expect(stageOf(pushed)).toBe(1)
})

it('where nobody is away it goes on as soon as nothing holds it', async () => {
  const pushed = await holdStage()
  await freeze(false)
  await ctx.advance(3_000)
  expect(stageOf(pushed)).toBe(1)
})
