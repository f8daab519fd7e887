import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byBytes } from '../../../lib/model/text-order.ts'
import {
  assessCollector,
  type PostureConfig,
  type PostureWorkload,
} from '../../../lib/posture/collector-assessment.ts'
import { buildVersionIntelligence } from '../../../lib/posture/version-intelligence.ts'

const HASH = 'a'.repeat(64)

const collector = (id: string, overrides: Partial<PostureWorkload> = {}): PostureWorkload => ({
  id,
  displayName: `name ${id}`,
  type: 'collector',
  status: 'connected',
  version: '0.120.0',
  versionMix: null,
  labels: {},
  fingerprintKeys: {},
  acceptsRemoteConfig: true,
  remoteConfigStatus: { status: 'applied', configHash: HASH },
  availableComponents: {
    components: { receivers: ['otlp'], processors: ['batch'], exporters: ['otlp', 'debug'] },
    hash: 'cc',
  },
  config: {
    hash: HASH,
    defined: [
      { category: 'exporters', type: 'otlp' },
      { category: 'receivers', type: 'otlp' },
      { category: 'exporters', type: 'otlp' },
    ],
    used: [
      { category: 'exporters', type: 'otlp', id: 'otlp', path: 'service.pipelines.traces.exporters[0]' },
    ],
  },
  ...overrides,
})

function posture(workloads: PostureWorkload[], recommended = '0.120.0') {
  const collectors = workloads.filter((workload) => workload.type === 'collector')
  return buildVersionIntelligence(
    workloads,
    collectors.map((workload) => assessCollector(workload, recommended)),
    recommended,
  )
}

const codes = (workload: PostureWorkload) =>
  assessCollector(workload, '').row.blocking_reasons.map((reason) => reason.code)

describe('buildVersionIntelligence', () => {
  it('has every part, empty, for an empty fleet', async () => {
    expect(await posture([], '')).toEqual({
      schema_version: 'fleet-version-intelligence.v1',
      recommended_version: '',
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

  it('counts workloads by group, type, status and version, in that order', async () => {
    const { version_matrix } = await posture([
      collector('w3', { labels: { group: 'b' }, version: '0.119.0' }),
      collector('w2', { labels: { group: 'b' }, version: '0.119.0' }),
      collector('w1', { fingerprintKeys: { 'service.name': 'a' }, version: '0.121.0' }),
      collector('w4', { type: 'sdk', version: '1.0.0' }),
      collector('w5', { labels: { group: '  ' }, version: ' ' }),
    ])
    expect(version_matrix.map((cell) => [cell.group, cell.type, cell.version, cell.version_status])).toEqual([
      ['a', 'collector', '0.121.0', 'above_recommended'],
      ['b', 'collector', '0.119.0', 'below_recommended'],
      ['ungrouped', 'collector', 'unknown', 'unknown'],
      ['ungrouped', 'sdk', '1.0.0', 'not_applicable'],
    ])
    expect(version_matrix[1]).toMatchObject({ count: 2, workload_ids: ['w2', 'w3'] })
  })

  it('prefers a label to the fingerprint key of the same name, and earlier keys to later ones', () => {
    const { row } = assessCollector(
      collector('w1', {
        labels: { 'service.name': 'from-label', 'k8s.deployment.name': 'later' },
        fingerprintKeys: { 'service.name': 'from-key' },
      }),
      '',
    )
    expect(row.group).toBe('from-label')
  })

  it('lists what is below the recommendation and says to upgrade it', async () => {
    const report = await posture([collector('w1', { version: 'v0.100.0' }), collector('w2')], 'v0.120.0')
    expect(report.recommended_version).toBe('v0.120.0')
    expect(report.collectors_below_recommended).toEqual([
      {
        workload_id: 'w1',
        display_name: 'name w1',
        group: 'ungrouped',
        version: 'v0.100.0',
        recommended_version: 'v0.120.0',
      },
    ])
    expect(report.recommendations).toEqual([
      {
        action: 'upgrade_collector',
        reason: 'collector version v0.100.0 is below recommended v0.120.0',
        workload_id: 'w1',
      },
    ])
  })

  it('names versions that cannot be compared, only when there is something to compare with', async () => {
    const fleet = [collector('w1', { version: '' }), collector('w2', { version: 'latest' })]
    expect((await posture(fleet)).invalid_versions).toEqual([
      { workload_id: 'w1', display_name: 'name w1', version: '', reason: 'empty_version' },
      { workload_id: 'w2', display_name: 'name w2', version: 'latest', reason: 'invalid_semver' },
    ])
    expect((await posture(fleet, '')).invalid_versions).toEqual([])
    expect((await posture(fleet, 'newest')).invalid_versions).toEqual([])
    expect((await posture(fleet, 'newest')).recommended_version).toBe('newest')
  })

  it('summarises collectors by id, whatever the list order', async () => {
    const report = await posture([collector('w2', { acceptsRemoteConfig: false }), collector('w1')])
    expect(report.compatibility_matrix.map((row) => row.workload_id)).toEqual(['w1', 'w2'])
    expect(report.compatibility_summary).toMatchObject({
      total_collectors: 2,
      runnable_count: 1,
      not_runnable_count: 1,
      not_runnable_collectors: [
        { workload_id: 'w2', blocking_reasons: [{ code: 'remote_config_not_accepted' }] },
      ],
    })
  })

  it('pairs each unsupported component with two ways out', async () => {
    const config: PostureConfig = {
      hash: HASH,
      defined: [{ category: 'exporters', type: 'kafka' }],
      used: [
        { category: 'exporters', type: 'kafka', id: 'kafka', path: 'service.pipelines.traces.exporters[0]' },
        { category: 'exporters', type: 'kafka', id: 'kafka', path: 'service.pipelines.traces.exporters[0]' },
      ],
    }
    const report = await posture([collector('w1', { config })])
    expect(report.unsupported_config_components).toEqual([
      {
        workload_id: 'w1',
        display_name: 'name w1',
        config_hash: HASH,
        category: 'exporters',
        component_type: 'kafka',
        path: 'service.pipelines.traces.exporters[0]',
        available_hash: 'cc',
        available_types: ['debug', 'otlp'],
      },
    ])
    expect(report.recommendations).toMatchObject([
      { action: 'choose_older_config', workload_id: 'w1', config_hash: HASH, components: ['kafka'] },
      { action: 'remove_component', workload_id: 'w1', config_hash: HASH, components: ['kafka'] },
    ])
  })
})

describe('assessCollector', () => {
  it('finds a collector runnable that has all its config defines', () => {
    const { row } = assessCollector(collector('w1'), '0.120.0')
    expect(row).toEqual({
      workload_id: 'w1',
      display_name: 'name w1',
      group: 'ungrouped',
      status: 'connected',
      version: { reported: '0.120.0', status: 'at_recommended', comparable: true },
      available_components: {
        hash: 'cc',
        categories: ['exporters', 'processors', 'receivers'],
        component_types: { exporters: ['otlp', 'debug'], processors: ['batch'], receivers: ['otlp'] },
      },
      required_components: [
        { category: 'receivers', component_type: 'otlp', path: 'receivers.otlp' },
        { category: 'exporters', component_type: 'otlp', path: 'exporters.otlp' },
      ],
      config: { hash: HASH, source: 'active_or_applied' },
      known_issues: [],
      opamp: { accepts_remote_config: true, remote_config_status: 'applied', config_hash: HASH },
      runnable: true,
      blocking_reasons: [],
    })
  })

  it('blocks what reported no components, or not the categories that the config needs', () => {
    expect(codes(collector('w1', { availableComponents: null }))).toEqual(['component_capabilities_unknown'])
    const without = { components: { receivers: ['otlp'], exporters: [] }, hash: '' }
    const { row } = assessCollector(collector('w1', { availableComponents: without }), '')
    expect(row.blocking_reasons.map((reason) => reason.code)).toEqual([
      'component_capability_category_missing',
      'unsupported_component',
    ])
    expect(row.available_components).toEqual({
      categories: ['exporters', 'receivers'],
      component_types: { exporters: [], receivers: ['otlp'] },
    })
    expect(codes(collector('w1', { availableComponents: null, config: null }))).toEqual([])
  })

  it('blocks versions that are unknown, invalid or before 0.80.0, its pre-releases included', () => {
    expect(codes(collector('w1', { version: '' }))).toEqual(['unknown_version'])
    expect(codes(collector('w1', { version: '1.2' }))).toEqual(['invalid_version'])
    expect(codes(collector('w1', { version: '0.80.0-rc.1' }))).toEqual(['known_issue'])
    expect(codes(collector('w1', { version: '0.80.0' }))).toEqual([])
    expect(assessCollector(collector('w1', { version: '0.79.0' }), '').row.known_issues).toMatchObject([
      { code: 'collector_pre_0_80_remote_config_issue', severity: 'blocking' },
    ])
  })

  it('keeps its reasons in one order', () => {
    const config: PostureConfig = {
      hash: HASH,
      defined: [{ category: 'connectors', type: 'spanmetrics' }],
      used: [{ category: 'exporters', type: 'kafka', id: 'kafka', path: 'service.pipelines.t.exporters[0]' }],
    }
    const all = collector('w1', {
      config,
      version: '0.1.0',
      acceptsRemoteConfig: false,
      remoteConfigStatus: null,
    })
    expect(codes(all)).toEqual([
      'component_capability_category_missing',
      'unsupported_component',
      'known_issue',
      'remote_config_not_accepted',
    ])
    const { row } = assessCollector({ ...all, config: null }, '')
    expect(row.opamp).toEqual({ accepts_remote_config: false })
    expect(row.config).toEqual({ source: 'none' })
  })
})

describe('byBytes', () => {
  it('orders well-formed texts as their UTF-8 bytes', () => {
    const text = fc.string({ unit: 'binary', maxLength: 6 })
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(byBytes(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
      {
        seed: 13,
        numRuns: 2_000,
        examples: [
          ['\uffff', '\u{10000}'],
          ['a', 'ab'],
          ['\ud7ff', '\ue000'],
        ],
      },
    )
  })
})
