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

/** A campaign whose first wave is a host with ten instances, of which one applies the change. */
async function beginFirstWave(dwellSeconds: number, more: object = {}) {
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
  const id = await scene.start({ waves: [{ count: 1, dwell_seconds: dwellSeconds }, {}], ...more })
  await scene.work(300, 3)
  const first = scene.agents.find((agent) => agent.offered().at(-1) === SECOND)!
  const other = scene.agents.find((agent) => agent !== first)!
  const [stays, ...vanish] = of.get(first.workloadId)!
  stays!.apply()
  return { id, other, vanish }
}

it.each([
  ['after they applied the change', (agent: FakeAgent) => agent.apply(), 'halted'],
  ['while they apply it', (agent: FakeAgent) => agent.applying(), 'halted'],
])(
  'the next wave does not begin where nine of ten instances of the first vanish %s',
  async (_, answer, status) => {
    const { id, other, vanish } = await beginFirstWave(60)
    for (const agent of vanish) answer(agent)
    await scene.work(1_000, 3)
    for (const agent of vanish) agent.lose()
    await scene.work(5_000, 50)
    expect(other.offered().at(-1)).toBe(FIRST)
    expect(await scene.record(id)).toMatchObject({ status })
  },
  60_000,
)

it('nor where they vanish after they were waited for in vain', async () => {
  const { id, other, vanish } = await beginFirstWave(600, { limits: { drifted: 2 } })
  await scene.work(5_000, 110)
  expect(await scene.record(id)).toMatchObject({
    status: 'running',
    in_part: { applied: { instance_count: 9 } },
  })
  for (const agent of vanish) agent.lose()
  await scene.work(5_000, 50)
  expect(other.offered().at(-1)).toBe(FIRST)
  expect(await scene.record(id)).toMatchObject({ status: 'halted', halt: { gate: 'unhealthy' } })
}, 60_000)
