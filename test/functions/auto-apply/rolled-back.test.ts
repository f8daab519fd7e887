import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

const keptOf = async (id: string) => (await scene.readCampaign(id)).by_itself

describe('a version that is rolled back after it applied by itself', () => {
  it('names the newcomers that got it and for whom there is no way back, until they run something else', async () => {
    const id = await scene.carry(1)
    expect(await keptOf(id)).toBeUndefined()
    await scene.apply(1)
    scene.connect('vm-4')
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    await scene.applyAll(['vm-4'])
    await scene.work(1_000)
    const kept = {
      count: 1,
      workloads: [
        {
          workload_id: scene.agent('vm-4').workloadId,
          workload_name: 'edge',
          workload_place: 'vm-4',
          is_newcomer: true,
          has_base: false,
        },
      ],
    }
    // Before the roll-back it is said whom that does not reach.
    expect(await keptOf(id)).toEqual(kept)
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    for (let n = 0; n < 3; n++) await scene.work(1_000)
    expect(await scene.readCampaign(id)).toMatchObject({ status: 'rolled_back', by_itself: kept })
    expect(scene.runs('vm-4')).toBe(hashOn(1, 'vm-4'))
    await scene.write(2)
    await scene.carry(2)
    expect(scene.runs('vm-4')).toBe(hashOn(2, 'vm-4'))
    expect(await keptOf(id)).toBeUndefined()
  })

  it('names whom it brought on from an older version, and nobody whom the campaign itself changed', async () => {
    await scene.carry(1)
    await scene.write(2)
    const id = await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.apply(2)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    await scene.applyAll()
    await scene.work(1_000)
    const { count, workloads } = (await keptOf(id))!
    expect(count).toBe(2)
    expect(workloads.map(({ workload_place }) => workload_place).sort()).toEqual(['vm-2', 'vm-3'])
    expect(workloads).toMatchObject([
      { is_newcomer: false, has_base: true },
      { is_newcomer: false, has_base: true },
    ])
  })
})
