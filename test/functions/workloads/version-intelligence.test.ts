import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { VersionIntelligence, VersionOverview } from '../../../lib/wire/version-intelligence.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

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

const posture = async (query = '') => {
  const answer = await invoke(ctx, `GET /api/workloads/version-intelligence${query}`, { as: viewer })
  expect(answer.status).toBe(200)
  return answer.json as VersionIntelligence
}

describe('GET /api/workloads/version-intelligence', () => {
  it('answers its whole shape for an empty fleet', async () => {
    expect(await posture('?recommended_version=%20v1.0.0%20')).toEqual({
      schema_version: 'fleet-version-intelligence.v1',
      recommended_version: 'v1.0.0',
      version_matrix: [],
      compatibility_summary: {
        total_collectors: 0,
        runnable_count: 0,
        not_runnable_count: 0,
        not_runnable_collectors: [],
      },
      compatibility_matrix: [],
      collectors_below_recommended: [],
      unsupported_config_components: [],
      invalid_versions: [],
      recommendations: [],
    })
  })

  it('compares every collector with the recommendation, and its components with its config', async () => {
    const full = { receivers: ['otlp'], exporters: ['debug'] }
    const old = fakeAgent(ctx.fleet, { service: 'old', version: '0.79.0', components: full })
    const fresh = fakeAgent(ctx.fleet, { service: 'fresh', version: '0.149.0', components: full })
    await ctx.advance(1_000)
    const push = await pushConfig(ctx.fleet, fresh.workloadId, configYaml())
    fresh.apply()
    fresh.say({
      components: {
        hash: 'less',
        components: new Map([
          ['receivers', ['otlp']],
          ['exporters', []],
        ]),
      },
    })
    await ctx.advance(1_000)
    const report = await posture('?recommended_version=0.149.0')
    expect(report.collectors_below_recommended.map((one) => one.workload_id)).toEqual([old.workloadId])
    const rowOf = (id: string) => report.compatibility_matrix.find((row) => row.workload_id === id)!
    expect(rowOf(old.workloadId)).toMatchObject({ config: { source: 'none' }, runnable: false })
    expect(rowOf(old.workloadId).blocking_reasons.map((one) => one.code)).toEqual(['known_issue'])
    expect(rowOf(fresh.workloadId)).toMatchObject({
      config: { hash: push.hash, source: 'active_or_applied' },
      required_components: [
        { category: 'receivers', component_type: 'otlp', path: 'receivers.otlp' },
        { category: 'exporters', component_type: 'debug', path: 'exporters.debug' },
      ],
      opamp: { accepts_remote_config: true, remote_config_status: 'applied', config_hash: push.hash },
    })
    expect(report.unsupported_config_components).toMatchObject([
      { workload_id: fresh.workloadId, category: 'exporters', component_type: 'debug' },
    ])
    expect(report.recommendations.map((one) => one.action)).toEqual([
      'choose_older_config',
      'remove_component',
      'upgrade_collector',
    ])
  })

  it('rates each version of a collector whose instances differ', async () => {
    for (const [pod, version] of Object.entries({ a: '0.150.0', b: '0.98.0', c: '0.150.0' }))
      fakeAgent(ctx.fleet, { service: 'mixed', host: 'one', pod, version })
    await ctx.advance(1_000)
    const { compatibility_matrix: matrix, recommendations } = await posture('?recommended_version=0.149.0')
    expect(matrix.map(({ version }) => version)).toMatchObject([
      {
        reported: '0.98.0',
        status: 'below_recommended',
        mix: {
          count: 2,
          lowest: [
            { version: '0.98.0', instance_count: 1, status: 'below_recommended' },
            { version: '0.150.0', instance_count: 2, status: 'above_recommended' },
          ],
        },
      },
    ])
    // One sentence for every collector; that this is the lowest of two versions stands in `mix`.
    expect(recommendations[0]!.reason).toBe('collector version 0.98.0 is below recommended 0.149.0')
  })

  it('streams a fleet of more than one piece as one document', async () => {
    for (let i = 0; i < 450; i++) fakeAgent(ctx.fleet, { service: `s${i}` })
    await ctx.advance(1_000)
    const report = await posture()
    expect(report.compatibility_matrix).toHaveLength(450)
    expect(report.compatibility_summary.total_collectors).toBe(450)
  })
})

describe('GET /api/workloads/version-overview', () => {
  it('counts all and names the first, so that an answer about a large fleet stays a small one', async () => {
    for (let at = 0; at < 12; at++) fakeAgent(ctx.fleet, { service: `group-${at}`, version: '0.149.0' })
    await ctx.advance(1_000)
    const ask = async (show: string) => {
      const path = `GET /api/workloads/version-overview?recommended_version=0.150.0&show=${show}`
      return (await invoke(ctx, path, { as: viewer })).json as VersionOverview
    }
    const overview = await ask('can')
    expect(overview.counts.all).toBe(12)
    expect(overview.shares).toMatchObject([{ version: '0.149.0', count: 12, group_count: 12 }])
    expect(overview.shares[0]?.groups).toHaveLength(5)
    expect(overview.recommendations.count).toBe(12)
    expect(overview.rows.count).toBe(overview.counts.can)
    expect((await ask('unknown')).rows.count).toBe(overview.counts.unknown)
    expect((await ask('anything')).show).toBe('cannot')
  })
})
