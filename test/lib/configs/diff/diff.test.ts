import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { FleetPeer } from '../../../../lib/configs/check/target.ts'
import { diffConfigs } from '../../../../lib/configs/diff/diff.ts'
import { MASK } from '../../../../lib/configs/redact/redact.ts'

const BASE = `receivers:
  otlp:
    protocols:
      grpc: {endpoint: "0.0.0.0:4317"}
processors:
  memory_limiter: {check_interval: 1s, limit_mib: 512}
  probabilistic_sampler: {sampling_percentage: 100}
  batch: {timeout: 5s}
exporters:
  debug: {}
  otlp/backend:
    endpoint: ingest.example.com:4317
    headers: {authorization: Bearer hunter2}
    tls: {insecure: false}
service:
  telemetry: {logs: {level: info}}
  pipelines:
    traces: {receivers: [otlp], processors: [memory_limiter, batch], exporters: [otlp/backend]}
    logs: {receivers: [otlp], processors: [batch], exporters: [otlp/backend, debug]}
`

const diff = (
  baseText: string,
  targetText: string,
  workload: FleetPeer | null = null,
  peers: FleetPeer[] = [],
) => diffConfigs({ baseText, targetText, workload, peers })

/** The base config with one replacement, whose text must occur. */
function edit(from: string, to: string): string {
  expect(BASE).toContain(from)
  return BASE.replace(from, () => to)
}

describe('a diff', () => {
  it('of a config with itself is empty', () => {
    const result = diff(BASE, BASE)
    expect(result).toMatchObject({
      schema_version: 'otel-config-diff.v1',
      valid: true,
      risk_score: { severity: 'none', reasons: [], applies_to_count: 0 },
      components: [],
      pipelines: [],
      endpoints: [],
      security: [],
      risk_items: [],
      human_summary: [],
      diagnostics: [],
      normalized: { base_component_count: 6, target_component_count: 6, base_pipeline_count: 2 },
    })
    expect(result.summary.overall_risk).toBe('none')
    expect(result.normalized['base_hash']).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  it('does not see spelling: order of keys, comments, quotes, anchors, receivers in another order', () => {
    const respelt = `${BASE.replace('5s', '"5s"')}# note\n`.replace(
      '{check_interval: 1s, limit_mib: 512}',
      '{limit_mib: 0x200, check_interval: 1s}',
    )
    expect(diff(BASE, respelt).components).toEqual([])
  })

  it('takes an empty document for a config in which nothing is defined', () => {
    const result = diff('# nothing\n', BASE)
    expect(result.valid).toBe(true)
    expect(result.summary.counts).toMatchObject({ components_added: 7, pipelines_added: 2 })
  })

  it('says what cannot be read, without a word of it', () => {
    const result = diff('api_key: hunter2\napi_key: hunter2\n', 'receivers: hunter2\n')
    expect(result).toMatchObject({ valid: false, components: [], pipelines: [], endpoints: [] })
    expect(result.diagnostics.map(({ side, code, path, severity }) => [side, code, path, severity])).toEqual([
      ['base', 'yaml_parse', undefined, 'error'],
      ['target', 'invalid_section', 'receivers', 'warning'],
    ])
    expect(JSON.stringify(result)).not.toContain('hunter2')
  })
})

describe('what is told', () => {
  it('of pipelines that stay as they are: not of one in which the settings of a component change', () => {
    const rerouted = edit('exporters: [otlp/backend, debug]', 'exporters: [otlp/backend]')
    const kept = (target: string) =>
      diff(BASE, target).human_summary.flatMap(({ kind, text }) => (kind === 'unchanged' ? [text] : []))
    expect(kept(rerouted)).toEqual(['Keeps traces unchanged'])
    expect(kept(rerouted.replace('timeout: 5s', 'timeout: 9s'))).toEqual([])
  })

  it('of a change that adds, removes and reroutes', () => {
    const target = edit('exporters: [otlp/backend, debug]', 'exporters: [otlp/backend, loki]')
      .replace('  debug: {}\n', '  loki: {}\n')
      .replace('timeout: 5s', 'timeout: 9s')
    const result = diff(BASE, target)
    expect(result.human_summary.map(({ text }) => text)).toEqual([
      'Removes debug exporter',
      'Adds Loki exporter',
      'Changes batch timeout',
      'Routes logs to Loki',
    ])
    expect(result.components.map(({ id, kind, risk, rules }) => [id, kind, risk, rules])).toEqual([
      ['exporters:debug', 'removed', 'high', ['exporter_removed']],
      ['exporters:loki', 'added', 'high', ['destination_added']],
      ['processors:batch', 'modified', 'low', []],
    ])
    expect(result.components[2]).toMatchObject({
      component: { category: 'processors', id: 'batch', type: 'batch', path: 'processors.batch' },
      title: 'processor batch modified',
      changed_fields: [{ path: 'processors.batch.timeout', before: '5s', after: '9s', risk: 'low' }],
      impacted_pipelines: ['logs', 'traces'],
    })
    expect(result.pipelines).toMatchObject([
      {
        id: 'pipeline:logs',
        kind: 'modified',
        signal: 'logs',
        risk: 'medium',
        component_ref_changes: [
          {
            section: 'exporters',
            component_id: 'debug',
            kind: 'removed',
            from_index: 1,
            reason: 'pipeline_exporter_set_changed',
          },
          { section: 'exporters', component_id: 'loki', kind: 'added', to_index: 1, risk: 'low' },
        ],
      },
    ])
    expect(result.summary.counts).toMatchObject({
      components_added: 1,
      components_removed: 1,
      components_modified: 1,
      pipelines_modified: 1,
    })
  })

  it('of processors in another order', () => {
    const result = diff(BASE, edit('[memory_limiter, batch]', '[batch, memory_limiter]'))
    expect(result.pipelines[0]?.component_ref_changes).toEqual([
      expect.objectContaining({
        kind: 'moved',
        section: 'processors',
        risk: 'medium',
        reason: 'processor_order_changed',
      }),
    ])
    expect(result.summary.overall_risk).toBe('medium')
    expect(result.risk_items[0]?.rule).toBe('processor_order_changed')
  })

  test.each([
    [
      'a lost pipeline',
      '    logs: {receivers: [otlp], processors: [batch], exporters: [otlp/backend, debug]}\n',
      '',
      'Pipeline logs removed',
    ],
    ['a broken pipeline', 'exporters: [otlp/backend, debug]', 'exporters: []', 'Pipeline broken'],
    ['a limiter taken out', '[memory_limiter, batch]', '[batch]', 'Memory limiter removed from pipeline'],
    [
      'a limiter that is gone',
      '  memory_limiter: {check_interval: 1s, limit_mib: 512}\n',
      '',
      'Memory limiter removed from pipeline',
    ],
    ['a new OTLP endpoint', 'ingest.example.com:4317', 'other.example.com:4317', 'OTLP endpoint changed'],
    ['another listening address', '0.0.0.0:4317', '127.0.0.1:4317', 'Receiver endpoint exposure changed'],
    ['TLS switched off', 'insecure: false', 'insecure: true', 'Transport security weakened'],
    [
      'TLS switched off with its parent',
      'tls: {insecure: false}',
      'tls2: {insecure: true}',
      'Transport security weakened',
    ],
    ['another credential', 'Bearer hunter2', 'Bearer hunter3', 'Auth/header modified'],
    [
      'much less sampling',
      'sampling_percentage: 100',
      'sampling_percentage: 99',
      'Sampling rate strongly changed',
    ],
  ])('of %s is a reason', (_, from, to, reason) => {
    expect(diff(BASE, edit(from, to)).risk_score.reasons).toContain(reason)
  })

  it('of a changed secret is that it changed', () => {
    const result = diff(BASE, edit('Bearer hunter2', 'Bearer hunter3'))
    expect(result.security).toMatchObject([
      {
        path: 'exporters.otlp/backend.headers.authorization',
        field: 'headers',
        before: MASK,
        after: MASK,
        risk: 'high',
      },
    ])
    expect(result.human_summary[0]?.text).toBe('Changes backend sensitive setting')
  })

  it('of the service outside its pipelines is told like a component', () => {
    const result = diff(BASE, edit('level: info', 'level: debug'))
    expect(result.components).toMatchObject([
      {
        id: 'service:telemetry',
        kind: 'modified',
        changed_fields: [{ path: 'service.telemetry.logs.level' }],
      },
    ])
  })

  it('of an endpoint is what both sides are, without credentials', () => {
    const result = diff(
      BASE,
      edit('ingest.example.com:4317', 'https://user:hunter2@Other.example.com:443/v1?token=hunter2'),
    )
    expect(result.endpoints).toMatchObject([
      {
        id: 'endpoint:exporters.otlp/backend.endpoint',
        endpoint_kind: 'otlp_grpc',
        risk: 'high',
        before: {
          raw: 'ingest.example.com:4317',
          scheme: 'grpc',
          host: 'ingest.example.com',
          port: 4317,
          insecure: true,
        },
        rules: ['otlp_endpoint_changed'],
      },
    ])
    expect(JSON.stringify(result)).not.toContain('hunter2')
  })
})

describe('the blast radius', () => {
  const peer = (id: string, cluster: string, labels: Record<string, string> = {}): FleetPeer => ({
    id,
    displayName: id,
    type: 'collector',
    status: 'connected',
    labels: { 'service.name': `svc-${id}`, ...labels },
    fingerprintKeys: { 'k8s.cluster.name': cluster },
    isProduction: false,
  })

  it('reaches the peers of the same cluster', () => {
    const result = diff(BASE, edit('timeout: 5s', 'timeout: 9s'), peer('a', 'eu'), [
      peer('b', 'eu', { tier: 'critical' }),
      peer('c', 'us'),
    ])
    expect(result.blast_radius).toMatchObject({
      affected_signals: ['logs', 'traces'],
      touched_exporters: [],
      impacted_clusters: ['eu'],
      impacted_services: [{ service_name: 'svc-a' }, { service_name: 'svc-b' }],
      critical_collectors: [
        { workload_id: 'a', reasons: ['collector_workload'] },
        { workload_id: 'b', reasons: ['collector_workload', 'tier_critical'] },
      ],
    })
  })

  it('makes no neighbour of a stranger with the same environment or namespace', () => {
    const strangers = [
      peer('b', '', { 'deployment.environment': 'production' }),
      peer('c', 'us', { 'deployment.environment': 'production', 'k8s.namespace.name': 'default' }),
      // A cluster of the same name in another environment counts as another cluster.
      peer('d', 'eu', { 'deployment.environment': 'staging' }),
    ]
    const workload = peer('a', 'eu', {
      'deployment.environment': 'production',
      'k8s.namespace.name': 'default',
    })
    const { blast_radius } = diff(BASE, edit('timeout: 5s', 'timeout: 9s'), workload, strangers)
    expect(blast_radius.impacted_services.map(({ workload_id }) => workload_id)).toEqual(['a'])
    expect(blast_radius.critical_collectors.map(({ workload_id }) => workload_id)).toEqual(['a'])
  })

  it('reaches nobody without a workload', () => {
    expect(diff(BASE, BASE, null, [peer('b', 'eu')]).blast_radius).toMatchObject({
      impacted_services: [],
      impacted_clusters: [],
      critical_collectors: [],
    })
  })
})

/** Settings of a generated component. */
const settings = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>('5s', 'x', true, false, 1, 2.5, 0, 'a: b', '- c', '"', '#'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom('timeout', 'endpoint', 'tls', 'insecure', 'mode', 'sampling_percentage'),
      tie('value'),
      { maxKeys: 3 },
    ),
  ),
})).value as fc.Arbitrary<unknown>
const components = (type: string) =>
  fc.dictionary(
    fc.constantFrom(type, `${type}/a`, `${type}/b`),
    fc.dictionary(fc.constantFrom('k', 'endpoint', 'queue'), settings, { maxKeys: 2 }),
    { minKeys: 1, maxKeys: 3 },
  )
const ids = fc.uniqueArray(fc.constantFrom('otlp', 'batch', 'debug', 'filter', 'memory_limiter'), {
  minLength: 1,
  maxLength: 4,
})
const config = fc.record({
  receivers: components('otlp'),
  processors: components('batch'),
  exporters: components('debug'),
  service: fc.record({
    telemetry: settings,
    extensions: ids,
    pipelines: fc.dictionary(
      fc.constantFrom('traces', 'logs', 'metrics/a'),
      fc.record({ receivers: ids, processors: ids, exporters: ids }),
      { minKeys: 1, maxKeys: 3 },
    ),
  }),
})

/** The paths to all leaves of a value, each as the keys that lead there. */
function placesOf(value: unknown, path: Array<string | number> = []): Array<Array<string | number>> {
  if (typeof value !== 'object' || value === null) return [path]
  return [
    path,
    ...Object.entries(value).flatMap(([key, entry]) =>
      placesOf(entry, [...path, Array.isArray(value) ? Number(key) : key]),
    ),
  ]
}

function replaceAt(root: unknown, [key, ...rest]: Array<string | number>, value: unknown): unknown {
  if (key === undefined) return value
  const copy = structuredClone(root) as Record<string | number, unknown>
  copy[key] = replaceAt(copy[key], rest, value)
  return copy
}

describe('generated configs', () => {
  it('do not differ from themselves', () => {
    fc.assert(
      fc.property(config, (value) => {
        const text = JSON.stringify(value)
        expect(diff(text, JSON.stringify(value, null, 2))).toMatchObject({
          components: [],
          pipelines: [],
          endpoints: [],
          security: [],
          risk_items: [],
        })
      }),
      { seed: 11, numRuns: 50 },
    )
  })

  it('never hide an edit', () => {
    fc.assert(
      fc.property(config, fc.nat(), (value, pick) => {
        const places = placesOf(value).filter((path) => path.length >= 3)
        const path = places[pick % places.length]!
        const edited = replaceAt(value, path, 'edited-value')
        const result = diff(JSON.stringify(value), JSON.stringify(edited))
        expect([...result.components, ...result.pipelines], path.join('.')).not.toEqual([])
        expect(result.summary.overall_risk).not.toBe('none')
      }),
      { seed: 12, numRuns: 150 },
    )
  })

  it('never show a secret', () => {
    const secret = fc.stringMatching(/^[a-z0-9]{12,20}$/).map((text) => `s3cr3t${text}`)
    const hidden = fc.constantFrom<(value: string) => [string, unknown]>(
      (value) => ['api_key', value],
      (value) => ['headers', { 'x-tenant': value }],
      (value) => ['endpoint', `https://user:${value}@h.example:4318/v1?api_key=${value}&b=1#${value}`],
      (value) => ['dsn', `app:${value}@tcp(db:3306)/x`],
      (value) => ['note', `Authorization: Bearer ${value}`],
      (value) => ['server', `user:${value}@h.example:4317`],
      (value) => ['auth', { client_secret: { nested: [value] } }],
      (value) => ['actions', [{ key: 'db.password', value, action: 'insert' }]],
      (value) => ['connectionString', value],
      (value) => ['key_pem', `-----BEGIN PRIVATE KEY-----\n${value}\n-----END PRIVATE KEY-----`],
      (value) => ['attributes', [{ name: 'x-api-key', value }]],
    )
    fc.assert(
      fc.property(
        config,
        secret,
        secret,
        hidden,
        fc.constantFrom('receivers', 'processors', 'exporters'),
        (value, one, two, hide, category) => {
          const place = (text: string) => {
            const copy = structuredClone(value) as unknown as Record<
              string,
              Record<string, Record<string, unknown>>
            >
            const [key, entry] = hide(text)
            for (const id of Object.keys(copy[category]!)) copy[category]![id]![key] = entry
            return JSON.stringify(copy)
          }
          const answers = [diff(place(one), place(two)), diff(place(one), '{}'), diff('{}', place(one))]
          expect(JSON.stringify(answers)).not.toMatch(/s3cr3t/)
        },
      ),
      { seed: 13, numRuns: 150 },
    )
  })
})

describe('an exporter that was added', () => {
  const added = (settings: string) =>
    diff(BASE, edit('  debug: {}\n', `  debug: {}\n  otlphttp/new:\n    ${settings}\n`)).components.find(
      ({ kind }) => kind === 'added',
    )

  it('says where it sends to, without a password', () => {
    expect(added('endpoint: https://user:geheim@new.example.com:4318/v1')?.addresses).toEqual([
      'new.example.com:4318',
    ])
    expect(added('headers: {a: b}')).not.toHaveProperty('addresses')
  })
})

test('a signal that no pipeline sends any more is said, and not one that another pipeline still sends', () => {
  const lostBy = (from: string, to: string) =>
    diff(BASE, edit(from, to)).human_summary.filter(({ category }) => category === 'signal')
  const gone = '    logs: {receivers: [otlp], processors: [batch], exporters: [otlp/backend, debug]}\n'
  expect(lostBy(gone, '')).toMatchObject([{ signal: 'logs', kind: 'removed', risk: 'high' }])
  expect(lostBy('exporters: [otlp/backend, debug]', 'exporters: []')).toMatchObject([{ signal: 'logs' }])
  expect(lostBy('exporters: [otlp/backend, debug]', 'exporters: [debug]')).toEqual([])
  expect(lostBy('    logs:', '    logs/all:')).toEqual([])
  // What only a connector takes any more is counted, and sent nowhere as what it is.
  const counting = (text: string) => text.replace('service:\n', 'connectors:\n  count: {}\nservice:\n')
  const both = counting(edit('[otlp/backend, debug]', '[otlp/backend, count]'))
  const { human_summary } = diff(both, both.replace('[otlp/backend, count]', '[count]'))
  expect(human_summary).toContainEqual(expect.objectContaining({ category: 'signal', signal: 'logs' }))
})
