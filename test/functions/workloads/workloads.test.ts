import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { MASK } from '../../../lib/configs/redact/redact.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import { listAuditRecords } from '../../../lib/store/audit.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { InstanceDetail, LiveInstance } from '../../../lib/wire/instances.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { createCommunityEdition } from '../../../runtime/editions.ts'
import { eventually } from '../../support/eventually.ts'
import { createFleetContext, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

const database = await useTestDatabase()
let ctx: FleetTestContext
let admin: SignedIn
let viewer: SignedIn
let closers: (() => Promise<void>)[] = []

beforeEach(async () => {
  for (const close of closers) await close()
  await database.pool.execute('delete from workloads')
  await database.pool.execute('delete from config_contents')
  ctx = await createFleetContext(database, { config: { minAgentVersion: '0.140.0' } })
  closers = [() => ctx.close()]
  admin = await signIn(ctx)
  viewer = await signIn(ctx, { groups: ['viewer'] })
})
afterAll(() => ctx.close())

const get = (path: string, as = viewer) => invoke(ctx, `GET /api/workloads${path}`, { as: as.token })
const record = async (id: string) => (await get(`/${id}`)).json as WorkloadRecord
const connect = (options: Parameters<typeof fakeAgent>[1] = {}) => fakeAgent(ctx.fleet, options)

describe('GET /api/workloads', () => {
  it('is an empty array while nothing ever connected', async () => {
    expect(await get('')).toMatchObject({ status: 200, text: '[]\n' })
  })

  it('lists by name, then id, with the numbers that filters need', async () => {
    const agent = connect({ service: 'b', version: '0.130.0' })
    connect({ service: 'a' })
    connect({ service: 'b' })
    await ctx.advance(300)
    for (const alert of ['one', 'two', 'two']) ctx.counters.alertFired(agent.workloadId, alert)
    const list = (await get('')).json as WorkloadRecord[]
    expect(list.map((workload) => workload.display_name)).toEqual(['a', 'b', 'b'])
    expect(list[1]!.id < list[2]!.id).toBe(true)
    expect(list.find(({ id }) => id === agent.workloadId)).toMatchObject({
      fingerprint_source: 'host',
      type: 'collector',
      version: '0.130.0',
      status: 'connected',
      accepts_remote_config: true,
      connected_instance_count: 1,
      drifted_instance_count: 0,
      applying_instance_count: 0,
      open_alert_count: 2,
      waiting_approval_count: 0,
      version_outdated: true,
    })
    expect(list[0]).toMatchObject({ version_outdated: false })
  })

  it('says of instances that run different versions which they are and how many have each, while they differ', async () => {
    connect({ service: 'mixed', host: 'one', pod: 'a', version: '0.150.0' })
    connect({ service: 'mixed', host: 'one', pod: 'b', version: '0.150.0' })
    const old = connect({ service: 'mixed', host: 'one', pod: 'c', version: '0.98.0' })
    await ctx.advance(300)
    const mix = {
      count: 2,
      lowest: [
        { version: '0.98.0', instance_count: 1 },
        { version: '0.150.0', instance_count: 2 },
      ],
    }
    const listed = (await get('')).json as WorkloadRecord[]
    expect(listed).toMatchObject([{ version: '0.98.0', version_mix: mix, connected_instance_count: 3 }])
    expect(await record(old.workloadId)).toMatchObject({ version_mix: mix })
    old.goodbye()
    await ctx.advance(300)
    expect(await record(old.workloadId)).toMatchObject({ version: '0.150.0' })
    expect(await record(old.workloadId)).not.toHaveProperty('version_mix')
    const frame = ctx.views.workloadFrame(ctx.fleet.workload(old.workloadId)!)
    expect(frame).toMatchObject({ workload: { version_mix: null } })
  })

  it('names the lowest ten of a hundred versions, and how many there are', async () => {
    for (let i = 0; i < 100; i++)
      connect({ service: 'many', host: 'one', pod: `p${i}`, version: `0.${(i * 37) % 100}.0` })
    await ctx.advance(300)
    const [many] = (await get('')).json as WorkloadRecord[]
    expect(many!.version_mix!.count).toBe(100)
    expect(many!.version_mix!.lowest.map(({ version }) => version)).toEqual(
      Array.from({ length: 10 }, (_, at) => `0.${at}.0`),
    )
  })

  it('pages with a cursor that leads through everything once', async () => {
    for (const service of ['c', 'a', 'b', 'a']) connect({ service })
    await ctx.advance(300)
    const seen: string[] = []
    let path = '?limit=3'
    for (let page = 0; page < 2; page++) {
      const answer = await get(path)
      seen.push(...(answer.json as WorkloadRecord[]).map((workload) => workload.display_name))
      path = /<\/api\/workloads([^>]+)>/.exec(answer.headers['Link'] ?? '')?.[1] ?? ''
    }
    expect(seen).toEqual(['a', 'a', 'b', 'c'])
    expect(path).toBe('')
    expect(await get('?limit=0')).toMatchObject({ status: 400 })
    expect(await get('?cursor=x')).toMatchObject({ status: 400 })
  })

  it('shows a change at once although records are kept', async () => {
    const agent = connect()
    await ctx.advance(300)
    expect(await record(agent.workloadId)).toMatchObject({ status: 'connected', version: '0.149.0' })
    const before = await record(agent.workloadId)
    ctx.clock.advance(5_000)
    agent.say({})
    expect((await record(agent.workloadId)).last_seen_at > before.last_seen_at).toBe(true)
    ctx.counters.addWaitingApproval(agent.workloadId, 'one')
    expect(await record(agent.workloadId)).toMatchObject({ waiting_approval_count: 1 })
  })

  it('answers 404 for an unknown workload on every sub-path', async () => {
    for (const path of [
      '',
      '/instances',
      '/instances/x',
      '/topology',
      '/events',
      '/events/stats',
      '/configs',
    ])
      expect(await get(`/none${path}`)).toMatchObject({ status: 404, json: { error: 'workload not found' } })
  })
})

describe('what is wrong with a workload, and since when', () => {
  const SICK = {
    healthy: false,
    status: 'StatusPermanentError',
    lastError: 'no route to host',
    startTimeMs: 1,
    statusTimeMs: 1,
    children: new Map(),
  }
  const trouble = async (id: string) => (await record(id)).trouble
  const frames = (id: string) =>
    ctx.frames.flatMap((frame) =>
      frame.type === 'workload_update' && frame.workload.id === id ? [frame.workload.trouble] : [],
    )

  it('is nothing, then a version, then instances, then half of them, and says the worst', async () => {
    const agents = ['a', 'b', 'c', 'd'].map((pod) => connect({ host: 'vm', pod, version: '0.149.0' }))
    const id = agents[0]!.workloadId
    await ctx.advance(300)
    expect(await trouble(id)).toBeUndefined()
    const sickAt = ctx.clock.now()
    agents[0]!.say({ health: SICK })
    await ctx.advance(3_000)
    const why = { error_cause: 'connection_failed', error_title: 'A backend cannot be reached' }
    const since = sickAt.toISOString()
    expect(await trouble(id)).toEqual({ kind: 'some_unhealthy', since, count: 1, total: 4, ...why })
    agents[1]!.say({ health: SICK })
    await ctx.advance(3_000)
    expect(await trouble(id)).toEqual({ kind: 'unhealthy', since, count: 2, total: 4, ...why })
    for (const agent of agents.slice(0, 2))
      agent.say({ health: { ...SICK, healthy: true, status: 'StatusOK' } })
    await ctx.advance(3_000)
    expect(await trouble(id)).toBeUndefined()
    expect(frames(id).at(-1)).toBeNull()
    const old = connect({ service: 'old', version: '0.130.0' })
    await ctx.advance(300)
    expect(await trouble(old.workloadId)).toEqual({ kind: 'outdated' })
  })

  it('names the part that complains, and why, and follows what it says', async () => {
    const [first, second] = ['a', 'b'].map((pod) => connect({ host: 'vm', pod, version: '0.149.0' }))
    const id = first!.workloadId
    const node = (name: string, lastError: string, children = new Map()) => ({
      ...SICK,
      status: name,
      lastError,
      children,
    })
    const sick = (exporter: string, error: string) => {
      const part = new Map([[`exporter:${exporter}`, node('StatusRecoverableError', error)]])
      return node('', error, new Map([['pipeline:traces', node('', '', part)]]))
    }
    await ctx.advance(300)
    first!.say({ health: sick('otlp/eu', 'listen tcp 0.0.0.0:4317: bind: address already in use') })
    await ctx.advance(3_000)
    // The one that has been unhealthy for longest speaks for the others.
    second!.say({ health: sick('otlp/us', 'no route to host') })
    await ctx.advance(3_000)
    expect(await trouble(id)).toMatchObject({
      kind: 'unhealthy',
      component: 'exporter:otlp/eu',
      error_cause: 'port_in_use',
      error_parameters: { port: '4317' },
    })
    first!.say({ health: sick('otlp/eu', 'no route to host') })
    await ctx.advance(3_000)
    expect(await trouble(id)).toMatchObject({
      component: 'exporter:otlp/eu',
      error_cause: 'connection_failed',
    })
    expect(frames(id).at(-1)).toMatchObject({ error_cause: 'connection_failed' })
    // What muster has no words for is not shown to everyone.
    first!.say({ health: sick('otlp/eu', 'hunter2 went wrong') })
    await ctx.advance(3_000)
    expect((await trouble(id))?.error_cause).toBeUndefined()
  })

  it('is why an unhealthy instance failed its config, in the words of its config status, which tell more', async () => {
    const agent = connect({ host: 'vm', pod: 'a', version: '0.149.0' })
    const id = agent.workloadId
    await ctx.advance(300)
    await pushConfig(ctx.fleet, id, configYaml(1))
    await ctx.advance(300)
    agent.fail('cannot start pipelines: listen tcp 0.0.0.0:4317: bind: address already in use')
    const health = {
      healthy: false,
      status: 'StatusPermanentError',
      lastError: 'Agent process PID=4 exited unexpectedly, exit code=1. Will restart in a bit...',
      startTimeMs: 1,
      statusTimeMs: 1,
      children: new Map(),
    }
    agent.say({ health })
    await ctx.advance(70_000)
    const why = { error_cause: 'port_in_use', error_parameters: { port: '4317' } }
    expect(await trouble(id)).toMatchObject({ kind: 'push_failed', unhealthy_count: 1, ...why })
    expect(await record(id)).toMatchObject({ remote_config_status: { status: 'failed', ...why } })
    await ctx.alerts.run(new AbortController().signal)
    const alerts = (await invoke(ctx, 'GET /api/alerts', { as: admin.token })).json as AlertRecord[]
    const causes = alerts.map(({ details }) => details?.['cause']).filter((cause) => cause !== undefined)
    expect(new Set(causes)).toEqual(new Set(['port_in_use']))
    // The other way round as well: health that tells more than the config status.
    agent.fail('Agent process PID=4 exited unexpectedly, exit code=1')
    agent.say({ health: { ...health, lastError: 'listen tcp 0.0.0.0:4317: bind: address already in use' } })
    await ctx.advance(1_000)
    expect(await trouble(id)).toMatchObject(why)
  })

  it('lists those that are looked at first by themselves, so that nobody waits for the rest', async () => {
    const sick = connect({ host: 'sick', pod: 'a' })
    connect({ host: 'well', pod: 'a' })
    const failed = connect({ host: 'failed', pod: 'a' })
    await ctx.advance(300)
    await pushConfig(ctx.fleet, failed.workloadId, configYaml(1))
    await ctx.advance(300)
    failed.fail('bad config')
    sick.say({ health: SICK })
    await ctx.advance(3_000)
    const list = (await invoke(ctx, 'GET /api/workloads?pressing=true', { as: admin.token })).json
    const ids = (list as WorkloadRecord[]).map(({ id }) => id)
    expect(ids.sort()).toEqual([failed.workloadId, sick.workloadId].sort())
  })

  it('tells what it is to run from what it runs, after a push that failed with nothing to go back to', async () => {
    const [first, second] = ['a', 'b'].map((pod) => connect({ host: 'vm', pod, version: '0.149.0' }))
    const id = first!.workloadId
    await ctx.advance(300)
    await pushConfig(ctx.fleet, id, configYaml(1))
    await ctx.advance(300)
    for (const agent of [first!, second!]) agent.apply()
    await ctx.advance(300)
    expect(await record(id)).not.toHaveProperty('running_configs')
    await pushConfig(ctx.fleet, id, configYaml(2))
    await ctx.advance(300)
    const others = [{ config_hash: configHash(configYaml(1)), instance_count: 2 }]
    expect(await record(id)).toMatchObject({
      active_config_hash: configHash(configYaml(2)),
      running_configs: { wanted_count: 0, instance_count: 2, unknown_count: 0, others },
    })
    first!.apply()
    await ctx.advance(300)
    expect(await record(id)).toMatchObject({
      running_configs: { wanted_count: 1, others: [{ ...others[0], instance_count: 1 }] },
    })
    second!.apply()
    await ctx.advance(300)
    expect(await record(id)).not.toHaveProperty('running_configs')

    const lone = connect({ host: 'lone', pod: 'a', version: '0.149.0' })
    await ctx.advance(300)
    await pushConfig(ctx.fleet, lone.workloadId, configYaml(3))
    await ctx.advance(300)
    lone.fail('exit code 1')
    await ctx.advance(1_000)
    expect(await record(lone.workloadId)).toMatchObject({
      active_config_hash: configHash(configYaml(3)),
      running_configs: { wanted_count: 0, instance_count: 1, unknown_count: 1, others: [] },
    })
  })

  it('is a push that failed, and stays so when it was rolled back, until another is applied', async () => {
    const agent = connect({ host: 'vm', pod: 'a', version: '0.149.0' })
    const id = agent.workloadId
    await ctx.advance(300)
    const push = async (port: number, isGood: boolean) => {
      const { pushId } = await pushConfig(ctx.fleet, id, configYaml(port))
      await ctx.advance(300)
      if (isGood) agent.apply()
      else agent.fail('exit code 1')
      await ctx.advance(1_000)
      const why = {
        error_cause: 'agent_exited',
        error_title: expect.any(String),
        error_parameters: { exit_code: '1' },
      }
      return { push_id: pushId, config_hash: configHash(configYaml(port)), since: expect.any(String), ...why }
    }
    expect(await trouble(id)).toBeUndefined()
    const first = await push(1, false)
    expect(await trouble(id)).toMatchObject({ kind: 'push_failed', ...first })
    expect(frames(id).at(-1)).toMatchObject({ kind: 'push_failed' })
    await push(2, true)
    expect(await trouble(id)).toBeUndefined()
    const second = await push(3, false)
    agent.apply()
    await ctx.advance(1_000)
    expect(await trouble(id)).toMatchObject({ kind: 'rolled_back', ...second })
    await push(4, true)
    expect(await trouble(id)).toBeUndefined()
  })

  it('is that the last instance left, before it is that nobody came back', async () => {
    const agent = connect({ version: '0.149.0' })
    const id = agent.workloadId
    await ctx.advance(300)
    const since = ctx.clock.now().toISOString()
    agent.lose()
    await ctx.advance(1_000)
    expect(await record(id)).toMatchObject({ status: 'connected', trouble: { kind: 'leaving', since } })
    expect(frames(id).at(-1)).toMatchObject({ kind: 'leaving' })
    await ctx.advance(120_000)
    expect(await trouble(id)).toMatchObject({ kind: 'disconnected', since })
  })

  it('is that the last instance left also where it was unhealthy before', async () => {
    const agent = connect({ version: '0.149.0' })
    const id = agent.workloadId
    agent.say({
      health: {
        healthy: false,
        status: 'StatusPermanentError',
        lastError: '',
        startTimeMs: 1,
        statusTimeMs: 1,
        children: new Map(),
      },
    })
    await ctx.advance(5_000)
    expect(await record(id)).toMatchObject({ status: 'degraded', trouble: { kind: 'unhealthy' } })
    agent.lose()
    await ctx.advance(1_000)
    expect(await trouble(id)).toMatchObject({ kind: 'leaving' })
  })
})

describe('what the agents say', () => {
  it('shows a failure by cause to everyone and in words only to those who may read configs', async () => {
    const agent = connect()
    await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    agent.fail('unknown type: "nope" for id: "nope" password: hunter2')
    await ctx.advance(300)
    const path = `/${agent.workloadId}/instances`
    const [forViewer] = (await get(path)).json as LiveInstance[]
    const [forAdmin] = (await get(path, admin)).json as LiveInstance[]
    expect(forViewer!.remote_config_status).toMatchObject({
      status: 'failed',
      error_cause: 'component_unknown',
    })
    expect(forViewer!.remote_config_status).not.toHaveProperty('error_message')
    expect(forAdmin!.remote_config_status!.error_message).toContain('nope')
    expect(JSON.stringify(forAdmin)).not.toContain('hunter2')
  })

  it('counts capable, applied and silent instances in the topology', async () => {
    const first = connect({ host: 'h', pod: 'pod-a' })
    const second = connect({ host: 'h', pod: 'pod-b', version: '0.148.0' })
    connect({ host: 'h', pod: 'pod-c', capabilities: 1 })
    await ctx.advance(300)
    const push = await pushConfig(ctx.fleet, first.workloadId, configYaml())
    first.apply()
    await ctx.advance(300)
    const topology = (await get(`/${first.workloadId}/topology`)).json as WorkloadTopology
    expect(topology.instances.map((instance) => instance.pod_name)).toEqual(['pod-a', 'pod-b', 'pod-c'])
    expect(topology.instances[0]).toMatchObject({
      effective_config_hash: push.hash,
      assigned_config_hash: push.hash,
      effective_matches: 'unknown',
    })
    expect(topology.summary).toEqual({
      connected_count: 3,
      healthy_count: 3,
      unhealthy_count: 0,
      drifted_count: 1,
      heterogeneous: true,
      version_diversity: ['0.148.0', '0.149.0'],
      config_hash_diversity: [push.hash],
      remote_config_status_counts: { capable: 2, no_status: 0, sent: 1, applying: 0, applied: 1, failed: 0 },
      heterogeneity: {
        mixed_versions: true,
        mixed_effective_config_hashes: false,
        unhealthy_instances: false,
        mixed_remote_config_statuses: true,
        applying_remote_config: false,
        failed_remote_config: false,
      },
      heterogeneity_reasons: ['mixed_versions', 'mixed_remote_config_statuses'],
    })
    expect(second.offered()).toEqual([push.hash])
  })

  it('compares what an instance runs with what it should, and shows the text only to readers', async () => {
    const agent = connect()
    await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    agent.apply()
    agent.effective(configYaml(9999))
    await ctx.advance(300)
    await ctx.advance(300)
    const path = `/${agent.workloadId}/instances/${agent.uid}`
    const detail = (await get(path, admin)).json as InstanceDetail
    expect(detail).toMatchObject({
      effective_matches: false,
      effective_mismatch_paths: ['receivers.otlp.protocols.grpc.endpoint'],
      transport: 'websocket',
    })
    expect(detail.effective_config).toContain('9999')
    expect(detail.capabilities).toContain('AcceptsRemoteConfig')
    const forViewer = await get(path)
    expect(forViewer.json).not.toHaveProperty('effective_config')
    expect(forViewer.text).not.toContain('9999')
    expect(await get(`/${agent.workloadId}/instances/none`)).toMatchObject({ status: 404 })
  })

  it('shows the health tree in safe words', async () => {
    const agent = connect()
    const leaf = { startTimeMs: 1_000, statusTimeMs: null, children: new Map() }
    agent.say({
      health: {
        ...leaf,
        healthy: false,
        status: 'StatusPermanentError',
        lastError: '',
        children: new Map([
          [
            'pipeline:traces',
            { ...leaf, healthy: false, status: '', lastError: 'token=abc connection refused' },
          ],
        ]),
      },
    })
    await ctx.advance(300)
    const path = `/${agent.workloadId}/instances/${agent.uid}`
    const { health } = (await get(path)).json as InstanceDetail
    expect(health).toMatchObject({
      healthy: false,
      status: 'StatusPermanentError',
      started_at: '1970-01-01T00:00:01.000Z',
      components: { 'pipeline:traces': { error_cause: 'connection_failed' } },
    })
    expect(health!.components!['pipeline:traces']).not.toHaveProperty('last_error')
    expect((await get(path, admin)).text).not.toContain('token=abc')
  })

  it('shows no secret that an agent’s host told it, in labels, attributes and frames, and the rest as it is', async () => {
    const agent = connect({
      attributes: {
        'process.command_line':
          '/otelcol --config a.yaml --password hunter2 --set=exporters.x.api_key=hunter2',
        'process.command_args': '["/otelcol","--token","hunter2","--verbose","-v"]',
        'api.key': 'hunter2',
        'service.endpoint': 'https://app:hunter2@backend:4317/v1',
        owner: 'team@example.com',
      },
    })
    await ctx.advance(1_000)
    for (const path of ['', `/${agent.workloadId}`, `/${agent.workloadId}/instances/${agent.uid}`])
      expect((await get(path)).text, path).not.toContain('hunter2')
    expect(JSON.stringify(ctx.frames)).not.toContain('hunter2')
    const { labels } = await record(agent.workloadId)
    expect(labels).toMatchObject({
      'process.command_line': `/otelcol --config a.yaml --password ${MASK} --set=exporters.x.api_key=${MASK}`,
      'process.command_args': `["/otelcol","--token","${MASK}","--verbose","-v"]`,
      'service.endpoint': 'https://backend:4317/v1',
      'os.description': 'a host with otelcol',
      owner: 'team@example.com',
    })
  })
})

describe('revisions', () => {
  it('lists them newest first without content, and shows one with content to readers only', async () => {
    const agent = connect()
    await pushConfig(ctx.fleet, agent.workloadId, configYaml(1))
    agent.apply()
    ctx.clock.advance(1_000)
    const second = await pushConfig(ctx.fleet, agent.workloadId, configYaml(2))
    agent.apply()
    await ctx.advance(300)
    const answer = await get(`/${agent.workloadId}/configs`)
    expect(answer.text).not.toContain('receivers')
    const [newest, oldest] = answer.json as RevisionRecord[]
    expect(newest).toMatchObject({
      seq: 2,
      status: 'applied',
      phase: 'applied',
      pushed_by: 'pusher@example.com',
      target_count: 1,
      applied_count: 1,
      pending_count: 0,
      is_current: true,
      is_previous: false,
    })
    expect(newest!.timeline!.map((entry) => entry.state)).toEqual(['submitted', 'sent', 'applied'])
    expect(oldest).toMatchObject({ seq: 1, is_current: false, is_previous: true, content_available: true })
    const path = `/${agent.workloadId}/configs/${second.hash}`
    expect(await get(path)).toMatchObject({ status: 403 })
    expect((await get(path, admin)).json).toMatchObject({
      content: configYaml(2),
      instance_statuses: [{ instance_uid: agent.uid, status: 'applied', required: true }],
    })
    expect(await get(`/${agent.workloadId}/configs/${'0'.repeat(64)}`, admin)).toMatchObject({ status: 404 })
    expect(await record(agent.workloadId)).toMatchObject({
      active_config_id: second.hash,
      active_config_hash: second.hash,
      current_config_push: { push_id: second.pushId, status: 'applied' },
      remote_config_status: { status: 'applied', config_hash: second.hash },
    })
  })

  it('says after 30 seconds that nothing was heard', async () => {
    const agent = connect()
    await ctx.advance(300)
    const { hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    await ctx.advance(300)
    expect(await record(agent.workloadId)).toMatchObject({
      current_config_push: { timed_out_waiting_for_opamp_status: false, no_status_count: 0 },
    })
    ctx.clock.advance(30_000)
    expect(await record(agent.workloadId)).toMatchObject({
      current_config_push: {
        status: 'pending',
        timed_out_waiting_for_opamp_status: true,
        no_status_count: 1,
        timeout_message: 'No OpAMP status after 30s',
        error_groups: [{ cause: 'apply_timeout', severity: 'high', count: 1, retryable: true }],
      },
    })
    const { json } = await get(`/${agent.workloadId}/configs/${hash}`, admin)
    expect((json as RevisionRecord).instance_statuses).toMatchObject([
      {
        instance_uid: agent.uid,
        status: 'no_status',
        timed_out: true,
        error_cause: 'apply_timeout',
        error_message: 'No OpAMP status after 30s',
      },
    ])
    // A late APPLIED takes the time-out back.
    agent.apply()
    await ctx.advance(300)
    const { current_config_push: push } = await record(agent.workloadId)
    expect(push).toMatchObject({ status: 'applied', timed_out_waiting_for_opamp_status: false })
    expect(push).not.toHaveProperty('error_groups')
  })

  it('labels a hash for all its pushes, later ones included, and clears the label again', async () => {
    const agent = connect()
    const { hash } = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    const path = `/api/workloads/${agent.workloadId}/configs/${hash}/label`
    const label = (text: unknown, as = admin) =>
      invoke(ctx, `POST ${path}`, { as: as.token, body: { label: text } })
    expect(await label('  known good ')).toMatchObject({ status: 200, json: { label: 'known good' } })
    await pushConfig(ctx.fleet, agent.workloadId, configYaml())
    const list = (await get(`/${agent.workloadId}/configs`)).json as RevisionRecord[]
    expect(list.map((revision) => revision.label)).toEqual(['known good', 'known good'])
    const [audit] = await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 1, offset: 0 })
    expect(audit).toMatchObject({ action: 'config.label', detail: 'known good', configHash: hash })
    expect(await label('é'.repeat(128))).toMatchObject({ status: 200 })
    expect(await label('é'.repeat(129))).toMatchObject({ status: 400 })
    expect(await label(7)).toMatchObject({ status: 400, json: { error: 'invalid JSON body' } })
    expect(await label('')).toMatchObject({ status: 200, json: { label: '' } })
    const [newest] = (await get(`/${agent.workloadId}/configs`)).json as RevisionRecord[]
    expect(newest).not.toHaveProperty('label')
  })

  it('tells how far a push got, and who rolled it back', async () => {
    const agents = Array.from({ length: 4 }, (_, n) => connect({ host: 'h', pod: `pod-${n}` }))
    const workloadId = agents[0]!.workloadId
    const good = await pushConfig(ctx.fleet, workloadId, configYaml(1))
    for (const [n, agent] of agents.entries()) {
      ctx.clock.advance(1_000 * (n + 1))
      agent.apply()
    }
    const path = `/${workloadId}/configs/${good.hash}/convergence`
    expect((await get(path)).json).toMatchObject({
      status: 'applied',
      target_count: 4,
      applied_count: 4,
      joiner_count: 0,
      times_ms: { p50: 3_000, p90: 10_000, p99: 10_000, p100: 10_000 },
    })
    const page = await get(`${path}?limit=3`)
    expect((page.json as { targets: unknown[] }).targets).toHaveLength(3)
    expect(page.headers['Link']).toContain('cursor=')

    const bad = await pushConfig(ctx.fleet, workloadId, configYaml(2))
    agents[0]!.apply()
    agents[1]!.fail('listen tcp 0.0.0.0:80: bind: address already in use')
    await eventually('the rollback is made', () => ctx.fleet.workload(workloadId)!.activeHash === good.hash)
    await ctx.advance(300)
    expect((await get(`/${workloadId}/configs/${bad.hash}/convergence`)).json).toMatchObject({
      status: 'failed',
      applied_count: 1,
      failed_count: 1,
      times_ms: { p50: null, p100: null },
      rolled_back_by: { config_hash: good.hash, pushed_by: 'auto-rollback' },
    })
    const [newest, failed] = (await get(`/${workloadId}/configs`)).json as RevisionRecord[]
    expect(newest).toMatchObject({ pushed_by: 'auto-rollback', failed_config_hash: bad.hash })
    expect(failed).toMatchObject({
      status: 'failed',
      is_failed_candidate: true,
      error_message: 'A port is already in use',
      error_groups: [
        { cause: 'port_in_use', severity: 'high', count: 1, affected_instances: [agents[1]!.uid] },
      ],
    })
    const named = await get(`/${workloadId}/configs/${bad.hash}/convergence?push_id=${good.pushId}`)
    expect(named).toMatchObject({ status: 404 })
  })
})

describe('events', () => {
  it('are there as soon as the workload is that they tell of', async () => {
    const agent = connect()
    expect((await get(`/${agent.workloadId}/events`)).json).toMatchObject([{ event_type: 'connected' }])
    agent.lose()
    expect((await get(`/${agent.workloadId}/events/stats`)).json).toMatchObject({ disconnected: 1 })
  })

  it('lists them newest first, 100 unless a limit from 1 to 500 is named, and pages', async () => {
    const agent = connect()
    ctx.clock.advance(1_000)
    agent.lose()
    await ctx.advance(300)
    const all = await get(`/${agent.workloadId}/events`)
    expect(all.json).toMatchObject([
      { event_type: 'disconnected', instance_uid: agent.uid },
      { event_type: 'connected', version: '0.149.0' },
    ])
    for (const limit of ['0', '501', 'x'])
      expect((await get(`/${agent.workloadId}/events?limit=${limit}`)).json).toHaveLength(2)
    const page = await get(`/${agent.workloadId}/events?limit=1`)
    const next = /<\/api\/workloads([^>]+)>/.exec(page.headers['Link']!)![1]!
    expect((await get(next)).json).toMatchObject([{ event_type: 'connected' }])
    const since = (all.json as { occurred_at: string }[])[1]!.occurred_at
    expect((await get(`/${agent.workloadId}/events?since=${since}`)).json).toHaveLength(1)
  })

  it('counts them in buckets, and refuses a window that it does not know', async () => {
    const agent = connect()
    await ctx.advance(300)
    const answer = await get(`/${agent.workloadId}/events/stats?window=1h`)
    const stats = answer.json as { buckets: { connected: number }[] }
    expect(stats).toMatchObject({
      connected: 1,
      disconnected: 0,
      version_changed: 0,
      churn_rate_per_hour: 0,
      window: '1h',
      bucket_seconds: 60,
    })
    expect(stats.buckets).toHaveLength(60)
    expect(stats.buckets.at(-1)).toMatchObject({ connected: 1 })
    expect((await get(`/${agent.workloadId}/events/stats`)).json).toMatchObject({ window: '24h' })
    expect(await get(`/${agent.workloadId}/events/stats?window=2h`)).toMatchObject({ status: 400 })
  })
})

describe('archive and delete', () => {
  it('tells browsers nothing more of a workload after its removal', async () => {
    const { workloadId } = connect()
    await ctx.advance(5_000)
    const from = ctx.frames.length
    // The first change is told at once; the second would be told a second later.
    for (const env of ['a', 'b'])
      await ctx.fleet.setTrustedLabels(workloadId, { 'muster/env': env }, null, async () => {})
    await ctx.fleet.remove(workloadId, null, async () => {})
    await ctx.advance(3_000)
    const types = ctx.frames.slice(from).map((frame) => frame.type)
    expect(types).toContain('workload_removed')
    expect(types.slice(types.indexOf('workload_removed'))).not.toContain('workload_update')
  })

  const archive = (id: string, as = admin) =>
    invoke(ctx, `POST /api/workloads/${id}/archive`, { as: as.token })
  const remove = (id: string, as = admin) => invoke(ctx, `DELETE /api/workloads/${id}`, { as: as.token })
  const audits = async () =>
    (await listAuditRecords(database.pool, {}, { beforeSeq: null, limit: 5, offset: 0 })).map((r) => r.action)

  it('archives only what is disconnected, once, and a reconnect brings it back', async () => {
    const agent = connect()
    await ctx.advance(300)
    expect(await archive(agent.workloadId)).toMatchObject({
      status: 409,
      json: { code: 'workload_not_disconnected' },
    })
    agent.lose()
    await ctx.advance(121_000)
    expect(await record(agent.workloadId)).toMatchObject({ status: 'disconnected' })
    expect(await record(agent.workloadId)).toHaveProperty('retention_until')
    const before = (await audits()).length
    expect(await archive(agent.workloadId)).toMatchObject({ status: 204 })
    expect((await get('')).json).toEqual([])
    expect((await get('?include_archived=true')).json).toHaveLength(1)
    expect(await archive(agent.workloadId)).toMatchObject({ status: 204 })
    expect((await audits()).slice(0, 2)).toEqual([
      'workload.archive',
      ...(before > 0 ? [expect.any(String)] : []),
    ])
    agent.say({
      attributes: new Map([
        ['service.name', 'edge'],
        ['host.name', (await record(agent.workloadId)).fingerprint_keys['host.name']!],
      ]),
    })
    await ctx.advance(300)
    expect(await record(agent.workloadId)).not.toHaveProperty('archived_at')
    expect((await get('')).json).toHaveLength(1)
  })

  it('removes a live workload, whose agents are asked to describe themselves again', async () => {
    const agent = connect()
    await ctx.advance(300)
    expect(await remove(agent.workloadId)).toMatchObject({ status: 204 })
    expect(agent.received.at(-1)).toHaveProperty('flags')
    expect(await get(`/${agent.workloadId}`)).toMatchObject({ status: 404 })
    expect(await remove(agent.workloadId)).toMatchObject({ status: 404 })
    expect((await audits())[0]).toBe('workload.delete')
    expect(ctx.frames.at(-1)).toEqual({
      type: 'workload_removed',
      workload_id: agent.workloadId,
      reason: 'deleted',
    })
  })

  it('tells browsers that the alerts are over although the archive of the audit did not listen', async () => {
    const auditSink = { deliver: () => Promise.reject(new Error('the archive is away')) }
    ctx = await createFleetContext(database, { edition: { ...createCommunityEdition(), auditSink } })
    closers.push(() => ctx.close())
    const as = await signIn(ctx)
    const agent = connect()
    await ctx.advance(300)
    agent.lose()
    await ctx.advance(121_000)
    await ctx.alerts.run(new AbortController().signal)
    expect(await remove(agent.workloadId, as)).toMatchObject({
      status: 503,
      json: { side_effect_status: 'applied' },
    })
    const told = ctx.frames.flatMap((frame) => (frame.type === 'alert_update' ? frame.alert : []))
    expect(told.map(({ rule, resolved_at }) => [rule, resolved_at !== null])).toEqual([
      ['workload_down', false],
      ['workload_down', true],
    ])
  })

  it('takes the change back when it cannot be recorded', async () => {
    const agent = connect()
    await ctx.advance(300)
    await database.pool.execute('alter table audit_events rename column detail to lost')
    const answer = await remove(agent.workloadId)
    await database.pool.execute('alter table audit_events rename column lost to detail')
    expect(answer).toMatchObject({
      status: 503,
      json: { error: 'audit unavailable', side_effect_status: 'none' },
    })
    expect(await get(`/${agent.workloadId}`)).toMatchObject({ status: 200 })
  })
})

describe('the way that is closed', () => {
  it('answers 410 to a direct push, and writes nothing', async () => {
    const agent = connect()
    const answer = await invoke(ctx, `POST /api/workloads/${agent.workloadId}/config`, {
      as: admin.token,
      body: configYaml(),
    })
    expect(answer).toMatchObject({ status: 410, json: { code: 'config_approval_required' } })
    expect(answer.text).toContain('/config/approvals')
    expect(agent.offered()).toEqual([])
  })
})

it('tells browsers of changes, without texts and with null for what was cleared', async () => {
  const agent = connect()
  await ctx.advance(300)
  const push = await pushConfig(ctx.fleet, agent.workloadId, configYaml())
  agent.fail('unknown type: "secretthing"')
  await eventually(
    'the push failed',
    () => ctx.fleet.workload(agent.workloadId)!.active!.push.status === 'failed',
  )
  await ctx.advance(2_000)
  const types = new Set(ctx.frames.map((frame) => frame.type))
  expect(types).toEqual(
    new Set(['workload_update', 'workload_event', 'push_update', 'workload_config_status']),
  )
  const update = ctx.frames.filter((frame) => frame.type === 'workload_update').at(-1)!
  expect(update).toMatchObject({
    workload: { id: agent.workloadId, archived_at: null, active_config_hash: push.hash },
    connected_instance_count: 1,
    drifted_instance_count: 1,
  })
  expect(update.workload).not.toHaveProperty('current_config_push')
  const told = ctx.frames.filter((frame) => frame.type === 'push_update').at(-1)!
  expect(told.push).toMatchObject({ status: 'failed', error_groups: [{ cause: 'component_unknown' }] })
  expect(JSON.stringify(ctx.frames)).not.toContain('secretthing')
  expect(JSON.stringify(ctx.frames)).not.toContain('receivers:')
  expect(configHash(configYaml())).toBe(push.hash)
})
