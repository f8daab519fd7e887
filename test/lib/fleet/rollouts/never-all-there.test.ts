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
/** How an agent reports itself while it starts. */
const STARTING = { ...HEALTHY, healthy: false, status: 'StatusStarting' }

it.each([
  ['nobody leaves', false],
  ['others come and go', true],
])(
  'a stage ends within an hour with a member that is not well every other minute while %s',
  async (_, churns) => {
    ctx = await createFleetContext(database)
    const before = new PushedWorkload(ctx, 'abcdef')
    await ctx.advance(500)
    await before.settle(1)
    await before.stage(2, [
      { count: 1, dwellMs: 10_000, gates: GATES },
      { percentage: 100, dwellMs: 0, gates: GATES },
    ])
    before.agents[0]!.apply()
    await ctx.advance(2_000)
    let away = before.agents[1]!
    if (churns) away.lose()
    let endedAfter = -1
    for (let n = 0; n < 40; n++) {
      before.agents[0]!.say({ health: STARTING })
      await ctx.advance(40_000)
      before.agents[0]!.say({ health: HEALTHY })
      await ctx.advance(25_000)
      if (churns) {
        // One comes back, and another one leaves.
        const index = before.agents.indexOf(away)
        const next = 1 + (index % 5)
        const leaver = before.agents[next]!
        leaver.lose()
        const back = fakeAgent(ctx.fleet, {
          uid: away.uid,
          host: 'vm',
          pod: `pod-${'abcdef'[index]}`,
          more: { health: HEALTHY },
        })
        back.apply(configHash(configYaml(1)))
        before.agents[index] = back
        away = leaver
      }
      await ctx.advance(25_000)
      const { stageIndex, status } = before.live.rollout?.stored ?? { stageIndex: 9, status: 'none' }
      if (stageIndex > 0 || status !== 'running') {
        endedAfter = n
        break
      }
    }
    expect(endedAfter).toBeGreaterThanOrEqual(0)
  },
)
