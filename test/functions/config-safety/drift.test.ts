import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import engine from '../../../functions/alerts/engine.ts'
import { driftsNow } from '../../../lib/model/drift-counts.ts'
import { AGENT_CAPABILITIES } from '../../../lib/opamp/report.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let viewer: string

beforeEach(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  viewer = (await signIn(ctx, { groups: ['viewer'] })).token
})
afterEach(async () => {
  await ctx.close()
  await database.pool.execute('delete from workloads')
})

const CONFIG = 'receivers:\n  otlp:\n    password: s3cret\n'
const COMPONENTS = { receivers: ['otlp'], processors: ['batch'], exporters: ['debug'] }
const overview = async () => {
  const answer = await invoke(ctx, 'GET /api/config-safety/drift', { as: viewer })
  expect(answer.status).toBe(200)
  return answer.json as DriftOverview
}

describe('GET /api/config-safety/drift', () => {
  it('is empty without collectors', async () => {
    fakeAgent(ctx.fleet, { attributes: { 'telemetry.sdk.language': 'java', 'os.description': 'linux' } })
    await ctx.advance(1_000)
    expect(await overview()).toMatchObject({
      generated_at: ctx.clock.now().toISOString(),
      summary: { total_collectors: 0, drifted_collectors: 0 },
      items: [],
    })
  })

  it('follows a push from missing over drift to in sync, and shows no secret of it', async () => {
    const agent = fakeAgent(ctx.fleet, { components: COMPONENTS, attributes: { env: 'prod' } })
    await ctx.advance(1_000)
    const push = await pushConfig(ctx.fleet, agent.workloadId, CONFIG)
    expect((await overview()).items).toMatchObject([
      { workload_id: agent.workloadId, env: 'prod', drift_status: 'missing_effective_config' },
    ])
    await ctx.advance(181_000)
    await engine.run(ctx, new AbortController().signal)
    const late = (await overview()).items[0]!
    expect(late).toMatchObject({
      expected_config_hash: push.hash,
      has_config_drift_alert: true,
      drift_reasons: ['missing_effective_config', 'drifted', 'config_drift_alert'],
      last_push: { push_id: push.pushId, status: 'pending' },
      last_push_age_seconds: 181,
    })
    expect(Object.keys(late.last_push!)).not.toContain('pushed_by')
    agent.apply()
    await ctx.advance(1_000)
    const { items, summary } = await overview()
    expect(items[0]).toMatchObject({ drift_status: 'in_sync', effective_config_hash: push.hash })
    // The alert is open until it is looked at again.
    expect(summary).toMatchObject({ total_collectors: 1, drifted_collectors: 1 })
    expect(JSON.stringify(items)).not.toContain('s3cret')
  })

  const EFFECTIVE =
    'receivers:\n  otlp:\nexporters:\n  debug:\nservice:\n  pipelines:\n    traces:\n      receivers: [otlp]\n      exporters: [debug]\n'
  /** What the drift page, the fleet's list and the alerts say of one workload. */
  async function said(workloadId: string) {
    await engine.run(ctx, new AbortController().signal)
    const { items, summary } = await overview()
    const { json } = await invoke(ctx, `GET /api/workloads/${workloadId}`, { as: viewer })
    const item = items.find((one) => one.workload_id === workloadId)!
    return {
      page: (item.drift_reasons ?? []).includes('drifted'),
      status: item.drift_status,
      collectors: summary.drifted_collectors,
      drifting: items.filter(driftsNow).length,
      count: (json as WorkloadRecord).drifted_instance_count,
      alert: item.has_config_drift_alert,
    }
  }
  const NONE = { page: false, collectors: 0, drifting: 0, count: 0, alert: false }

  it('takes the normal form of what an agent reports to run for no other config than the pushed one', async () => {
    const { acceptsRemoteConfig, reportsEffectiveConfig } = AGENT_CAPABILITIES
    const agent = fakeAgent(ctx.fleet, {
      components: COMPONENTS,
      capabilities: acceptsRemoteConfig | reportsEffectiveConfig,
    })
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, agent.workloadId, EFFECTIVE)
    agent.effective(`# as the collector resolved it\n${EFFECTIVE}`)
    await ctx.advance(400_000)
    expect(await said(agent.workloadId)).toEqual({ ...NONE, status: 'in_sync' })
  })

  it('does not count an instance that lacks a component of the config, and is not to run it', async () => {
    const [agent, old] = [COMPONENTS, { ...COMPONENTS, exporters: ['otlp'] }].map((components, at) =>
      fakeAgent(ctx.fleet, { host: 'vm', pod: `pod-${at}`, components }),
    )
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, agent!.workloadId, EFFECTIVE)
    agent!.apply()
    old!.effective('receivers: {}\n')
    await ctx.advance(400_000)
    expect(await said(agent!.workloadId)).toEqual({ ...NONE, status: 'in_sync' })
  })

  it('finds on the page what the list counts and the alert tells', async () => {
    const [agent, other] = ['pod-a', 'pod-b'].map((pod) =>
      fakeAgent(ctx.fleet, { host: 'vm', pod, components: COMPONENTS }),
    )
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, agent!.workloadId, EFFECTIVE)
    agent!.apply()
    other!.apply()
    await ctx.advance(1_000)
    other!.apply('ab'.repeat(32))
    await ctx.advance(400_000)
    expect(await said(agent!.workloadId)).toEqual({
      page: true,
      status: 'heterogeneous_effective_config',
      collectors: 1,
      drifting: 1,
      count: 1,
      alert: true,
    })
    // No instance is left that could drift; the alert stays until an instance is there that agrees.
    for (const one of [agent!, other!]) one.lose()
    await ctx.advance(125_000)
    expect(await said(agent!.workloadId)).toMatchObject({
      page: false,
      collectors: 1,
      drifting: 0,
      count: 0,
      alert: true,
    })
  })

  it('leaves archived collectors out, and takes the environment that operators set', async () => {
    const gone = fakeAgent(ctx.fleet, { service: 'gone' })
    const kept = fakeAgent(ctx.fleet, { service: 'kept', attributes: { env: 'agent-says' } })
    gone.lose()
    await ctx.advance(121_000)
    const as = (await signIn(ctx)).token
    await invoke(ctx, `POST /api/workloads/${gone.workloadId}/archive`, { as })
    const body = { labels: { env: 'prod' } }
    await invoke(ctx, `PUT /api/workloads/${kept.workloadId}/trusted-labels`, { as, body })
    const { items } = await overview()
    expect(items.map((item) => [item.collector, item.env])).toEqual([['kept', 'prod']])
  })
})
