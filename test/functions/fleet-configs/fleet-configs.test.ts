import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  FleetConfigRecord,
  FleetConfigVersion,
  FleetConfigWorkload,
  FleetStanding,
} from '../../../lib/wire/fleet-configs.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let as: string

beforeEach(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  as = (await signIn(ctx)).token
})
afterEach(async () => {
  await ctx.close()
  for (const table of ['workloads', 'fleet_configs']) await database.pool.execute(`delete from ${table}`)
})

const call = (route: string, body?: unknown) =>
  invoke(ctx, route, { as, ...(body === undefined ? {} : { body }) })

const ON_EDGE = { match_labels: { 'muster/tier': 'edge' } }

async function host(name: string, labels: Record<string, string> = {}): Promise<string> {
  const agent = fakeAgent(ctx.fleet, { service: 'otelcol', attributes: { 'host.name': name } })
  await ctx.advance(1_000)
  if (Object.keys(labels).length > 0)
    await invoke(ctx, `PUT /api/workloads/${agent.workloadId}/trusted-labels`, { as, body: { labels } })
  return agent.workloadId!
}

async function create(body: object): Promise<FleetConfigRecord> {
  const answer = await call('POST /api/fleet-configs', body)
  expect(answer.status, JSON.stringify(answer.json)).toBe(201)
  return answer.json as FleetConfigRecord
}

const TEXT = `receivers: {otlp: {protocols: {grpc: {endpoint: "0.0.0.0:4317"}}}}
exporters:
  otlp:
    endpoint: \${muster:region}.core:\${muster:port}
    headers: {x-site: "\${muster:site}"}
service: {pipelines: {traces: {receivers: [otlp], exporters: [otlp]}}}
`
const VERSION = {
  content: TEXT,
  comment: 'First',
  variables: [
    { name: 'region', pattern: '[a-z]+' },
    { name: 'port', type: 'integer', default: '4317' },
    { name: 'site', label: 'identity/host.name' },
  ],
  table: { label: 'muster/site', rows: { paris: { region: 'eu' }, tokyo: { region: 'ap', port: '9' } } },
}

describe('fleet configs', () => {
  it('are created, read, listed by name, changed and removed, and each step is audited', async () => {
    const edge = await create({ name: 'Edge', description: 'Hosts', selector: ON_EDGE, priority: 5 })
    await create({ name: 'Core', selector: { match_labels: { 'muster/tier': 'core' } } })
    expect(edge).toMatchObject({ name: 'Edge', newest_version: 0, workload_count: 0, priority: 5 })
    const list = (await call('GET /api/fleet-configs')).json as FleetConfigRecord[]
    expect(list.map(({ name }) => name)).toEqual(['Core', 'Edge'])
    const paged = await call('GET /api/fleet-configs?limit=1')
    expect((paged.json as FleetConfigRecord[]).map(({ name }) => name)).toEqual(['Core'])
    const next = /cursor=([^&>]+)/.exec(String(paged.headers['Link'] ?? paged.headers['link']))![1]
    const rest = await call(`GET /api/fleet-configs?limit=1&cursor=${next}`)
    expect((rest.json as FleetConfigRecord[]).map(({ name }) => name)).toEqual(['Edge'])
    const changed = await call(`PUT /api/fleet-configs/${edge.id}`, { name: 'Rim', selector: ON_EDGE })
    expect(changed).toMatchObject({ status: 200, json: { name: 'Rim', priority: 0 } })
    expect(
      await call(`PUT /api/fleet-configs/${edge.id}`, { name: 'Core', selector: ON_EDGE }),
    ).toMatchObject({
      status: 409,
      json: { code: 'fleet_config_taken' },
    })
    expect(await call(`DELETE /api/fleet-configs/${edge.id}`)).toMatchObject({ status: 204 })
    expect(await call(`GET /api/fleet-configs/${edge.id}`)).toMatchObject({ status: 404 })
    const actions = await database.pool.query<{ action: string }>(
      `select action from audit_events where action like 'fleet_config.%' order by seq`,
    )
    expect(actions.map(({ action }) => action)).toEqual([
      'fleet_config.create',
      'fleet_config.create',
      'fleet_config.update',
      'fleet_config.delete',
    ])
  })

  it.each([
    [{ name: '', selector: ON_EDGE }, 'name_required'],
    [{ name: 'a' }, 'selector_empty'],
    [{ name: 'a', selector: { match_labels: { env: 'x' } } }, 'selector_key_reported'],
    [{ name: 'a', selector: { types: ['collector'] } }, 'selector_reads_reports'],
    [{ name: 'a', selector: ON_EDGE, priority: 1e9 }, 'priority_invalid'],
  ])('%j is refused: %s', async (body, code) => {
    expect(await call('POST /api/fleet-configs', body)).toMatchObject({ status: 400, json: { code } })
  })

  it('are so many and no more', async () => {
    await database.pool.execute(
      `insert into fleet_configs (id, name, description, selector, priority, newest_version, created_by, created_at, updated_at)
       select gen_random_uuid(), 'c' || n, '', '{"match_labels": {"muster/n": "x"}}', 0, 0, 'a', now(), now()
       from generate_series(1, 500) n`,
    )
    await ctx.fleetConfigs.load()
    expect(await call('POST /api/fleet-configs', { name: 'more', selector: ON_EDGE })).toMatchObject({
      status: 409,
      json: { code: 'fleet_configs_too_many', max: 500 },
    })
  })

  it('are for those who may create configs, in an edition that has them', async () => {
    const viewer = (await signIn(ctx, { groups: ['viewer'] })).token
    expect(await invoke(ctx, 'POST /api/fleet-configs', { as: viewer, body: {} })).toMatchObject({
      status: 403,
    })
    expect(await invoke(ctx, 'GET /api/fleet-configs', { as: viewer })).toMatchObject({ status: 200 })
  })
})

describe('versions', () => {
  it('are numbered, never change, and are compared', async () => {
    const { id } = await create({ name: 'Edge', selector: ON_EDGE })
    const first = await call(`POST /api/fleet-configs/${id}/versions`, VERSION)
    expect(first).toMatchObject({ status: 201, json: { number: 1, comment: 'First', table: VERSION.table } })
    const content = TEXT.replace('0.0.0.0', '127.0.0.1')
    await call(`POST /api/fleet-configs/${id}/versions`, { ...VERSION, content, comment: 'Second' })
    const list = (await call(`GET /api/fleet-configs/${id}/versions`)).json as FleetConfigVersion[]
    expect(list.map(({ number, comment }) => [number, comment])).toEqual([
      [2, 'Second'],
      [1, 'First'],
    ])
    // Each may hold a mebibyte of any of them.
    for (const field of ['content', 'variables', 'table']) expect(list[0]).not.toHaveProperty(field)
    expect(await call(`GET /api/fleet-configs/${id}/versions/1`)).toMatchObject({ json: { content: TEXT } })
    const compared = await call(`GET /api/fleet-configs/${id}/versions/2/compare?with=1`)
    expect((compared.json as { diff: string }).diff).toContain(
      '+receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1',
    )
    await expect(
      database.pool.execute(`update fleet_config_versions set body = 'x' where number = 1`),
    ).rejects.toThrow('never changes')
    for (const number of ['3', '0', 'x'])
      expect(await call(`GET /api/fleet-configs/${id}/versions/${number}`)).toMatchObject({ status: 404 })
  })

  it.each<[object, string, string]>([
    [{ content: 'a: ${muster:nothing}' }, 'version_text_invalid', 'variable "nothing" is not declared'],
    [{ content: '${muster:port}: a' }, 'version_text_invalid', 'a variable cannot stand in a key'],
    [{ content: '' }, 'version_text_invalid', 'configuration is empty'],
    [
      { variables: [{ name: 'a', label: 'env' }] },
      'version_variables_invalid',
      'variable "a" takes what agents report, so it needs a pattern',
    ],
    [
      { table: { label: 'env', rows: {} } },
      'version_variables_invalid',
      'the table of values needs a label that operators set, such as muster/site',
    ],
    [
      { table: { label: 'muster/site', rows: { a: { port: 'x' } } } },
      'version_variables_invalid',
      'the table of values: variable "port" must be a whole number, such as 4317',
    ],
    [
      { table: { label: 'muster/site', rows: { a: { other: 'x' } } } },
      'version_variables_invalid',
      'the table of values names "other", which is not declared',
    ],
  ])('%j is refused', async (more, code, reason) => {
    const { id } = await create({ name: 'Edge', selector: ON_EDGE })
    expect(await call(`POST /api/fleet-configs/${id}/versions`, { ...VERSION, ...more })).toMatchObject({
      status: 400,
      json: { code, reason },
    })
    expect(await call(`GET /api/fleet-configs/${id}`)).toMatchObject({ json: { newest_version: 0 } })
  })

  it('are rendered for a workload from its own values, the table, its labels and the defaults', async () => {
    const { id } = await create({ name: 'Edge', selector: ON_EDGE })
    await call(`POST /api/fleet-configs/${id}/versions`, VERSION)
    const workload = await host('web-1', { tier: 'edge', site: 'paris' })
    const render = async () => {
      const answer = await call(`GET /api/fleet-configs/${id}/versions/1/render?workload_id=${workload}`)
      return answer.json as { content?: string; values?: object; reason?: string; variable?: string }
    }
    expect((await render()).content).toContain('endpoint: eu.core:4317')
    expect((await render()).content).toContain('x-site: "web-1"')
    const body = { values: { region: 'us', port: '1' } }
    expect(await call(`PUT /api/workloads/${workload}/variables`, body)).toMatchObject({ status: 200 })
    const [audited] = await database.pool.query<{ detail: string }>(
      `select detail from audit_events where action = 'workload.variables' order by seq desc limit 1`,
    )
    // A value may be delicate, and the trail is for ever.
    expect(JSON.parse(audited!.detail)).toEqual({ names: ['port', 'region'] })
    expect((await render()).content).toContain('endpoint: us.core:1')
    expect((await render()).values).toEqual({ region: 'us', port: '1', site: 'web-1' })
    await call(`PUT /api/workloads/${workload}/variables`, { values: {} })
    await invoke(ctx, `PUT /api/workloads/${workload}/trusted-labels`, {
      as,
      body: { labels: { tier: 'edge' } },
    })
    expect(await render()).toMatchObject({ variable: 'region', reason: 'variable "region" has no value' })
  })

  it('take no secret from a workload', async () => {
    const workload = await host('web-1')
    const values = { region: 'Bearer abcdef12345' }
    const answer = await call(`PUT /api/workloads/${workload}/variables`, { values })
    expect(answer).toMatchObject({ status: 400, json: { code: 'variables_invalid' } })
    expect(JSON.stringify(answer.json)).not.toContain('abcdef12345')
    expect(JSON.stringify(answer.json)).toContain('${env:NAME}')
  })
})

describe('a workload', () => {
  const standing = async (workload: string) =>
    (await call(`GET /api/workloads/${workload}/fleet-config`)).json as FleetStanding

  it('is under the config with the highest priority', async () => {
    const workload = await host('web-1', { tier: 'edge' })
    const low = await create({ name: 'Low', selector: ON_EDGE })
    expect(await standing(workload)).toMatchObject({ fleet_config: { id: low.id } })
    const high = await create({
      name: 'High',
      priority: 1,
      selector: { match_labels: { 'identity/host.name': 'web-*' } },
    })
    expect(await standing(workload)).toMatchObject({ fleet_config: { id: high.id }, rivals: [] })
    // Whoever made the other one learns where its workloads are.
    expect(await call(`GET /api/fleet-configs/${low.id}`)).toMatchObject({
      json: {
        workload_count: 0,
        kept_by: [{ id: high.id, name: 'High', priority: 1, workload_count: 1, in_git_count: 0 }],
      },
    })
    expect(high).not.toHaveProperty('kept_by')
    expect(await call(`DELETE /api/fleet-configs/${high.id}`)).toMatchObject({
      status: 409,
      json: { code: 'fleet_config_in_use', count: 1 },
    })
  })

  it('stays where it was on a tie, also after a restart', async () => {
    const workload = await host('web-1', { tier: 'edge', site: 'x' })
    const ours = await create({ name: 'Ours', selector: { match_labels: { 'muster/site': 'x' } } })
    // After a restart the older fleet config would win the tie if the stored membership did not: make ours the younger
    // one.
    await database.pool.execute(`update fleet_configs set created_at = created_at + interval '1 day'`)
    const rival = await create({ name: 'Rival', selector: ON_EDGE })
    await ctx.fleetConfigs.load()
    expect(await standing(workload)).toMatchObject({ fleet_config: { id: ours.id }, rivals: ['Rival'] })
    expect(await call(`GET /api/fleet-configs/${ours.id}`)).toMatchObject({
      json: { workload_count: 1, conflict_count: 1 },
    })
    const only = await call(`GET /api/fleet-configs/${ours.id}/workloads?only=conflict`)
    expect(only.json).toMatchObject([{ workload_id: workload, rivals: ['Rival'] }])
    expect((await call(`GET /api/fleet-configs/${rival.id}/workloads`)).json).toEqual([])
    expect(await call(`GET /api/fleet-configs/${rival.id}`)).toMatchObject({
      json: {
        workload_count: 0,
        conflict_count: 0,
        kept_by: [{ id: ours.id, name: 'Ours', priority: 0, workload_count: 1, in_git_count: 0 }],
      },
    })
  })

  it('is held and released, and a hold that nobody ends is overdue', async () => {
    const workload = await host('web-1', { tier: 'edge' })
    const { id } = await create({ name: 'Edge', selector: ON_EDGE })
    const held = await call(`POST /api/workloads/${workload}/hold`, {
      reason: 'Being looked at',
      until: new Date(ctx.clock.now().getTime() + 3_600_000).toISOString(),
    })
    expect(held).toMatchObject({ status: 200, json: { reason: 'Being looked at', overdue: false } })
    expect(await call(`GET /api/fleet-configs/${id}`)).toMatchObject({ json: { held_count: 1 } })
    ctx.clock.advance(2 * 3_600_000)
    const list = (await call(`GET /api/fleet-configs/${id}/workloads?only=held`))
      .json as FleetConfigWorkload[]
    expect(list[0]!.hold).toMatchObject({ overdue: true })
    expect(await call(`POST /api/workloads/${workload}/release`)).toMatchObject({ status: 204 })
    expect(await call(`POST /api/workloads/${workload}/release`)).toMatchObject({ status: 204 })
    expect(await standing(workload)).not.toHaveProperty('hold')
    for (const body of [
      { reason: '' },
      { reason: 'x', until: 'soon' },
      { reason: 'x', until: '2020-01-01T00:00:00Z' },
    ])
      expect(await call(`POST /api/workloads/${workload}/hold`, body)).toMatchObject({ status: 400 })
  })
})
