import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import { writeMetrics } from '../../../runtime/metrics.ts'
import { campaignMetrics } from '../../../runtime/metrics-campaigns.ts'
import { AutoApplyScene, hashOn } from '../../support/auto-apply-scene.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let scene: AutoApplyScene

beforeEach(async () => {
  scene = await AutoApplyScene.open(database)
})
afterEach(() => scene.ctx.close())

const look = () => scene.ctx.alerts.run(new AbortController().signal)
const alerts = async () => (await scene.call('GET /api/alerts')).json as AlertRecord[]
const rules = async () => (await alerts()).map(({ rule }) => rule)

/** Start a campaign whose first workload fails, and wait until it has halted; returns its id. */
async function haltedCampaign(): Promise<string> {
  await scene.carry(1)
  await scene.write(2)
  const id = await scene.campaign(2, { waves: [{ count: 1 }, {}], limits: { failed: 0 } })
  await scene.work(300)
  for (const agent of scene.agents.values()) if (agent.offered().length > 1) agent.fail('no such processor')
  for (let n = 0; n < 3; n++) await scene.work(1_000)
  expect((await scene.readCampaign(id)).status).toBe('halted')
  return id
}

describe('a campaign that halts', () => {
  it('is one alert that names it, of which its failed pushes are a part, and is resolved when it goes on', async () => {
    const id = await haltedCampaign()
    await look()
    expect(await alerts()).toMatchObject([
      {
        rule: 'campaign_halted',
        workload_id: '',
        severity: 'warning',
        details: { campaign_id: id, name: 'To 2', gate: 'failed', value: 1, limit: 0 },
      },
    ])
    await look()
    expect(await rules()).toEqual(['campaign_halted'])
    expect(scene.ctx.counters.openAlertsInAll()).toBe(1)
    await scene.call(`POST /api/campaigns/${id}/continue`, { comment: 'one may', limits: { failed: 5 } })
    await look()
    // The failure is left, and is not the campaign's halt any more.
    expect(await rules()).toEqual(['campaign_failures'])
    expect(scene.ctx.counters.openAlertsInAll()).toBe(1)
  })

  it('is quiet after an operator resolved it, until it halts anew', async () => {
    const id = await haltedCampaign()
    await look()
    const [alert] = await alerts()
    expect((await scene.call(`POST /api/alerts/${alert!.id}/resolve`, { reason: 'known' })).status).toBe(200)
    await look()
    expect(await rules()).toEqual([])
    await scene.call(`POST /api/campaigns/${id}/continue`, { comment: 'again' })
    await scene.work(1_000)
    expect((await scene.readCampaign(id)).status).toBe('halted')
    await look()
    expect(await rules()).toEqual(['campaign_halted'])
  })

  it('is told by its halt alone while it is halted, also where it halts after it had failures', async () => {
    const id = await haltedCampaign()
    await scene.call(`POST /api/campaigns/${id}/continue`, { comment: 'one may', limits: { failed: 1 } })
    await look()
    expect(await rules()).toEqual(['campaign_failures'])
    await scene.work(300)
    for (const host of scene.agents.keys())
      if (scene.runs(host) === hashOn(2, host)) scene.agent(host).fail('no such processor')
    for (let n = 0; n < 3; n++) await scene.work(1_000)
    expect((await scene.readCampaign(id)).status).toBe('halted')
    await look()
    expect(await rules()).toEqual(['campaign_halted'])
  })

  it('keeps the failure of a push by hand an alert of its own', async () => {
    await haltedCampaign()
    const rows = await database.pool.query<{ count: number }>(
      `update campaign_targets set push_id = null where state = 'failed' returning 1 as count`,
    )
    expect(rows).toHaveLength(1)
    await look()
    expect((await rules()).sort()).toEqual(['campaign_halted', 'push_failed'])
  })
})

describe('a campaign that has failed on some workloads and has not halted', () => {
  /** Carry version 2 to all, of which one fails; returns the campaign's id and that host. */
  async function withOneFailure(): Promise<{ id: string; host: string }> {
    await scene.carry(1)
    await scene.write(2)
    const id = await scene.campaign(2)
    await scene.work(300)
    scene.agent('vm-2').fail('no such processor')
    await scene.applyAll(['vm-1', 'vm-3'])
    await scene.ctx.advance(1_000)
    scene.agent('vm-2').apply()
    for (let n = 0; n < 3; n++) await scene.work(1_000)
    expect(await scene.readCampaign(id)).toMatchObject({ status: 'done', counts: { applied: 2, failed: 1 } })
    return { id, host: 'vm-2' }
  }

  it('is one alert that names it, until what failed has applied another config', async () => {
    const { id } = await withOneFailure()
    await look()
    expect(await alerts()).toMatchObject([
      {
        rule: 'campaign_failures',
        workload_id: '',
        severity: 'warning',
        details: {
          campaign_id: id,
          name: 'To 2',
          failed: 1,
          total: 3,
          left_out: 0,
          workloads: expect.stringContaining('vm-2'),
          title: expect.stringMatching(/./),
        },
      },
    ])
    const [{ message } = { message: '' }] = await alerts()
    expect(message).toMatch(/^Campaign "To 2" failed on 1 of 3 workloads: edge \(vm-2\) \(/)
    await look()
    expect(await rules()).toEqual(['campaign_failures'])
    await scene.write(3)
    await scene.carry(3)
    await look()
    expect(await rules()).toEqual([])
  })

  it('is no alert any more once it is taken back, or what failed has left the inventory', async () => {
    const { id, host } = await withOneFailure()
    await look()
    expect(await rules()).toEqual(['campaign_failures'])
    const { workloadId } = scene.agent(host)
    await database.pool.execute('update workloads set archived_at = now() where id = $1', [workloadId])
    await look()
    expect(await rules()).toEqual([])
    await database.pool.execute('update workloads set archived_at = null where id = $1', [workloadId])
    await look()
    expect(await rules()).toEqual(['campaign_failures'])
    expect((await scene.call(`POST /api/campaigns/${id}/roll-back`, { comment: 'no' })).status).toBe(200)
    await look()
    expect(await rules()).toEqual([])
  })
})

it('what stopped applying by itself is one alert that says of what, until somebody continues it', async () => {
  await scene.carry(1)
  await scene.apply(1)
  for (const n of [4, 5, 6]) {
    scene.connect(`vm-${n}`)
    await scene.ctx.advance(300)
    for (let n = 0; n < 3; n++) await scene.work(500)
    scene.agent(`vm-${n}`).fail('no such processor')
    await scene.ctx.advance(1_000)
    await scene.work(1_000)
  }
  await scene.work(1_000)
  await look()
  const held = (await alerts()).filter(({ rule }) => rule === 'auto_apply_held')
  expect(held).toMatchObject([
    {
      workload_id: '',
      severity: 'warning',
      details: {
        fleet_config_id: scene.configId,
        name: 'Hosts',
        number: 1,
        gate: 'failed_in_a_row',
        value: 3,
      },
    },
  ])
  await scene.on('POST', '/continue', { comment: 'mended' })
  await look()
  expect(await rules()).not.toContain('auto_apply_held')
})

it('fleet configs of equal priority that select one workload are one alert, until one of them gives way', async () => {
  const selector = {
    match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-1', 'vm-2'] }],
  }
  const { json } = await scene.call('POST /api/fleet-configs', { name: 'Two', selector })
  await look()
  expect(await alerts()).toMatchObject([
    {
      rule: 'config_conflict',
      details: { fleet_config_id: scene.configId, name: 'Hosts', others: 'Two', count: 2 },
    },
  ])
  const { id } = json as { id: string }
  await scene.call(`PUT /api/fleet-configs/${id}`, { name: 'Two', selector, priority: -1 })
  await look()
  expect(await alerts()).toEqual([])
})

it('campaigns and what applies by itself are measured', async () => {
  await haltedCampaign()
  const text = writeMetrics(await campaignMetrics(scene.ctx))
  expect(text).toContain('muster_campaigns{status="halted"} 1')
  expect(text).toContain('muster_campaign_targets{state="failed"} 1')
  expect(text).toContain('muster_auto_apply_pushes_total{state="applied"} 0')
})
