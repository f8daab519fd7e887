import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import engine from '../../../functions/alerts/engine.ts'
import type { DriftOverview } from '../../../lib/wire/drift.ts'
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
      drift_reasons: ['missing_effective_config', 'config_drift_alert'],
      last_push: { push_id: push.pushId, status: 'pending' },
      last_push_age_seconds: 181,
    })
    expect(Object.keys(late.last_push!)).not.toContain('pushed_by')
    agent.apply()
    await ctx.advance(1_000)
    const { items, summary } = await overview()
    expect(items[0]).toMatchObject({ drift_status: 'in_sync', effective_config_hash: push.hash })
    expect(summary).toMatchObject({ total_collectors: 1, drifted_collectors: 1 })
    expect(JSON.stringify(items)).not.toContain('s3cret')
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
