import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { CampaignRecord } from '../../../lib/wire/campaigns.ts'
import { printCampaign } from '../../../runtime/cli/campaigns/print.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { CampaignScene, FIRST } from '../../support/campaign-scene.ts'
import { fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, productionYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let scene: CampaignScene

beforeEach(async () => {
  await scene?.ctx.close()
  for (const name of ['freeze', 'approval_policy'])
    await database.pool.execute('delete from settings where name = $1', [name])
  scene = await CampaignScene.open(database, 3)
})
afterAll(() => scene.ctx.close())

/** What the command line prints of a campaign. */
const printed = (record: CampaignRecord): string => {
  const lines: string[] = []
  printCampaign({ out: (line: string) => lines.push(line) } as never, record)
  return lines.join('\n')
}

describe('the rule that a campaign is approved by', () => {
  const UNLABELLED = { why: 'unlabelled', count: 3, like_production: true }

  it('is said with why at the plan, at the request and once it is approved, and no more once it runs', async () => {
    const id = await scene.planned()
    const asked = { approvals: 1, author_counts: false, because: [UNLABELLED] }
    const planned = await scene.record(id)
    expect(planned).toMatchObject({ status: 'planned', approval_rule: asked })
    const { plan_hash } = planned
    await scene.call('POST', `/${id}/request`, { plan_hash })
    expect(await scene.record(id)).toMatchObject({ status: 'requested', approval_rule: asked })
    const yes = { comment: 'yes', plan_hash }
    const { json } = await scene.call('POST', `/${id}/approve`, yes, scene.approver)
    expect(json).toMatchObject({ status: 'approved', approval_rule: asked })
    await scene.call('POST', `/${id}/start`)
    expect(await scene.record(id)).not.toHaveProperty('approval_rule')
    expect(printed(planned)).toMatch(/approval rule +one approval, not by an author of it/)
    expect(printed(planned)).toMatch(
      /because +no trusted label names the environment of 3 workloads of it: treated as production/,
    )
  })

  it('is that of production where a workload of it is production', async () => {
    const admin = await signIn(scene.ctx)
    const labels = { labels: { env: 'prod' } }
    const path = `PUT /api/workloads/${scene.agents[0]!.workloadId}/trusted-labels`
    const put = await invoke(scene.ctx, path, { as: admin.token, body: labels })
    expect(put.status, JSON.stringify(put.json)).toBeLessThan(300)
    const change = { kind: 'text', yaml: productionYaml(2) }
    const record = await scene.record(await scene.planned({ change }))
    expect(record.approval_rule!.because).toEqual([{ why: 'production', count: 1 }])
    expect(printed(record)).toMatch(/because +1 workload of it is production/)
  })
})

describe('a plan', () => {
  const LISTS = { receivers: ['otlp'], processors: ['batch'], exporters: ['debug'] }
  const SAMPLED = configYaml(2)
    .replace('exporters:', 'processors:\n  tail_sampling:\n  batch:\nexporters:')
    .replace('receivers: [otlp]', 'receivers: [otlp]\n      processors: [tail_sampling, batch]')

  it('names the components that are not installed, of each workload and in its numbers', async () => {
    const lacking = fakeAgent(scene.ctx.fleet, { host: 'vm-9', components: LISTS })
    await scene.ctx.advance(300)
    await pushConfig(scene.ctx.fleet, lacking.workloadId, configYaml(1))
    lacking.apply()
    await scene.ctx.advance(300)
    const id = await scene.planned({ change: { kind: 'text', yaml: SAMPLED } })
    expect(await scene.targetOf(id, lacking)).toMatchObject({
      verdict: 'refused',
      reason: 'component_missing',
      title: 'processors.tail_sampling',
    })
    const record = await scene.record(id)
    expect(record.plan!.missing_components).toEqual([{ component: 'processors.tail_sampling', count: 1 }])
    expect(record.plan!.left_out).toEqual({ component_missing: 1 })
    expect(printed(record)).toMatch(/not installed +processors\.tail_sampling \(1\)/)
    expect(printed(record)).toMatch(/left out +1 refused \(component missing\)/)
  })

  it('counts held, frozen and refused workloads each by its own word, and each once', async () => {
    const admin = await signIn(scene.ctx)
    const [held, frozen] = scene.agents
    const hold = { reason: 'a disk is being changed' }
    await invoke(scene.ctx, `POST /api/workloads/${held!.workloadId}/hold`, {
      as: scene.editor.token,
      body: hold,
    })
    const until = new Date(scene.ctx.clock.now().getTime() + 3_600_000).toISOString()
    const name = scene.ctx.fleet.workload(frozen!.workloadId)!.fingerprintKeys['host.name']!
    const selector = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: [name] }] }
    const body = { reason: 'the audit', until, selector }
    const set = await invoke(scene.ctx, 'PUT /api/freeze', { as: admin.token, body })
    expect(set.status, JSON.stringify(set.json)).toBeLessThan(300)
    const record = await scene.record(await scene.planned())
    expect(record.plan!.left_out).toEqual({ held: 1, frozen: 1 })
    expect(printed(record)).toMatch(/left out +(1 held, 1 frozen|1 frozen, 1 held)/)
    expect(printed(record)).not.toMatch(/refused/)
  })

  it('that changes nothing is not asked to be approved', async () => {
    const id = await scene.planned({ change: { kind: 'text', yaml: configYaml(1) } })
    const record = await scene.record(id)
    expect(record.plan!.left_out).toEqual({ same: 3 })
    const { plan_hash } = record
    expect(await scene.call('POST', `/${id}/request`, { plan_hash })).toMatchObject({
      status: 409,
      json: { code: 'campaign_changes_nothing' },
    })
    expect((await scene.record(id)).status).toBe('planned')
  })
})

describe('a campaign that halted', () => {
  it('names whom and where it can go: nowhere but back where nobody is left and nobody runs it', async () => {
    const [only] = scene.agents
    const id = await scene.start({ scope: { workload_ids: [only!.workloadId] } })
    await scene.work(300, 2)
    only!.fail('unknown processor')
    await scene.work(1_000, 3)
    const record = await scene.record(id)
    const target = await scene.targetOf(id, only!)
    expect(record).toMatchObject({
      status: 'halted',
      counts: { failed: 1 },
      halt: {
        gate: 'failed',
        holds: true,
        workloads: [{ workload_id: only!.workloadId, workload_name: target.workload_name }],
      },
    })
    const raised = { comment: 'on', limits: { failed: 1 } }
    expect(await scene.call('POST', `/${id}/continue`, raised)).toMatchObject({
      status: 409,
      json: { code: 'campaign_nothing_left' },
    })
    expect(printed(record)).toContain(target.workload_name)
    expect(printed(record)).toMatch(/No workload is left to be changed.*abort it, or roll it back/)
    expect((await scene.call('POST', `/${id}/abort`)).status).toBe(200)
  })

  it('says that it would halt again as it is, and with which limit it goes on', async () => {
    const id = await scene.start({ waves: [{ count: 1 }, {}] })
    await scene.work(300, 2)
    const first = await scene.firstOf(id)
    first.fail('unknown processor')
    await scene.work(1_000, 3)
    const record = await scene.record(id)
    expect(record).toMatchObject({ status: 'halted', halt: { holds: true } })
    // It is said what became of the workload that failed, while it goes back and once it could not.
    expect(record).toMatchObject({ failed_since: { going_back: 1 } })
    first.fail('unknown processor')
    await scene.work(1_000, 3)
    expect(await scene.record(id)).toMatchObject({ failed_since: { rollback_failed: 1 } })
    expect(await scene.targetOf(id, first)).toMatchObject({
      state: 'failed',
      aftermath: { kind: 'rollback_failed', config_hash: FIRST, target_count: 1 },
    })
    expect(printed(record)).toMatch(/would halt again as it is: continue with --raise failed=1/)
    // Nobody is advised to do what will be refused.
    const way_back = { goes_back: 0, no_way_back: 1, moved_on: 0 }
    expect(printed(record)).toContain('abort, or roll it back')
    expect(printed({ ...record, way_back })).not.toContain('roll it back')
    expect(printed({ ...record, way_back })).toContain('It cannot be rolled back')
    const raised = { comment: 'one may', limits: { failed: 1 } }
    expect((await scene.call('POST', `/${id}/continue`, raised)).status).toBe(200)
    await scene.work(300, 3)
    expect((await scene.record(id)).status).toBe('running')
  })

  it('counts and names those that failed since, and says the limit with which it goes on now', async () => {
    const id = await scene.start({ waves: [{ count: 2 }, {}] })
    await scene.work(300, 2)
    const started: typeof scene.agents = []
    for (const agent of scene.agents) if ((await scene.targetOf(id, agent)).wave === 0) started.push(agent)
    const [one, other] = started
    one!.fail('unknown processor')
    await scene.work(1_000, 3)
    expect((await scene.record(id)).halt).toMatchObject({ value: 1, passed: [{ gate: 'failed', value: 1 }] })
    other!.fail('unknown processor')
    await scene.work(1_000, 3)
    const record = await scene.record(id)
    expect(record).toMatchObject({
      status: 'halted',
      counts: { failed: 2 },
      halt: { value: 2, limit: 0, holds: true, passed: [{ gate: 'failed', value: 2, limit: 0 }] },
    })
    expect(record.halt!.workload_ids).toHaveLength(2)
    expect(printed(record)).toMatch(/failed is 2, allowed is 0/)
    expect(printed(record)).toMatch(/continue with --raise failed=2 or more/)
    const raised = { comment: 'these may', limits: { failed: 2 } }
    expect((await scene.call('POST', `/${id}/continue`, raised)).status).toBe(200)
    await scene.work(300, 3)
    expect((await scene.record(id)).status).toBe('running')
  })

  it('as who approved it may not any more names them, and says once that is as it was again', async () => {
    const id = await scene.start({ waves: [{ count: 1 }, {}] })
    const admin = await signIn(scene.ctx)
    const regroup = (groups: string[]) =>
      invoke(scene.ctx, `PATCH /api/users/${scene.approver.userId}`, { as: admin.token, body: { groups } })
    expect((await regroup(['viewer'])).status).toBeLessThan(300)
    await scene.work(6_000, 2)
    const record = await scene.record(id)
    expect(record).toMatchObject({
      status: 'halted',
      halt: { gate: 'approver_gone', approvers: [scene.approver.email], holds: true },
    })
    expect(printed(record)).toContain(scene.approver.email)
    await regroup(['editor'])
    expect((await scene.record(id)).halt).toMatchObject({ holds: false })
  })
})

it('a version that a campaign took back is marked in the plans and campaigns that carry it', async () => {
  const hosts = await AutoApplyScene.open(database)
  try {
    const first = await hosts.carry(1)
    expect(await hosts.readCampaign(first)).not.toHaveProperty('version_rolled_back')
    await hosts.write(2)
    const second = await hosts.carry(2)
    await hosts.call(`POST /api/campaigns/${second}/roll-back`, { comment: 'it loses spans' })
    for (let n = 0; n < 4; n++) {
      await hosts.work(1_000)
      await hosts.applyAll()
    }
    // It says so by its own status.
    expect(await hosts.readCampaign(second)).toMatchObject({ status: 'rolled_back' })
    expect(await hosts.readCampaign(second)).not.toHaveProperty('version_rolled_back')
    const change = { kind: 'version', fleet_config_id: hosts.configId, number: 2 }
    const { json } = await hosts.call('POST /api/campaigns', { name: 'Again', change, scope: {} })
    expect(json).toMatchObject({ version_rolled_back: true, version_rolled_back_by: second })
    const list = (await hosts.call(`GET /api/fleet-configs/${hosts.configId}/versions`)).json
    expect(list).toMatchObject([
      { number: 2, rolled_back: true, rolled_back_by: second },
      { number: 1, rolled_back: false },
    ])
    expect(printed(json as CampaignRecord)).toMatch(
      new RegExp(`version +was carried before, and taken back by ${second}`),
    )
    expect(await hosts.readCampaign(first)).not.toHaveProperty('version_rolled_back')
  } finally {
    await hosts.ctx.close()
  }
})
