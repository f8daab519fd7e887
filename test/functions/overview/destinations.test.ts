import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { MASK } from '../../../lib/configs/redact/redact.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext

beforeEach(async () => {
  await ctx?.close()
  await database.pool.execute('delete from workloads')
  ctx = await createFleetContext(database)
})
afterAll(() => ctx.close())

const exporting = (port: number, exporter: string, settings: string) =>
  configYaml(port)
    .replace('  debug:', `  ${exporter}:\n    ${settings}\n  debug:`)
    .replace('[debug]', `[debug, ${exporter}]`)

describe('GET /api/fleet/destinations', () => {
  it('tells of a destination that is named like a workload here which one that likely is', async () => {
    const within = (cluster: string, namespace: string, name: string) =>
      fakeAgent(ctx.fleet, {
        service: name,
        attributes: {
          'k8s.cluster.name': cluster,
          'k8s.namespace.name': namespace,
          'k8s.deployment.name': name,
        },
      }).workloadId
    const gateway = within('eu', 'obs', 'gateway')
    const node = within('eu', 'obs', 'node')
    const far = within('us', 'obs', 'node')
    await ctx.advance(300)
    const editor = await signIn(ctx, { groups: ['editor'] })
    const told = async (address: string, ...senders: string[]) => {
      for (const id of senders) await pushConfig(ctx.fleet, id, exporting(1, 'otlp', `endpoint: ${address}`))
      const { json } = await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token })
      return (json as ExportDestination[]).find((one) => one.address === address)?.likely?.id
    }
    await pushConfig(ctx.fleet, gateway, exporting(1, 'kafka', 'topic: spans'))
    expect(await told('gateway.obs:4317', node)).toBe(gateway)
    expect(await told('gateway.obs.svc.cluster.local:4317', node)).toBe(gateway)
    // Another namespace, another host, and one of another cluster are others.
    expect(await told('gateway.shop:4317', node)).toBeUndefined()
    expect(await told('gateway.obs.example.com:4317', node)).toBeUndefined()
    expect(await told('gateway.obs:4318', far)).toBeUndefined()
    // Where it may be either of two it is said of none.
    const other = within('us', 'obs', 'gateway')
    await ctx.advance(300)
    await pushConfig(ctx.fleet, other, exporting(1, 'kafka', 'topic: spans'))
    expect(await told('gateway.obs:4319', node)).toBe(gateway)
    expect(await told('gateway.obs:4320', node, far)).toBeUndefined()
  })

  it('tells who exports where, of all configs together, without credentials', async () => {
    // Two hosts of one name are told apart by their hosts.
    const agents = ['vm-1', 'vm-2', 'vm-3'].map((host) => fakeAgent(ctx.fleet, { service: 'edge', host }))
    await ctx.advance(300)
    const [first, second, third] = agents.map(({ workloadId }) => workloadId)
    const eu = 'endpoint: https://user:geheim@otel.example.com:4318'
    await pushConfig(ctx.fleet, first!, exporting(1, 'otlphttp/eu', eu))
    await pushConfig(ctx.fleet, second!, exporting(2, 'otlphttp', 'endpoint: https://otel.example.com:4318/'))
    await pushConfig(ctx.fleet, third!, exporting(3, 'kafka', 'topic: spans'))
    const editor = await signIn(ctx, { groups: ['editor'] })
    const answer = await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token })
    expect(answer.status).toBe(200)
    expect(answer.text).not.toContain('geheim')
    expect(answer.json as ExportDestination[]).toEqual([
      {
        address: 'otel.example.com:4318',
        exporter: 'otlphttp',
        signals: ['traces'],
        workload_count: 2,
        instance_count: 2,
        workloads: [
          { id: first, display_name: 'edge', place: 'vm-1' },
          { id: second, display_name: 'edge', place: 'vm-2' },
        ],
      },
      {
        exporter: 'kafka',
        signals: ['traces'],
        workload_count: 1,
        instance_count: 1,
        workloads: [{ id: third, display_name: 'edge', place: 'vm-3' }],
      },
    ])
  })

  it('marks the destination that cannot be reached now, with its host, and who cannot reach it, first', async () => {
    const agents = ['vm-1', 'vm-2', 'vm-3'].map((host) => fakeAgent(ctx.fleet, { service: 'edge', host }))
    await ctx.advance(300)
    const well = exporting(1, 'otlphttp/eu', 'endpoint: https://otel.example.com:4318')
    const lost = exporting(2, 'otlphttp/us', 'endpoint: https://otel.exmaple.com:4318')
    for (const [at, { workloadId }] of agents.entries())
      await pushConfig(ctx.fleet, workloadId, at === 0 ? lost : well)
    for (const agent of agents) agent.apply()
    await ctx.advance(1_000)
    const node = (healthy: boolean, lastError: string, children: Record<string, unknown> = {}) => ({
      healthy,
      status: healthy ? 'StatusOK' : 'StatusRecoverableError',
      lastError,
      startTimeMs: 1,
      statusTimeMs: 1,
      children: new Map(Object.entries(children)),
    })
    const says = 'dial tcp: lookup otel.exmaple.com on 10.0.0.10:53: no such host'
    const parts = { 'exporter:debug': node(true, ''), 'exporter:otlphttp/us': node(false, says) }
    agents[0]!.say({ health: node(false, '', { 'pipeline:traces': node(false, '', parts) }) as never })
    await ctx.advance(5_000)
    const [viewer, editor] = [
      await signIn(ctx, { groups: ['viewer'] }),
      await signIn(ctx, { groups: ['editor'] }),
    ]
    const { json } = await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token })
    const [first, second] = json as ExportDestination[]
    expect(first).toMatchObject({
      address: 'otel.exmaple.com:4318',
      failing: {
        workload_count: 1,
        error_cause: 'connection_failed',
        error_parameters: { unknown_host: 'otel.exmaple.com' },
      },
      workloads: [{ place: 'vm-1', is_failing: true }],
    })
    expect(second).toMatchObject({ address: 'otel.example.com:4318', workload_count: 2 })
    expect(second).not.toHaveProperty('failing')
    // The workload says it as well; whoever may not read configs is told that there is a name, and not which.
    const id = agents[0]!.workloadId
    const troubleFor = async (as: string) =>
      ((await invoke(ctx, `GET /api/workloads/${id}`, { as })).json as WorkloadRecord).trouble
    expect(await troubleFor(editor.token)).toMatchObject({
      component: 'exporter:otlphttp/us',
      error_parameters: { unknown_host: 'otel.exmaple.com' },
    })
    const told = await troubleFor(viewer.token)
    expect(told).toMatchObject({ error_cause: 'connection_failed', is_abridged: true })
    expect(JSON.stringify(told)).not.toContain('exmaple')
  })

  it('marks what those instances cannot reach that run another config than the others, and nothing else', async () => {
    const agents = [1, 2].map(() => fakeAgent(ctx.fleet, { service: 'edge', host: 'vm-1' }))
    await ctx.advance(300)
    const well = exporting(1, 'otlphttp/eu', 'endpoint: https://otel.example.com:4318')
    const lost = exporting(2, 'otlphttp/eu', 'endpoint: https://otel.exmaple.com:4318')
    const { workloadId } = agents[0]!
    await pushConfig(ctx.fleet, workloadId, lost)
    for (const agent of agents) agent.apply()
    await ctx.advance(1_000)
    await pushConfig(ctx.fleet, workloadId, well)
    agents[1]!.apply()
    await ctx.advance(1_000)
    const says = 'dial tcp: lookup otel.exmaple.com on 10.0.0.10:53: no such host'
    const node = (lastError: string, children: Record<string, unknown> = {}) => ({
      healthy: false,
      status: 'StatusRecoverableError',
      lastError,
      startTimeMs: 1,
      statusTimeMs: 1,
      children: new Map(Object.entries(children)),
    })
    const pipeline = node('', { 'exporter:otlphttp/eu': node(says) })
    agents[0]!.say({ health: node('', { 'pipeline:traces': pipeline }) as never })
    await ctx.advance(5_000)
    const editor = await signIn(ctx, { groups: ['editor'] })
    const { json } = await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token })
    const [first, second] = json as ExportDestination[]
    expect(first).toMatchObject({ address: 'otel.exmaple.com:4318', failing: { workload_count: 1 } })
    expect(second).toMatchObject({ address: 'otel.example.com:4318', workload_count: 1 })
    expect(second).not.toHaveProperty('failing')
  })

  it('names namesakes in the order of their hosts', async () => {
    const hosts = ['vm-10', 'vm-2', 'vm-1', 'vm-11']
    for (const host of hosts) {
      const { workloadId } = fakeAgent(ctx.fleet, { service: 'edge', host })
      await ctx.advance(300)
      await pushConfig(
        ctx.fleet,
        workloadId,
        exporting(1, 'otlphttp', 'endpoint: https://otel.example.com:4318'),
      )
    }
    const editor = await signIn(ctx, { groups: ['editor'] })
    const { json } = await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token })
    expect((json as ExportDestination[])[0]!.workloads.map(({ place }) => place)).toEqual([
      'vm-1',
      'vm-2',
      'vm-10',
      'vm-11',
    ])
  })

  it('takes no header for an address, and shows no password before a host that is filled in at start', async () => {
    const { workloadId } = fakeAgent(ctx.fleet, { service: 'a' })
    await ctx.advance(300)
    const settings =
      "{endpoint: 'user:geheim@${env:HOST}:4317', logs_endpoint: x, headers: {server: geheim-a, url: geheim-b}}"
    const hooks = `{endpoint: 'https://hooks.example.com/services/T0', headers: {endpoint: geheim-c}}`
    const text = exporting(1, 'otlphttp', 'compression: none')
      .replace('    compression: none', `    {}\n  zipkin: ${settings}\n  splunk_hec: ${hooks}`)
      .replace('[debug, otlphttp]', '[debug, zipkin, splunk_hec]')
    await pushConfig(ctx.fleet, workloadId, text)
    const editor = await signIn(ctx, { groups: ['editor'] })
    const answer = await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token })
    expect(answer.text).not.toContain('geheim')
    const told = (answer.json as ExportDestination[]).map(({ exporter, address }) => `${exporter} ${address}`)
    const zipkin = ['zipkin x', `zipkin ${MASK}@\${env:HOST}:4317`]
    expect(told.sort()).toEqual(['splunk_hec hooks.example.com', ...zipkin])
  })

  it('counts a workload once that has several exporters of one kind to one place', async () => {
    const { workloadId } = fakeAgent(ctx.fleet, { service: 'a' })
    await ctx.advance(300)
    const settings = 'endpoint: https://otel.example.com:4318'
    const text = exporting(1, 'otlphttp/a', settings)
      .replace('  debug:', `  otlphttp/b:\n    ${settings}\n  debug:`)
      .replace('[debug, otlphttp/a]', '[debug, otlphttp/a, otlphttp/b]')
    await pushConfig(ctx.fleet, workloadId, text)
    const editor = await signIn(ctx, { groups: ['editor'] })
    const [told, ...others] = (await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token }))
      .json as ExportDestination[]
    expect(others).toEqual([])
    expect(told).toMatchObject({
      workload_count: 1,
      instance_count: 1,
      workloads: [{ id: workloadId, display_name: 'a' }],
    })
  })

  it('tells every address of an exporter that names them in a list', async () => {
    const { workloadId } = fakeAgent(ctx.fleet, { service: 'a' })
    await ctx.advance(300)
    const exporters = [
      "kafka: {brokers: ['k1.example.com:9092', 'k2.example.com:9092'], headers: {servers: geheim-a}}",
      "kafka/one: {brokers: 'k1.example.com:9092'}",
      "kafka/late: {brokers: ['${env:BROKER}']}",
      "elasticsearch: {endpoints: ['https://elastic:geheim@es.example.com:9200', 'https://es2.example.com']}",
      "clickhouse: {endpoint: 'tcp://c1.example.com:9000,c2.example.com:9000'}",
      "loadbalancing: {resolver: {static: {hostnames: ['lb1:4317', lb2]}}}",
      'loadbalancing/dns: {resolver: {dns: {hostname: gateways.example.com}}}',
      'datadog: {hostname: who-sends}',
      "otlp/comma: {endpoint: 'https://app:geheim,er@comma.example.com:4317'}",
    ]
    const ids = exporters.map((text) => text.split(':')[0])
    const text = exporting(1, 'otlphttp', 'compression: none')
      .replace('  otlphttp:\n    compression: none', exporters.map((one) => `  ${one}`).join('\n'))
      .replace('[debug, otlphttp]', `[debug, ${ids.join(', ')}]`)
    await pushConfig(ctx.fleet, workloadId, text)
    const editor = await signIn(ctx, { groups: ['editor'] })
    const answer = await invoke(ctx, 'GET /api/fleet/destinations', { as: editor.token })
    expect(answer.text).not.toContain('geheim')
    const told = (answer.json as ExportDestination[]).map(({ exporter, address }) => `${exporter} ${address}`)
    expect(told.sort()).toEqual([
      'clickhouse c1.example.com:9000',
      'clickhouse c2.example.com:9000',
      'datadog undefined',
      'elasticsearch es.example.com:9200',
      'elasticsearch es2.example.com',
      'kafka ${env:BROKER}',
      'kafka k1.example.com:9092',
      'kafka k2.example.com:9092',
      'loadbalancing gateways.example.com',
      'loadbalancing lb1:4317',
      'loadbalancing lb2',
      'otlp comma.example.com:4317',
    ])
  })

  it('is for those who may read configs', async () => {
    const viewer = await signIn(ctx, { groups: ['viewer'] })
    expect((await invoke(ctx, 'GET /api/fleet/destinations', { as: viewer.token })).status).toBe(403)
  })
})
