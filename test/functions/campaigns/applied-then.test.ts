import { afterEach, describe, expect, it } from 'vitest'
import { CampaignScene, FIRST, SECOND, SICK } from '../../support/campaign-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene
afterEach(() => scene.ctx.close())

describe('a canary that said APPLIED', () => {
  async function begin(dwell: number) {
    scene = await CampaignScene.open(database, 4)
    const id = await scene.approved({ waves: [{ count: 1, dwell_seconds: dwell }, {}] })
    const canary = await scene.firstOf(id)
    expect((await scene.call('POST', `/${id}/start`)).status).toBe(200)
    await scene.work()
    canary.apply()
    await scene.work(1_000)
    expect((await scene.targetOf(id, canary)).state).toBe('applied')
    return { id, canary }
  }

  it('and then FAILED has failed, with its cause, and nobody else gets the change', async () => {
    const { id, canary } = await begin(60)
    await scene.work(5_000)
    canary.fail('exporter cannot start: no such host', SECOND)
    await scene.work(1_000)
    canary.apply(FIRST)
    await scene.work(20_000, 4)
    const { status, halt } = await scene.record(id)
    expect({ status, gate: halt?.gate }).toEqual({ status: 'halted', gate: 'failed' })
    const target = await scene.targetOf(id, canary)
    expect(target).toMatchObject({ state: 'failed', cause: expect.any(String) })
    expect(scene.offered(SECOND)).toEqual([])
  })

  it('and died at once is waited for, and is unhealthy once its grace has ended', async () => {
    const { id, canary } = await begin(60)
    canary.lose()
    await scene.work(10_000, 15)
    const { status, halt } = await scene.record(id)
    expect({ status, gate: halt?.gate }).toEqual({ status: 'halted', gate: 'unhealthy' })
    expect(scene.offered(SECOND)).toEqual([canary])
  })

  it('and got another config by hand since is not held against the campaign', async () => {
    const { id, canary } = await begin(3_600)
    await pushConfig(scene.ctx.fleet, canary.workloadId, configYaml(9))
    canary.apply()
    await scene.work(5_000)
    canary.say({ health: SICK })
    await scene.work(60_000, 3)
    expect((await scene.record(id)).status).toBe('running')
  })
})
