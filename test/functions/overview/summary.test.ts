import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { groupAlerts } from '../../../lib/model/alert-groups.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { FleetSummary } from '../../../lib/wire/fleet-summary.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let viewer: string

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database)
  viewer = (await signIn(ctx, { groups: ['viewer'] })).token
})
afterAll(() => ctx.close())

const ask = async () => {
  const { status, json } = await invoke(ctx, 'GET /api/fleet/summary', { as: viewer })
  expect(status).toBe(200)
  return json as FleetSummary
}
const fire = (id: string, workloadId: string | null, rule: string, severity: string, minute: number) =>
  database.pool.execute(
    `insert into alerts (id, workload_id, topic, rule, severity, message, fired_at, quiet, subject, details)
     values ($1, $2, $3, $4, $5, 'said', $6, false, '', '{"name":"winter"}')`,
    [
      id.padStart(32, '0'),
      workloadId,
      workloadId === null ? id : '',
      rule,
      severity,
      new Date(Date.UTC(2026, 0, 1, 0, minute)),
    ],
  )

describe('GET /api/fleet/summary', () => {
  it('counts the fleet and names the worst', async () => {
    expect(await ask()).toMatchObject({ counts: { all: 0 }, worst: [], versions: { count: 0, first: [] } })
    const agents = ['vm-1', 'vm-2'].map((host) => fakeAgent(ctx.fleet, { service: 'edge', host }))
    fakeAgent(ctx.fleet, { service: 'calm' })
    await ctx.advance(300)
    expect(await ask()).toMatchObject({
      counts: { all: 3, connected: 3, degraded: 0, all_unhealthy: 0, disconnected: 0, leaving: 0 },
      troubled_count: 0,
      worst: [],
    })
    // What happens is counted at once, though the numbers of before were kept.
    agents[1]!.lose()
    await ctx.advance(300)
    const { worst, ...now } = await ask()
    expect(now).toMatchObject({
      counts: { all: 3, connected: 2, leaving: 1 },
      troubled_count: 1,
      loud_count: 0,
      of_config_count: 0,
    })
    expect(worst).toEqual([
      expect.objectContaining({
        id: agents[1]!.workloadId,
        display_name: 'edge',
        trouble: expect.objectContaining({ kind: 'leaving' }),
      }),
    ])
    expect(Object.keys(worst[0]!).sort()).toEqual(['display_name', 'fingerprint_keys', 'id', 'trouble'])
  })

  it('counts alerts, those whose cause has gone apart, and tells the five to look at first', async () => {
    const agents = Array.from({ length: 6 }, (_, at) => fakeAgent(ctx.fleet, { service: `edge-${at}` }))
    await ctx.advance(300)
    for (const [at, { workloadId }] of agents.entries())
      await fire(`a${at}`, workloadId, 'push_failed', 'warning', at)
    await fire('f0', null, 'campaign_halted', 'critical', 0)
    await ctx.counters.load(ctx.db)
    agents[0]!.lose()
    await ctx.advance(300)
    const { alerts } = await ask()
    // The workload of the first is in trouble still, and what the last is about is not known here.
    expect(alerts).toMatchObject({ open_count: 7, over_count: 5, critical_count: 1 })
    expect(
      alerts.pressing.map(({ alert, is_over, workload }) => [
        alert.id.slice(-2),
        is_over,
        workload?.display_name,
      ]),
    ).toEqual([
      ['f0', false, undefined],
      // What is over comes last.
      ['a0', false, 'edge-0'],
      ['a5', true, 'edge-5'],
      ['a4', true, 'edge-4'],
      ['a3', true, 'edge-3'],
    ])
  })

  it('tells alerts of one cause as one, and of what is critical production first', async () => {
    await database.pool.execute('delete from alerts')
    const agents = Array.from({ length: 7 }, (_, at) => fakeAgent(ctx.fleet, { service: `edge-${at}` }))
    await ctx.advance(300)
    const [first, ...others] = agents
    await ctx.fleet.setTrustedLabels(first!.workloadId, { env: 'production' }, null, async () => {})
    for (const [at, { workloadId }] of others.entries()) {
      await fire(`b${at}`, workloadId, 'workload_unhealthy', 'critical', 10 + at)
      await database.pool.execute(
        `update alerts set details = '{"cause":"port_in_use","cause_title":"A port is in use"}' where id = $1`,
        [`b${at}`.padStart(32, '0')],
      )
    }
    await fire('c0', first!.workloadId, 'workload_down', 'critical', 1)
    await ctx.counters.load(ctx.db)
    const { alerts } = await ask()
    expect(alerts.pressing.map(({ alert, alike }) => [alert.id.slice(-2), alike?.count])).toEqual([
      ['c0', undefined],
      ['b5', 6],
    ])
    expect(alerts.pressing[1]!.alike).toEqual({
      count: 6,
      since: '2026-01-01T00:10:00.000Z',
      workloads: ['edge-6', 'edge-5', 'edge-4'].map((name) =>
        expect.objectContaining({ display_name: name }),
      ),
    })
  })

  it('tells an outage as one, with when and where, and not all else that is open hidden by it', async () => {
    await database.pool.execute('delete from alerts')
    const environments = ['prod', 'prod', 'staging']
    const agents = Array.from({ length: 120 }, (_, at) =>
      fakeAgent(ctx.fleet, {
        service: `host-${at}`,
        attributes: { 'deployment.environment.name': environments[at % 3]! },
      }),
    )
    const [old, ...others] = agents
    await ctx.advance(300)
    old!.lose()
    await ctx.advance(3_600_000)
    for (const agent of others.slice(1)) agent.lose()
    await ctx.advance(600_000)
    await ctx.alerts.run(new AbortController().signal)
    // It is older than all that went down.
    await fire('d0', others[0]!.workloadId, 'push_failed', 'critical', 0)
    await ctx.counters.load(ctx.db)
    const { worst, alerts } = await ask()
    const outage = {
      count: 118,
      since: worst[0]!.trouble!.since,
      environments: [
        { name: 'prod', count: 78 },
        { name: 'staging', count: 40 },
      ],
      cluster: '',
    }
    expect(worst.map(({ outage }) => outage)).toEqual([outage, undefined])
    expect(worst[1]!.id).toBe(old!.workloadId)
    const told = alerts.pressing.map(({ alert: { rule }, alike }) => [rule, alike?.count, alike?.outage])
    expect(told).toContainEqual(['workload_down', 118, outage])
    expect(told).toContainEqual(['push_failed', undefined, undefined])
    expect(told).toHaveLength(3)

    // The page of all alerts says the same by what each alert says of its workload.
    const { json } = await invoke(ctx, 'GET /api/alerts', { as: viewer })
    const { groups, others: alone } = groupAlerts(json as AlertRecord[])
    expect(groups.map(({ common }) => common)).toEqual([{ kind: 'outage', outage }])
    expect(alone.map(({ about }) => about?.name).sort()).toEqual(['host-0', 'host-1'])
  })
})
