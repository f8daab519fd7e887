import { afterEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import { CampaignScene, FIRST, SECOND } from '../../support/campaign-scene.ts'
import type { FakeAgent } from '../../support/fleet.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml } from '../../support/push-config.ts'

const database = await useTestDatabase()
const THIRD = configHash(configYaml(3))

describe('campaigns that a host was away for', () => {
  let scene: CampaignScene
  afterEach(() => scene.ctx.close())

  async function oneAway(): Promise<FakeAgent> {
    scene = await CampaignScene.open(database, 3)
    const away = scene.agents[2]!
    away.goodbye()
    away.lose()
    await scene.ctx.advance(200_000)
    return away
  }
  async function carried(n: number): Promise<string> {
    const id = await scene.start({ name: `to ${n}`, change: { kind: 'text', yaml: configYaml(n) } })
    await scene.work()
    for (const agent of scene.offered(configHash(configYaml(n)))) agent.apply()
    await scene.work(300, 4)
    expect((await scene.record(id)).status).toBe('done')
    return id
  }
  async function comesBack(away: FakeAgent): Promise<FakeAgent> {
    const back = scene.comeBack(away, FIRST)
    for (let n = 0; n < 6; n++) {
      await scene.work(6_000)
      const last = back.offered().at(-1)
      if (last !== undefined) back.apply(last)
    }
    return back
  }

  it('a host that was away during two campaigns ends with what the newer one brought', async () => {
    const away = await oneAway()
    await carried(2)
    await carried(3)
    const back = await comesBack(away)
    expect(back.offered().at(-1)).toBe(THIRD)
  })

  it('a host that was away while a change was brought and taken back by another campaign does not get it', async () => {
    const away = await oneAway()
    await carried(2)
    await carried(1)
    const back = await comesBack(away)
    expect(back.offered()).not.toContain(SECOND)
  })
})
