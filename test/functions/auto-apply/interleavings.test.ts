import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AutoApply } from '../../../lib/auto-apply/auto-apply.ts'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { type FaultyDatabase, faultyDatabase } from '../../support/faulty-database.ts'
import { useTestDatabase } from '../../support/postgres.ts'

// Something happens between the check of a workload and its push, or between two steps of auto-apply.

const database = await useTestDatabase()
let db: FaultyDatabase
/** Done once inside the next transaction of this name, before its first statement. */
let atBegin: { name: string; act(): Promise<unknown> } | null
let scene: AutoApplyScene
let campaignId: string

beforeEach(async () => {
  atBegin = null
  const faulty = faultyDatabase(database.pool)
  db = {
    ...faulty,
    transaction: (name, work) =>
      faulty.transaction(name, async (tx) => {
        const todo = atBegin?.name === name ? atBegin : null
        if (todo !== null) atBegin = null
        await todo?.act()
        return work(tx)
      }),
  }
  scene = await AutoApplyScene.open(database, db)
  campaignId = await scene.carry(1)
  await scene.apply(1)
})
afterEach(() => scene.ctx.close())

/** Connect a new host, and call `act` as the transaction of its push begins. */
async function newcomerWhile(act: () => Promise<unknown>): Promise<void> {
  scene.connect('vm-4')
  await scene.ctx.advance(300)
  atBegin = { name: 'auto-apply.push', act }
  for (let n = 0; n < 3; n++) await scene.work(500)
  expect(atBegin).toBeNull()
}
const never = async () => {
  for (let n = 0; n < 3; n++) await scene.work(16_000)
  expect(scene.agent('vm-4').offered()).toEqual([])
  expect(await scene.targets()).toEqual([])
}

describe('a newcomer is not pushed to that, between the look and the push,', () => {
  it('finds it paused', async () => {
    await newcomerWhile(() => scene.on('POST', '/pause', {}))
    await never()
  })

  it('finds it turned off', async () => {
    await newcomerWhile(() => scene.on('POST', '/turn-off', {}))
    await never()
  })

  it('finds its version rolled back', async () => {
    await newcomerWhile(() => scene.call(`POST /api/campaigns/${campaignId}/roll-back`, { comment: 'no' }))
    await never()
  })

  it('finds its version rolled back in the scope that it lies in', async () => {
    scene.connect('vm-4')
    await scene.label('vm-4', { env: 'staging' })
    await database.pool.execute(
      `update campaigns set scope = scope || '{"cut_to": [{"key": "muster/env", "values": ["staging"]}]}' where id = $1`,
      [campaignId],
    )
    await newcomerWhile(() => scene.call(`POST /api/campaigns/${campaignId}/roll-back`, { comment: 'no' }))
    await never()
    expect((await scene.state()).in_force).toMatchObject({ status: 'active' })
  })

  it('is put on hold', async () => {
    const { workloadId } = scene.connect('vm-4')
    await newcomerWhile(() => scene.call(`POST /api/workloads/${workloadId}/hold`, { reason: 'mine' }))
    await never()
    expect(await scene.leftOut()).toMatchObject({ 'vm-4': 'held' })
  })

  it('is put on hold by a process that has not told this one', async () => {
    await newcomerWhile(() =>
      database.pool.execute(
        `insert into workload_holds (workload_id, reason, held_by, held_by_id, held_at, due_at)
         values ($1, 'mine', 'x', 'x', now(), now())`,
        [scene.agent('vm-4').workloadId],
      ),
    )
    await never()
  })
})

it('what runs an older version is not pushed to when a campaign is asked for meanwhile', async () => {
  await scene.write(2)
  await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
  await scene.write(3)
  const asked = await scene.request(2)
  const { plan_hash } = asked.json as { plan_hash: string }
  atBegin = {
    name: 'auto-apply.push',
    act: () =>
      scene.campaign(3, {
        scope: { workload_ids: [scene.agent('vm-1').workloadId] },
        windows: [{ days: [0], from: '00:00', to: '00:01' }],
      }),
  }
  expect((await scene.approve(plan_hash)).status).toBe(200)
  for (let n = 0; n < 3; n++) await scene.work(16_000)
  expect(scene.runs('vm-2')).toBe(hashOn(1, 'vm-2'))
})

describe('labels that go back and forth push nothing', () => {
  beforeEach(async () => {
    await scene.call('POST /api/fleet-configs', {
      name: 'Others',
      priority: 9,
      selector: { match_labels: { 'muster/other': 'yes' } },
    })
  })

  it('also where it was given the version before', async () => {
    await scene.write(2)
    await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.label('vm-2', { other: 'yes' })
    await scene.ctx.fleetConfigs.storeMemberships()
    await scene.apply(2)
    await scene.label('vm-2', {})
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-2')).toBe(hashOn(1, 'vm-2'))
    expect(await scene.leftOut()).toMatchObject({ 'vm-2': 'other_config' })
    expect(scene.runs('vm-3')).toBe(hashOn(2, 'vm-3'))
  })

  it('to a newcomer that was under another one at first, and under none between', async () => {
    scene.connect('db-4')
    await scene.ctx.advance(300)
    await scene.label('db-4', { other: 'yes' })
    await scene.ctx.fleetConfigs.storeMemberships()
    await scene.label('db-4', {})
    await scene.ctx.fleetConfigs.storeMemberships()
    const selector = { match_expressions: [{ key: 'identity/host.name', operator: 'Exists' }] }
    await scene.apply(1, { selector })
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.agent('db-4').offered()).toEqual([])
    expect(await scene.leftOut()).toMatchObject({ 'db-4': 'other_config' })
  })

  it('and a campaign takes it in again', async () => {
    await scene.label('vm-2', { other: 'yes' })
    await scene.ctx.fleetConfigs.storeMemberships()
    await scene.label('vm-2', {})
    await scene.ctx.fleetConfigs.storeMemberships()
    await scene.write(2)
    await scene.carry(2)
    await scene.write(3)
    await scene.carry(3, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.apply(3)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    expect(scene.runs('vm-2')).toBe(hashOn(3, 'vm-2'))
  })
})

describe('whoever goes on after', () => {
  it('an answer to a push that was lost pushes to nobody twice, and hears how it ended', async () => {
    scene.connect('vm-4')
    await scene.ctx.advance(300)
    db.loseAnswer('auto-apply.push')
    for (let n = 0; n < 3; n++) await scene.work(3_000)
    expect(scene.agent('vm-4').offered()).toEqual([hashOn(1, 'vm-4')])
    await scene.applyAll(['vm-4'])
    for (let n = 0; n < 3; n++) await scene.work(3_000)
    expect(await scene.targets()).toMatchObject([{ state: 'applied' }])
  })

  it('a process that ended notes what its pushes came to', async () => {
    scene.connect('vm-4')
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    expect(await scene.targets()).toMatchObject([{ state: 'started' }])
    await scene.applyAll(['vm-4'])
    await new AutoApply(scene.ctx.autoApply.parts).work(new AbortController().signal)
    expect(await scene.targets()).toMatchObject([{ state: 'applied' }])
  })

  it('a process that ended stops of the failures that it did not count', async () => {
    for (const n of [4, 5, 6]) {
      scene.connect(`vm-${n}`)
      await scene.ctx.advance(300)
      for (let n = 0; n < 3; n++) await scene.work(500)
    }
    for (const n of [4, 5, 6]) scene.agent(`vm-${n}`).fail('no such processor')
    await scene.ctx.advance(1_000)
    const next = new AutoApply(scene.ctx.autoApply.parts)
    await next.work(new AbortController().signal)
    await next.work(new AbortController().signal)
    expect((await scene.state()).in_force!.status).toBe('held')
  })

  it('a process that ended holds failures to as many as are under the fleet config, of which it has not looked at one', async () => {
    for (let n = 10; n < 260; n++) scene.connect(`vm-${n}`)
    await scene.ctx.advance(1_000)
    const id = (await scene.state()).in_force!.id
    // Eleven of 253 failed within an hour. Auto-apply stops at one in twenty, which is twelve.
    await database.pool.execute(
      `insert into auto_apply_targets (auto_apply_id, workload_id, workload_name, is_newcomer, is_production, base_hash,
         result_hash, state, push_id, started_at, ended_at)
       select $1, 'gone-' || n, 'gone', true, false, null, 'x', case when n % 2 = 0 then 'failed' else 'applied' end,
         gen_random_uuid(), $2, $2::timestamptz + n * interval '1 ms'
       from generate_series(1, 23) as n`,
      [id, scene.ctx.clock.now()],
    )
    await new AutoApply(scene.ctx.autoApply.parts).work(new AbortController().signal)
    expect((await scene.state()).in_force!.status).toBe('active')
  })

  it('the silence of whoever was pushed to comes to an end', async () => {
    scene.connect('vm-4')
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    await scene.work(11 * 60_000)
    expect(await scene.targets()).toMatchObject([{ state: 'no_answer' }])
  })
})
