import { afterAll, beforeAll, expect, it } from 'vitest'
import { sweep } from '../../../lib/fleet/janitor.ts'
import type { CampaignGroup } from '../../../lib/wire/campaigns.ts'
import { printGroups } from '../../../runtime/cli/campaigns/print.ts'
import { AutoApplyScene } from '../../support/auto-apply-scene.ts'
import { CampaignScene } from '../../support/campaign-scene.ts'
import { fakeAgent } from '../../support/fleet.ts'
import { signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// What hosts lose that nothing was ever pushed to, where one campaign takes them over.

const database = await useTestDatabase()
let scene: CampaignScene

/** What a kiosk runs before: its own name and the port of its own health check are in it. */
const before = (host: string, port: number, more = '') => `receivers:
  otlp:
    protocols: { grpc: { endpoint: 0.0.0.0:4317 } }
processors:
  resource: { attributes: [{ key: kiosk, value: ${host}, action: upsert }] }
exporters:
  otlphttp/old: { endpoint: https://old-backend.example.com:4318 }
extensions:
  health_check: { endpoint: 127.0.0.1:${port} }
service:
  extensions: [health_check]
  pipelines:
    traces: { receivers: [otlp], processors: [resource], exporters: [otlphttp/old] }
    logs: { receivers: [otlp], processors: [resource], exporters: [otlphttp/old] }
${more}`
/** What it is to run: without logs, and to another place. */
const AFTER = `receivers:
  otlp:
    protocols: { grpc: { endpoint: 0.0.0.0:4317 } }
exporters:
  otlphttp/new: { endpoint: https://new-backend.example.com:4318 }
service:
  pipelines:
    traces: { receivers: [otlp], exporters: [otlphttp/new] }
`

async function connect(host: string, runs: string | null) {
  const agent = fakeAgent(scene.ctx.fleet, { host })
  if (runs !== null) agent.effective(runs)
  await scene.ctx.advance(1_000)
  return agent
}
const groupsOf = async (id: string) => (await scene.call('GET', `/${id}/groups`)).json as CampaignGroup[]
const takeOver = () => scene.planned({ change: { kind: 'text', yaml: AFTER, takeover: true } })
const hashOf = async (id: string) => (await scene.record(id)).plan_hash

beforeAll(async () => {
  scene = await CampaignScene.open(database, 0)
})
afterAll(() => scene.ctx.close())

it('a take-over is compared with what the hosts report, and says what they lose', async () => {
  for (const [at, host] of ['vm-1', 'vm-2', 'vm-3'].entries()) await connect(host, before(host, 20_000 + at))
  const [group, ...others] = await groupsOf(await takeOver())
  // Their own names and ports make them no different.
  expect(others).toEqual([])
  expect(group).toMatchObject({ count: 3, compared_with: 'reported', risk: 'high' })
  const lines = group!.diff.split('\n')
  expect(lines.find((line) => line.startsWith('-') && line.includes('old-backend.example.com'))).toBeDefined()
  expect(lines.find((line) => line.startsWith('-') && line.includes('logs:'))).toBeDefined()
  // What stays as it is is no change, in whatever order the report has it.
  expect(lines.filter((line) => /^[-+]/.test(line)).join('\n')).not.toContain('4317')
  expect(group!.risks.map(({ title }) => title)).toEqual(
    expect.arrayContaining(['Pipeline logs removed', 'Exporter removed', 'New destination']),
  )
  expect(group!.risks.map(({ rule }) => rule)).toContain('takes_over')
})

it('hosts that report otherwise are a group of their own, and of one that reports nothing it is said', async () => {
  const other = before('vm-4', 20_004).replace('old-backend', 'older-backend')
  const agent = await connect('vm-4', other)
  const silent = await connect('vm-5', null)
  const groups = await groupsOf(await takeOver())
  expect(groups).toMatchObject([
    { count: 1, compared_with: expect.any(String) },
    { count: 1, compared_with: expect.any(String) },
    { count: 3, compared_with: 'reported' },
  ])
  const of = (id: string) => groups.find((one) => one.sample_workload_id === id)!
  expect(of(agent.workloadId).diff).toContain('older-backend.example.com')
  expect(of(silent.workloadId)).toMatchObject({ compared_with: 'nothing' })
  const printed: string[] = []
  printGroups({ out: (line: string) => printed.push(line) } as never, groups)
  expect(printed.filter((line) => line.includes('compared with what the instances report'))).toHaveLength(2)
  expect(printed.filter((line) => line.includes('compared with nothing'))).toHaveLength(1)
})

it('the hash of a plan covers what it compares with: not how that is written, nor what is reported later', async () => {
  const agent = await connect('vm-6', before('vm-6', 20_006))
  const id = await takeOver()
  const first = await hashOf(id)
  const replanned = async () => {
    expect((await scene.call('POST', `/${id}/plan`)).status).toBe(202)
    while (scene.ctx.campaigns.planner.progress(id) !== null)
      await new Promise((resolve) => setTimeout(resolve, 5))
    return hashOf(id)
  }
  agent.effective(`# The same, written otherwise.\n${before('vm-6', 20_006)}`)
  await scene.ctx.advance(1_000)
  expect(await replanned()).toBe(first)
  agent.effective(before('vm-6', 20_006, '    metrics: { receivers: [otlp], exporters: [otlphttp/old] }\n'))
  await scene.ctx.advance(1_000)
  // The plan that was made says what it said, until it is made anew.
  expect((await groupsOf(id)).some(({ diff }) => diff.includes('metrics'))).toBe(false)
  expect(await hashOf(id)).toBe(first)
  expect(await replanned()).not.toBe(first)
  expect((await groupsOf(id)).some(({ diff }) => diff.includes('metrics'))).toBe(true)
})

it('a version that is to apply by itself shows what hosts lose that nothing was pushed to', async () => {
  const hosts = await AutoApplyScene.open(database)
  try {
    await hosts.carry(1)
    for (const host of ['vm-8', 'vm-9']) hosts.connect(host).effective(before(host, 20_008))
    await hosts.ctx.advance(1_000)
    expect((await hosts.request(1)).status).toBe(201)
    const groups = (await hosts.on('GET', '/groups')).json as CampaignGroup[]
    const coming = groups.find(({ compared_with: to }) => to === 'reported')
    expect(coming).toMatchObject({ count: 2 })
    expect(coming!.diff).toContain('old-backend.example.com')
    expect(coming!.risks.map(({ title }) => title)).toContain('Pipeline logs removed')
  } finally {
    await hosts.ctx.close()
  }
})

it('what was taken over cannot be taken back, and its record says so before somebody tries', async () => {
  const agent = await connect('vm-back', before('vm-back', 21_000))
  const selector = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-back'] }] }
  const id = await scene.start({ change: { kind: 'text', yaml: AFTER, takeover: true }, scope: { selector } })
  await scene.work(300, 2)
  agent.apply()
  await scene.work(2_000, 3)
  expect(await scene.record(id)).toMatchObject({
    status: 'done',
    counts: { applied: 1 },
    way_back: { goes_back: 0, no_way_back: 1, moved_on: 0 },
  })
  const refused = await scene.call('POST', `/${id}/roll-back`, { comment: 'no' })
  expect(refused).toMatchObject({ status: 409, json: { code: 'campaign_no_way_back' } })
  expect(await scene.record(id)).toMatchObject({ status: 'done' })
})

it('a first config that failed is no way back: the plan counts it so, and so does whoever takes the campaign back', async () => {
  const selector = { match_expressions: [{ key: 'identity/host.name', operator: 'In', values: ['vm-dead'] }] }
  const agent = await connect('vm-dead', null)
  await pushConfig(scene.ctx.fleet, agent.workloadId, configYaml(1))
  agent.fail('port 4317 is in use')
  await scene.ctx.advance(1_000)
  const id = await scene.start({ scope: { selector } })
  expect(await scene.record(id)).toMatchObject({ plan: { target_count: 1, no_way_back_count: 1 } })
  await scene.work(300, 2)
  agent.apply()
  await scene.work(2_000, 3)
  expect(await scene.record(id)).toMatchObject({
    status: 'done',
    way_back: { goes_back: 0, no_way_back: 1 },
  })
})

it('what the hosts lose is shown to whoever approves days later, the hosts being away', async () => {
  const agent = await connect('vm-7', before('vm-7', 20_007).replace('old-backend', 'oldest-backend'))
  const id = await takeOver()
  agent.lose()
  await scene.ctx.advance(130_000)
  scene.ctx.clock.advance(2 * 86_400_000)
  const { db, clock, log, fleet } = scene.ctx
  const days = { retentionDays: 30, archiveDays: 90, eventRetentionDays: 30, alertRetentionDays: 60 }
  await sweep({ db, clock, log, fleet, ...days, workloadsMax: 1_000 }, new AbortController().signal)
  const as = await signIn(scene.ctx, { groups: ['editor'] })
  const groups = (await scene.call('GET', `/${id}/groups`, undefined, as)).json as CampaignGroup[]
  expect(groups.find((one) => one.sample_workload_id === agent.workloadId)).toMatchObject({
    compared_with: 'reported',
    diff: expect.stringContaining('oldest-backend.example.com'),
  })
})
