import { afterEach, beforeEach, expect, it } from 'vitest'
import { hasOpenPush } from '../../../lib/fleet/pushes/find-obstacle.ts'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { SICK } from '../../support/campaign-scene.ts'
import type { FakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// A newcomer of many instances gets a version in stages; what stops the version stops it there, too.

const database = await useTestDatabase()
let scene: AutoApplyScene
let pods: FakeAgent[]
/** The campaign that brought the version before. */
let campaign: string
const has = () => pods.filter((pod) => pod.offered().at(-1) === hashOn(1, 'vm-big')).length

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
  campaign = await scene.carry(1)
  await scene.apply(1)
  pods = Array.from({ length: 30 }, (_, n) => scene.connect('vm-big', { pod: `pod-${n}` }))
  await scene.work(3_000)
  await scene.work(300)
  expect(has()).toBe(3)
  for (const pod of pods) if (pod.offered().length > 0) pod.apply()
  await scene.work(2_000)
})
afterEach(() => scene.ctx.close())

async function wait() {
  for (let n = 0; n < 3; n++) await scene.work(20_000)
}

it('goes no further while the version is paused, however long, and goes on with it', async () => {
  expect((await scene.on('POST', '/pause', { comment: 'wait' })).status).toBe(200)
  await wait()
  scene.ctx.clock.advance(15 * 60_000)
  await wait()
  expect(has()).toBe(3)
  expect(await scene.targets()).toMatchObject([{ state: 'started' }])
  expect((await scene.on('POST', '/continue', { comment: 'on' })).status).toBe(200)
  await scene.work(5_000)
  await scene.work(5_000)
  expect(has()).toBe(30)
})

it('goes no further while a freeze is in force, and goes on after it', async () => {
  const as = (await signIn(scene.ctx)).token
  const until = new Date(scene.ctx.clock.now().getTime() + 3_600_000).toISOString()
  const body = { reason: 'sale', until }
  expect((await invoke(scene.ctx, 'PUT /api/freeze', { as, body })).status).toBe(200)
  await wait()
  expect(has()).toBe(3)
  expect((await invoke(scene.ctx, 'DELETE /api/freeze', { as })).status).toBeLessThan(300)
  await scene.work(5_000)
  await scene.work(5_000)
  expect(has()).toBe(30)
})

/** So much time passes, in which it is looked at as often as it is. */
async function pass(minutes: number): Promise<void> {
  for (let n = 0; n < minutes; n++) {
    scene.ctx.clock.advance(58_000)
    await scene.work(2_000)
  }
}

it('goes no further while it is held, and goes on once it is released', async () => {
  const path = `/api/workloads/${scene.agent('vm-big').workloadId}`
  expect((await scene.call(`POST ${path}/hold`, { reason: 'mine' })).status).toBeLessThan(300)
  await wait()
  await pass(7)
  expect(has()).toBe(3)
  expect(await scene.targets()).toMatchObject([{ state: 'started' }])
  expect((await scene.call(`POST ${path}/release`, {})).status).toBeLessThan(300)
  await scene.work(5_000)
  await scene.work(5_000)
  expect(has()).toBe(30)
})

it('ends, and names what keeps it, where that has lasted for ten minutes', async () => {
  const path = `/api/workloads/${scene.agent('vm-big').workloadId}`
  expect((await scene.call(`POST ${path}/hold`, { reason: 'mine' })).status).toBeLessThan(300)
  await pass(13)
  expect(await scene.targets()).toMatchObject([{ state: 'overtaken', cause: 'held' }])
  const big = scene.ctx.fleet.workload(scene.agent('vm-big').workloadId)!
  expect(big.rollout?.stored.status).toBe('aborted')
  expect(hasOpenPush(big)).toBe(false)
  expect((await scene.call(`POST ${path}/release`, {})).status).toBeLessThan(300)
  await pass(2)
  expect(has()).toBe(3)
  expect(await scene.leftOut()).toMatchObject({ 'vm-big': 'pushed_before' })
})

it('goes no further, and ends, once the version does not apply by itself any more', async () => {
  expect((await scene.on('POST', '/turn-off', { comment: 'no' })).status).toBeLessThan(300)
  await wait()
  expect(has()).toBe(3)
  expect(await database.pool.query('select state from auto_apply_targets')).toEqual([{ state: 'overtaken' }])
})

it('ends where the version is paused and nobody continues it for thirty days', async () => {
  expect((await scene.on('POST', '/pause', { comment: 'wait' })).status).toBe(200)
  await wait()
  expect(await scene.targets()).toMatchObject([{ state: 'started' }])
  await database.pool.execute(`update auto_applies set updated_at = updated_at - interval '30 days'`)
  scene.ctx.clock.advance(3_600_000)
  await scene.work(2_000)
  await wait()
  expect(await database.pool.query('select state from auto_apply_targets')).toEqual([{ state: 'overtaken' }])
  const big = scene.ctx.fleet.workload(scene.agent('vm-big').workloadId)!
  expect([has(), big.rollout?.stored.status, hasOpenPush(big)]).toEqual([3, 'aborted', false])
})

it.each(['is turned off', 'is taken back by its campaign'])(
  'closes a halted rollout, so that other changes find their way again, once the version %s',
  async (how) => {
    pods.find((pod) => pod.offered().length > 0)!.say({ health: SICK })
    await wait()
    const big = scene.ctx.fleet.workload(scene.agent('vm-big').workloadId)!
    expect(big.rollout?.stored.status).toBe('halted')
    if (how === 'is turned off') await scene.on('POST', '/turn-off', { comment: 'no' })
    else await scene.call(`POST /api/campaigns/${campaign}/roll-back`, { comment: 'no' })
    await wait()
    expect(big.rollout?.stored.status).toBe('aborted')
    expect(hasOpenPush(big)).toBe(false)
  },
)

it.each(['applies by itself', 'is paused', 'applies by itself, but is held there'])(
  'goes no further, and ends, once a campaign within whose scope it lies takes the version back that %s',
  async (how) => {
    await scene.label('vm-big', { env: 'staging' })
    // It is one of somebody who may push in staging only: elsewhere the version goes on applying by itself.
    await database.pool.execute(
      `update campaigns set scope = scope || '{"cut_to": [{"key": "muster/env", "values": ["staging"]}]}' where id = $1`,
      [campaign],
    )
    const path = `/api/workloads/${scene.agent('vm-big').workloadId}`
    if (how === 'is paused') await scene.on('POST', '/pause', { comment: 'wait' })
    if (how.endsWith('held there')) await scene.call(`POST ${path}/hold`, { reason: 'mine' })
    const back = await scene.call(`POST /api/campaigns/${campaign}/roll-back`, { comment: 'no' })
    expect(back.status).toBe(200)
    await wait()
    expect(has()).toBe(3)
    expect((await scene.state()).in_force).toMatchObject({
      status: how === 'is paused' ? 'paused' : 'active',
    })
    expect(await scene.readCampaign(campaign)).toMatchObject({
      status: 'rolled_back',
      by_itself_counts: { no_way_back: 1 },
    })
  },
)
