import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listChanges } from '../../../lib/store/change-feed.ts'
import type { Db } from '../../../lib/store/db.ts'
import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

const changes = async (query = '') => {
  const { status, json } = await scene.call(`GET /api/changes${query}`)
  expect(status, JSON.stringify(json)).toBe(200)
  return json as ChangeRecord[]
}
const kinds = (list: readonly ChangeRecord[]) => list.map(({ kind }) => kind)

/** Bring version 1 to three hosts by a campaign, and to a newcomer by itself. Answers the campaign. */
async function bring(): Promise<string> {
  const id = await scene.carry(1)
  await scene.apply(1)
  scene.connect('vm-4')
  await scene.ctx.advance(60_000)
  for (let n = 0; n < 3; n++) await scene.work(500)
  await scene.applyAll(['vm-4'])
  await scene.work(1_000)
  return id
}

describe('a version that applies by itself, among the changes', () => {
  it('is one entry at its last push, which opens to its pushes', async () => {
    const id = await bring()
    const all = await changes()
    expect(kinds(all)).toEqual(['auto_apply', 'campaign'])
    const [entry] = all
    const { json } = await scene.on('GET', '/targets')
    const [target] = json as { started_at: string; push_id: string }[]
    expect(entry).toMatchObject({
      at: target!.started_at,
      who: scene.editor.email,
      outcome: 'open',
      auto_apply_status: 'active',
      fleet_config_id: scene.configId,
      fleet_config_name: 'Hosts',
      version_number: 1,
      push_count: 1,
      target_count: 1,
      applied_count: 1,
    })
    expect(await changes(`?auto_apply=${entry!.id}`)).toMatchObject([
      {
        kind: 'push',
        id: target!.push_id,
        workload_place: 'vm-4',
        auto_apply_id: entry!.id,
        version_number: 1,
      },
    ])
    expect(kinds(await changes(`?campaign=${id}`))).toEqual(['push', 'push', 'push'])
  })

  it('stands for the automatic rollbacks of its pushes as well, which say what they take back', async () => {
    await bring()
    await scene.write(2)
    const id = await scene.campaign(2)
    await scene.work(300)
    scene.agent('vm-2').fail('no such processor')
    await scene.ctx.advance(300)
    await scene.work(300)
    expect(kinds(await changes()).filter((kind) => kind === 'auto_rollback')).toEqual([])
    const own = await changes(`?campaign=${id}`)
    expect(own.find(({ kind }) => kind === 'auto_rollback')).toMatchObject({
      workload_place: 'vm-2',
      campaign_id: id,
      campaign_name: 'To 2',
    })
    const [entry] = (await changes()).filter((one) => one.id === id)
    expect(entry).toMatchObject({ kind: 'campaign', push_count: own.length })
    // Whoever looks for what went back is shown them one by one.
    expect(await changes('?kind=auto_rollback')).toHaveLength(1)
  })

  it('is not folded where somebody looks for a host, a kind, or a stretch of time', async () => {
    await bring()
    expect(kinds(await changes('?workload=vm-4')).sort()).toEqual(['auto_apply', 'push'])
    expect(await changes('?kind=push')).toHaveLength(4)
    const [entry] = await changes()
    const to = `?to=${entry!.at}`
    await scene.ctx.advance(60_000)
    scene.connect('vm-5')
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    // Its entry has moved on to the newest push; what it did in that stretch is told all the same.
    expect(kinds(await changes(to))).toEqual(['push', 'campaign'])
    expect(kinds(await changes())).toEqual(['auto_apply', 'campaign'])
  })

  it('leaves the pushes by which it is taken back to the campaign that is rolled back', async () => {
    await scene.carry(1)
    await scene.write(2)
    const id = await scene.carry(2, { scope: { workload_ids: [scene.agent('vm-1').workloadId] } })
    await scene.apply(2)
    for (let n = 0; n < 3; n++) await scene.work(16_000)
    await scene.applyAll()
    await scene.work(1_000)
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    for (let n = 0; n < 3; n++) {
      await scene.work(2_000)
      await scene.applyAll()
    }
    const all = await changes()
    expect(kinds(all).sort()).toEqual(['auto_apply', 'campaign', 'campaign'])
    // One there, and back for it and the two others.
    expect(all.find((one) => one.id === id)).toMatchObject({
      campaign_status: 'rolled_back',
      push_count: 4,
      target_count: 1,
      applied_count: 0,
      taken_back_count: 1,
      by_itself_taken_back_count: 2,
    })
    expect(await changes(`?campaign=${id}`)).toHaveLength(4)
    expect(all.find(({ kind }) => kind === 'auto_apply')).toMatchObject({ outcome: 'ended', push_count: 2 })
  })
})

describe('a campaign, among the changes', () => {
  it('is told where it began before the stretch that is asked for, and pushed within it', async () => {
    const id = await scene.carry(1, { waves: [{ count: 1 }, {}] })
    const { started_at: startedAt } = await scene.readCampaign(id)
    const later = new Date(Date.parse(startedAt!) + 1).toISOString()
    const [entry] = await changes()
    const pushes = await changes(`?campaign=${id}`)
    expect(entry).toMatchObject({ kind: 'campaign', id, at: pushes[0]!.at })
    expect(await changes(`?from=${later}`)).toMatchObject([{ kind: 'campaign', id, push_count: 3 }])
    // A stretch in its midst has it at what was its last push by then; one after it nothing.
    const first = pushes.at(-1)!.at
    expect(Date.parse(first)).toBeLessThan(Date.parse(pushes[0]!.at))
    expect(await changes(`?from=${later}&to=${first}`)).toMatchObject([{ kind: 'campaign', id, at: first }])
    const after = new Date(Date.parse(pushes[0]!.at) + 1).toISOString()
    expect(await changes(`?from=${after}`)).toEqual([])
  })
})

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

/** How many rows of pushes a plan has read. */
function pushesRead(plan: Plan): number {
  const own =
    plan['Relation Name'] === 'pushes'
      ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']
      : 0
  return (plan.Plans ?? []).reduce((sum, part) => sum + pushesRead(part), own)
}

describe('a page of the changes', () => {
  it('reads as many pushes as it tells, however many campaigns and versions by themselves made since', {
    timeout: 60_000,
  }, async () => {
    const id = await bring()
    const workload = scene.agent('vm-1').workloadId
    for (let port = 50; port < 60; port++) {
      await pushConfig(scene.ctx.fleet, workload, configYaml(port))
      await scene.applyAll(['vm-1'])
    }
    const [{ auto_apply_id: autoApplyId } = {}] = await changes('?workload=vm-4')
    for (const column of ['campaign_id', 'auto_apply_id'])
      await database.pool.execute(
        `insert into pushes select made.* from pushes p, generate_series(1, 6000) n,
           jsonb_populate_record(p, jsonb_build_object('push_id', gen_random_uuid(),
             'seq', p.seq + n + case $2 when 'campaign_id' then 1000000 else 2000000 end, $2::text, $3::text,
             'submitted_at', p.submitted_at + n * interval '1 second')) made
         where p.workload_id = $1 and p.seq = (select max(seq) from pushes where workload_id = $1 and seq < 1000000)`,
        [workload, column, column === 'campaign_id' ? id : autoApplyId],
      )
    await database.pool.execute('analyze pushes')
    const read: number[] = []
    const explaining = {
      ...database.pool,
      async query(text: string, params: unknown[]) {
        if (text.includes('from pushes p join workloads')) {
          const [row] = await database.pool.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
            `explain (analyze, format json) ${text}`,
            params,
          )
          read.push(pushesRead(row!['QUERY PLAN'][0]!.Plan))
        }
        return database.pool.query(text, params)
      },
    } as unknown as Db
    const nothing = { workload: null, campaign: null, autoApply: null, person: null, text: null }
    const filter = { ...nothing, outcome: null, kind: null, from: null, to: null }
    const visible = { withRequests: true, withCampaigns: true, withPlans: true, withComments: true }
    const first = await listChanges(explaining, filter, visible, { after: null, limit: 5 })
    expect(first.changes.map(({ kind }) => kind)).toContain('push')
    const second = await listChanges(explaining, filter, visible, { after: first.changes.at(-1)!, limit: 5 })
    expect(second.changes.length).toBe(5)
    expect(read).toHaveLength(2)
    for (const rows of read) expect(rows).toBeLessThan(50)
  })
})
