import { afterEach, beforeEach, expect, it } from 'vitest'
import { HEALTHY } from '../../support/agent-report.ts'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import { type FakeAgent, fakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: CampaignScene
beforeEach(async () => {
  scene = await CampaignScene.open(database, 2)
})
afterEach(() => scene.ctx.close())

it.each([
  ['after they applied the change', (agent: FakeAgent) => agent.apply(), 'halted'],
  ['while they apply it', (agent: FakeAgent) => agent.applying(), 'halted'],
])(
  'the next wave does not begin where nine of ten instances of the first vanish %s',
  async (_, answer, status) => {
    const of = new Map<string, FakeAgent[]>()
    for (const [n, agent] of scene.agents.entries()) {
      const more = Array.from({ length: 9 }, () =>
        fakeAgent(scene.ctx.fleet, { host: `vm-${n + 1}`, more: { health: HEALTHY } }),
      )
      of.set(agent.workloadId, [agent, ...more])
    }
    await scene.ctx.advance(1_000)
    for (const agent of [...of.values()].flat()) if (agent.offered().at(-1) === FIRST) agent.apply()
    await scene.ctx.advance(1_000)
    const id = await scene.start({ waves: [{ count: 1, dwell_seconds: 60 }, {}] })
    await scene.work(300, 3)
    const first = scene.agents.find((agent) => agent.offered().at(-1) === SECOND)!
    const other = scene.agents.find((agent) => agent !== first)!
    const [stays, ...vanish] = of.get(first.workloadId)!
    stays!.apply()
    for (const agent of vanish) answer(agent)
    await scene.work(1_000, 3)
    for (const agent of vanish) agent.lose()
    for (let n = 0; n < 50; n++) await scene.work(5_000)
    expect(other.offered().at(-1)).toBe(FIRST)
    expect(await scene.record(id)).toMatchObject({ status })
  },
  60_000,
)
