import { afterAll, describe, expect, it, vi } from 'vitest'
import type { ConfigTarget, ConfigTargets, FleetPeer } from '../../../lib/configs/check/target.ts'
import { configHash } from '../../../lib/model/config-hash.ts'
import type { ConfigDiff } from '../../../lib/wire/diff.ts'
import type { ConfigPlan } from '../../../lib/wire/plan.ts'
import type { PolicyEvaluation } from '../../../lib/wire/policy.ts'
import type { ValidationResult } from '../../../lib/wire/validation.ts'
import { createTestContext, invoke, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'

const GOOD = `receivers: {otlp: {protocols: {grpc: }}}
processors: {memory_limiter: {check_interval: 1s, limit_mib: 64}, batch: }
exporters: {debug: , otlp: {endpoint: "h:4317"}}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [memory_limiter, batch], exporters: [otlp]}
`
const TAKEN_OVER =
  'It replaces what the instances report to run, and there is no earlier config to go back to.'
const RISKY = GOOD.replace('exporters: [otlp]', 'exporters: [debug]')

const components = (receivers: string[]) =>
  new Map([
    ['receivers', receivers],
    ['processors', ['batch', 'memory_limiter']],
    ['exporters', ['debug', 'otlp']],
  ])
const base: ConfigTarget = {
  workloadId: 'w1',
  displayName: 'edge *gateway*',
  type: 'collector',
  version: '0.149.0',
  status: 'connected',
  labels: {},
  trustedLabels: {},
  acceptsRemoteConfig: true,
  instances: [
    { uid: 'a', podName: 'pod-a', components: components(['otlp']), isCapable: true, runsProfiles: false },
    { uid: 'b', podName: '', components: components(['filelog']), isCapable: true, runsProfiles: false },
    { uid: 'c', podName: 'pod-c', components: null, isCapable: false, runsProfiles: false },
  ],
  lastKnownComponents: null,
  activeConfigHash: 'ab'.repeat(32),
  failedHashes: new Set(),
  failing: new Map(),
}
const TARGETS: Record<string, ConfigTarget> = {
  w1: base,
  prod: { ...base, workloadId: 'prod', labels: { env: 'prod' } },
  off: { ...base, workloadId: 'off', status: 'disconnected', instances: [] },
  failed: { ...base, workloadId: 'failed', failedHashes: new Set([configHash(GOOD)]) },
  dark: {
    ...base,
    workloadId: 'dark',
    failing: new Map([['otlp', { unreachable: new Set(['h']) }]]),
  },
  dim: {
    ...base,
    workloadId: 'dim',
    failing: new Map([['otlp', { unreachable: new Set() }]]),
  },
  mute: {
    ...base,
    workloadId: 'mute',
    activeConfigHash: null,
    failing: new Map([['otlp', { unreachable: new Set(['h']) }]]),
  },
  new: { ...base, workloadId: 'new', activeConfigHash: null },
  sdk: { ...base, workloadId: 'sdk', type: 'sdk', acceptsRemoteConfig: false, activeConfigHash: null },
}
const PEERS: FleetPeer[] = [
  {
    id: 'w1',
    displayName: 'edge',
    type: 'collector',
    status: 'connected',
    labels: { cluster: 'eu', 'service.name': 'edge' },
    fingerprintKeys: {},
    isProduction: false,
  },
  {
    id: 'w2',
    displayName: 'core',
    type: 'collector',
    status: 'connected',
    labels: { cluster: 'eu', 'service.name': 'core' },
    fingerprintKeys: {},
    isProduction: false,
  },
]
const targets: ConfigTargets = {
  find: async (id) => TARGETS[id] ?? null,
  currentConfig: async (id) => (['sdk', 'new', 'mute'].includes(id) ? null : GOOD),
  reportedConfig: async (id) =>
    id === 'new' ? { hash: 'cd'.repeat(32), text: GOOD, instanceCount: 2, liveCount: 3 } : null,
  peer: async (id) => PEERS.find((peer) => peer.id === id) ?? null,
  neighbours: async ({ id }) => JSON.stringify(PEERS.filter((peer) => peer.id !== id)),
}

const database = await useTestDatabase()
const ctx = createTestContext(database, { configTargets: targets })
afterAll(() => ctx.close())
const editor = (await signIn(ctx, { groups: ['editor'] })).token
const viewer = (await signIn(ctx, { groups: ['viewer'] })).token
const post = async <Json>(
  path: string,
  body: unknown,
  as = editor,
): Promise<{ status: number; json: Json; text: string; headers: Readonly<Record<string, string>> }> => {
  const answer = await invoke(ctx, `POST ${path}`, { as, body })
  return { ...answer, json: answer.json as Json }
}

describe('POST /api/workloads/:id/config/validate', () => {
  const validate = (query: string, body: string, as = editor) =>
    post<ValidationResult>(`/api/workloads/${query}`, body, as)

  it('answers the result for the workload', async () => {
    const { status, json } = await validate('w1/config/validate', GOOD)
    expect(status).toBe(200)
    expect(json).toMatchObject({
      valid: true,
      overall_status: 'warning',
      target_collector_version: '0.149.0',
    })
    expect(json.checks.map((check) => check.status)).toEqual([
      'passed',
      'passed',
      'warning',
      'passed',
      'skipped',
    ])
    expect(json.warnings).toMatchObject([{ code: 'component_partly_installed' }])
    expect(json.warnings[0]?.message).toContain('not installed on b')
    expect(json.checks[4]?.messages).toMatchObject([{ code: 'otelcol_runtime_disabled', severity: 'info' }])
  })

  it('takes the version from the query', async () => {
    const { json } = await validate('w1/config/validate?target_collector_version=%200.99.0%20', GOOD)
    expect(json.target_collector_version).toBe('0.99.0')
    expect(json.checks[3]?.metadata).toMatchObject({ version_source: 'request' })
  })

  it('tells an absent body from one of blank lines and from a tab', async () => {
    expect(await validate('w1/config/validate', '')).toMatchObject({
      status: 400,
      json: { error: 'empty config body' },
    })
    expect((await validate('w1/config/validate', ' \n')).json.errors).toMatchObject([
      { code: 'empty_config' },
    ])
    expect((await validate('w1/config/validate', '\t')).json.errors).toMatchObject([{ code: 'yaml_parse' }])
  })

  it('does the same for a large text, in a worker thread', async () => {
    const big = `${GOOD}# ${'x'.repeat(40_000)}\n`
    const { json } = await validate('w1/config/validate', big)
    expect(json).toMatchObject({
      valid: true,
      checks: [{ metadata: { bytes: big.length } }, {}, { status: 'warning' }, {}, {}],
    })
  })

  it('rejects an unknown workload and too large a body', async () => {
    expect(await validate('nope/config/validate', GOOD)).toMatchObject({
      status: 404,
      json: { error: 'workload not found' },
    })
    expect((await validate('w1/config/validate', '#'.repeat(1_048_577))).status).toBe(413)
  })

  it('forbids viewers', async () => {
    expect((await validate('w1/config/validate', GOOD, viewer)).status).toBe(403)
  })
})

describe('POST /api/workloads/:id/config', () => {
  it('answers 410 to those who may push, and 403 to the others', async () => {
    const gone = await post('/api/workloads/any/config', GOOD)
    expect(gone).toMatchObject({ status: 410, json: { code: 'config_approval_required' } })
    expect(gone.text).toContain('/api/workloads/{id}/config/approvals')
    expect(await post('/api/workloads/any/config', GOOD, viewer)).toMatchObject({ status: 403 })
  })
})

describe('POST /api/workloads/:id/config/plan', () => {
  const plan = (id: string, body: string) => post<ConfigPlan>(`/api/workloads/${id}/config/plan`, body)

  it('reads what instances report where it holds up nobody, and is busy where that has no room', async () => {
    const full = vi.spyOn(ctx.configs, 'baseOfReport').mockResolvedValue({ ok: false, code: 'server-busy' })
    expect((await plan('new', GOOD)).status).toBe(503)
    full.mockRestore()
    expect((await plan('new', GOOD)).status).toBe(200)
  })

  it('says that a draft can be pushed, and whom it leaves out', async () => {
    const { status, json } = await plan('w1', GOOD.replace('h:4317', 'other:4317'))
    expect(status).toBe(200)
    expect(json).toMatchObject({
      schema_version: 'config_application_plan.v1',
      can_push: true,
      apply_allowed: true,
      hard_failures: [],
      prod_target: false,
      summary: { target_count: 1, excluded_count: 0, reached_instance_count: 1, excluded_instance_count: 2 },
      excluded_instances: [
        { instance_uid: 'b', reason: 'component_missing', missing_components: ['otlp'] },
        { instance_uid: 'c', pod_name: 'pod-c', reason: 'read_only' },
      ],
      targets: [
        { excluded: false, active_config_unavailable: false, active_config_hash: base.activeConfigHash },
      ],
    })
    // High risk alone does not forbid a push.
    expect(json.risk_score.severity).toBe('high')
    expect(json.summary.high_risk_change_count).toBeGreaterThan(0)
  })

  it('calls a config that failed here a high risk, however little it changes', async () => {
    const { json } = await plan('failed', GOOD)
    expect(json.risk_score).toMatchObject({
      severity: 'high',
      reasons: ['This config failed here when it was last pushed.'],
    })
    expect((await plan('failed', `${GOOD}\n# another\n`)).json.risk_score.severity).not.toBe('high')
  })

  it('calls another destination no high risk where nobody can reach the old one, and says what fails and whether it changes that', async () => {
    const moved = GOOD.replace('h:4317', 'other:4317')
    const { json } = await plan('dark', moved)
    expect(json.risk_score).toMatchObject({
      severity: 'medium',
      reasons: ['No instance can reach the destination that it replaces.', 'OTLP endpoint changed'],
      reason_codes: ['mends_unreachable', 'otlp_endpoint_changed'],
    })
    // What the diff calls high by itself is counted as it is weighed here.
    expect(json.summary.high_risk_change_count).toBe(0)
    const context = { workload_id: 'dark' }
    const { json: diff } = await post<ConfigDiff>('/api/configs/diff', {
      base_yaml: GOOD,
      target_yaml: moved,
      context,
    })
    expect(json.risk_score.mended_risk_ids).toEqual(diff.risk_items.map(({ id }) => id))
    expect(json.failing_now).toEqual([{ component: 'exporters.otlp', is_changed: true }])
    // Where it can be reached from some, they lose it.
    expect((await plan('dim', moved)).json.risk_score.severity).toBe('high')
    // Nothing else that is risky is forgiven for it.
    const unguarded = moved.replace('[memory_limiter, batch]', '[batch]')
    expect((await plan('dark', unguarded)).json.risk_score.severity).toBe('high')
    // Another port of a host that does not answer is no other host.
    expect((await plan('dark', GOOD.replace('h:4317', 'h:4444'))).json.risk_score.severity).toBe('high')
    const beside = await plan('dark', GOOD.replace('limit_mib: 64', 'limit_mib: 32'))
    expect(beside.json.failing_now).toEqual([{ component: 'exporters.otlp', is_changed: false }])
    expect((await plan('w1', moved)).json).not.toHaveProperty('failing_now')
    // Whether it is changed is not known where there is nothing to compare with.
    const { json: alone } = await plan('mute', moved)
    expect(alone.compared_with).toBe('nothing')
    expect(alone.failing_now).toEqual([{ component: 'exporters.otlp' }])
  })

  it('compares the first config of a workload with what its instances report to run', async () => {
    const { json } = await plan('new', GOOD.replace('[memory_limiter, batch]', '[batch]'))
    expect(json).toMatchObject({
      compared_with: 'reported',
      risk_score: { severity: 'high', reasons: ['Memory limiter removed from pipeline', TAKEN_OVER] },
      targets: [{ active_config_unavailable: true, high_risk_change_count: 1 }],
    })
    // However little it changes: what runs is replaced, and nothing is there to go back to.
    expect((await plan('new', GOOD)).json.risk_score).toMatchObject({
      severity: 'medium',
      reasons: [TAKEN_OVER],
      reason_codes: ['takes_over'],
    })
    expect((await plan('w1', GOOD)).json.compared_with).toBe('active')
    expect((await plan('sdk', GOOD)).json.compared_with).toBe('nothing')
  })

  it('says what stands in the way', async () => {
    expect((await plan('w1', '')).json).toMatchObject({
      can_push: false,
      hard_failures: ['empty_config', 'all_targets_excluded', 'validation_failed'],
      targets: [{ exclusion_reasons: ['validation_failed'], validation_errors: ['empty_config'] }],
    })
    expect((await plan('off', GOOD)).json.targets).toMatchObject([
      { exclusion_reasons: ['workload_offline'] },
    ])
    // The workload is connected, but lacks a component.
    const foreign = GOOD.replace('otlp: {endpoint: "h:4317"}', 'kafka: ').replace('[otlp]}', '[kafka]}')
    expect((await plan('w1', foreign)).json.targets).toMatchObject([
      { exclusion_reasons: ['validation_failed'], components_missing_count: 1 },
    ])
    expect((await plan('sdk', GOOD)).json).toMatchObject({
      risk_score: { severity: 'none', applies_to_count: 0 },
      targets: [
        {
          exclusion_reasons: ['non_collector', 'read_only'],
          hard_failures: ['read_only'],
          active_config_unavailable: true,
        },
      ],
    })
    expect((await plan('prod', RISKY)).json).toMatchObject({
      prod_target: true,
      hard_failures: ['config_policy_blocked'],
      policy: { decision: 'block', target: { environment: 'prod', workload_id: 'prod' } },
    })
  })

  it('is exported as JSON and as Markdown', async () => {
    const asJson = await post('/api/workloads/w1/config/plan/export', GOOD)
    expect(asJson.json).toEqual((await plan('w1', GOOD)).json)
    const page = await post('/api/workloads/w1/config/plan/export?format=%20MD', GOOD)
    expect(page.headers).toMatchObject({
      'Content-Type': 'text/markdown; charset=utf-8',
      'Content-Disposition': 'attachment; filename="config-safety-plan.md"',
    })
    expect(page.text).toMatch(/^# Config Safety Plan\n/)
    expect(page.text).toContain('Can push: true')
    expect(page.text).toContain('edge \\*gateway\\*')
    expect(await post('/api/workloads/w1/config/plan/export?format=pdf', GOOD)).toMatchObject({
      status: 400,
      json: { error: 'unsupported export format' },
    })
  })

  it('rejects an unknown workload', async () => {
    expect((await plan('nope', GOOD)).status).toBe(404)
  })

  it('forbids viewers', async () => {
    expect((await post('/api/workloads/w1/config/plan', GOOD, viewer)).status).toBe(403)
  })
})

describe('POST /api/configs/policy/preview', () => {
  const preview = (body: unknown, as = editor) =>
    post<PolicyEvaluation>('/api/configs/policy/preview', body, as)

  it('judges by what the caller sets', async () => {
    const { json } = await preview({
      candidate_yaml: GOOD,
      context: {
        environment: 'production',
        endpoint_allowlist: ['allowed.example'],
        max_sampling_percentage: 50,
      },
    })
    expect(json).toMatchObject({
      decision: 'block',
      target: { environment: 'production' },
      settings: { allowed_otlp_endpoints: ['allowed.example'], sampling: { max_percentage: 50 } },
    })
    expect(json.findings.map(({ rule_id }) => rule_id)).toEqual([
      'community.exporters.otlp_endpoint.allowlist',
    ])
  })

  it('takes the other names of its fields, and its own values before those of the context', async () => {
    const { json } = await preview({
      target_yaml: RISKY,
      base_yaml: GOOD,
      settings: { critical_exporters: ['otlp'] },
      context: { critical_exporters: ['debug'] },
    })
    expect(json.findings.map(({ rule_id }) => rule_id)).toEqual(['community.exporters.critical_removal'])
  })

  it('rejects a request without a candidate', async () => {
    expect(await preview({ candidate_yaml: ' ' })).toMatchObject({
      status: 400,
      json: { error: 'target_yaml is required' },
    })
    expect(await preview('nonsense')).toMatchObject({ status: 400, json: { error: 'invalid JSON' } })
  })

  it('forbids viewers', async () => {
    expect((await preview({ candidate_yaml: GOOD }, viewer)).status).toBe(403)
  })
})

describe('POST /api/configs/diff', () => {
  const diff = (body: unknown) => post<ConfigDiff>('/api/configs/diff', body, viewer)

  it('compares for anybody who is signed in', async () => {
    const { status, json } = await diff({ base_yaml: GOOD, target_yaml: RISKY })
    expect(status).toBe(200)
    expect(json).toMatchObject({ valid: true, summary: { counts: { pipelines_modified: 1 } } })
    expect(json.blast_radius.impacted_services).toEqual([])
  })

  it('knows the fleet of a workload that is named, whatever else was sent', async () => {
    const context = {
      workload_id: 'w1',
      labels: { cluster: 'lies' },
      fleet_peers: [{ id: 'x', labels: { cluster: 'lies' } }],
    }
    const { json } = await diff({ base_yaml: GOOD, target_yaml: RISKY, context })
    expect(json.blast_radius).toMatchObject({
      impacted_clusters: ['eu'],
      impacted_services: [{ service_name: 'core' }, { service_name: 'edge' }],
    })
  })

  it('takes the description that was sent when no workload is named', async () => {
    const labels = { cluster: 'us', 'service.name': 'mine' }
    const context = {
      labels,
      fleet_peers: [{ id: 'p', labels: { ...labels, 'service.name': 'theirs' } }, { id: 'q' }],
    }
    const { json } = await diff({ base_yaml: GOOD, target_yaml: RISKY, context })
    expect(json.blast_radius.impacted_services.map(({ service_name }) => service_name)).toEqual([
      'mine',
      'theirs',
    ])
  })

  it('answers 200 for a text that cannot be read', async () => {
    // A null counts as an absent field at any depth.
    const nulls = { context: { workload_id: null, labels: null, fleet_peers: [{ id: 'x', labels: null }] } }
    expect((await diff({ base_yaml: GOOD, target_yaml: GOOD, ...nulls })).status).toBe(200)
    const deep = `{"base_yaml":"a","target_yaml":"b","more":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect(await diff(deep)).toMatchObject({ status: 400, json: { code: 'body_too_deep' } })
    expect(await diff({ base_yaml: 'a: [', target_yaml: GOOD })).toMatchObject({
      status: 200,
      json: { valid: false },
    })
  })

  it('rejects a missing side and more than 2 MiB', async () => {
    expect(await diff({ base_yaml: GOOD })).toMatchObject({
      status: 400,
      json: { error: 'base_yaml and target_yaml are required' },
    })
    expect((await diff({ base_yaml: GOOD, target_yaml: '#'.repeat(2_097_152) })).status).toBe(413)
  })
})
