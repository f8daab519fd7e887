import { describe, expect, it, test } from 'vitest'
import { diffConfigs } from '../../../../lib/configs/diff/diff.ts'
import { MASK } from '../../../../lib/configs/redact/redact.ts'

const BASE = `receivers:
  otlp: {protocols: {grpc: {endpoint: "0.0.0.0:4317"}}}
processors:
  memory_limiter: {check_interval: 1s, limit_mib: 512}
  redaction: {allow_all_keys: true, blocked_values: ["4[0-9]{15}", "[0-9]{9}"]}
  attributes/pii: {actions: [{key: user.email, action: delete}, {key: team, value: a, action: upsert}]}
  transform/hide: {log_statements: [{context: log, statements: ['replace_pattern(body, "p=.*", "p=*")']}]}
  batch: {timeout: 5s}
exporters:
  otlp/tempo:
    endpoint: tempo.example.com:4317
    headers: {authorization: Bearer hunter2}
    sending_queue: {enabled: true}
  prometheusremotewrite: {endpoint: "https://mimir.example.com/api/v1/push"}
  otlp/idle: {endpoint: "idle.example.com:4317"}
  otlp/stored: {endpoint: "stored.example.com:4317", sending_queue: {storage: file_storage}}
extensions: {file_storage: {}, basicauth/server: {htpasswd: {inline: "a:b"}}}
service:
  extensions: [file_storage, basicauth/server]
  pipelines:
    traces: {receivers: [otlp], processors: [memory_limiter, redaction, attributes/pii, transform/hide, batch], exporters: [otlp/tempo]}
    metrics: {receivers: [otlp], processors: [memory_limiter, batch], exporters: [prometheusremotewrite]}
    logs: {receivers: [otlp], processors: [memory_limiter], exporters: [otlp/stored]}
`

/** The diff between the base config and the base with these replacements, whose texts must occur. */
function edited(...replacements: Array<[from: string, to: string]>) {
  let text = BASE
  for (const [from, to] of replacements) {
    expect(text).toContain(from)
    text = text.replace(from, () => to)
  }
  return diffConfigs({ baseText: BASE, targetText: text, workload: null, peers: [] })
}

const NEW_EXPORTER: [string, string] = [
  'exporters:\n',
  'exporters:\n  otlp/new: {endpoint: "elsewhere.example.net:4317"}\n',
]

describe('the risk of a change', () => {
  test.each<[string, string, string, Array<[string, string]>]>([
    [
      'an exporter to a new place',
      'high',
      'destination_added',
      [NEW_EXPORTER, ['[otlp/tempo]', '[otlp/tempo, otlp/new]']],
    ],
    [
      'data for an exporter that stood idle',
      'high',
      'destination_added',
      [['[otlp/tempo]', '[otlp/tempo, otlp/idle]']],
    ],
    [
      'another host, whatever the protocol',
      'high',
      'destination_changed',
      [['mimir.example.com', 'mimir.example.net']],
    ],
    ['another OTLP host', 'high', 'otlp_endpoint_changed', [['tempo.example.com', 'tempo2.example.com']]],
    [
      'a redaction that is gone',
      'high',
      'redaction_removed',
      [['memory_limiter, redaction,', 'memory_limiter,']],
    ],
    ['a deletion of attributes that is gone', 'high', 'redaction_removed', [[', attributes/pii', '']]],
    ['a pattern that is no longer blocked', 'high', 'redaction_weakened', [[', "[0-9]{9}"', '']]],
    [
      'an attribute that is no longer deleted',
      'high',
      'redaction_weakened',
      [['{key: user.email, action: delete}, ', '']],
    ],
    [
      'a statement that hides nothing any more',
      'high',
      'redaction_weakened',
      [['replace_pattern(body, "p=.*", "p=*")', 'set(body, "x")']],
    ],
    ['a higher memory limit', 'medium', 'memory_limit_raised', [['limit_mib: 512', 'limit_mib: 4096']]],
    ['a lower memory limit', 'medium', 'memory_limit_lowered', [['limit_mib: 512', 'limit_mib: 400']]],
    ['a queue that is off', 'medium', 'delivery_guard_weakened', [['enabled: true', 'enabled: false']]],
    [
      'a filter',
      'medium',
      'dropping_processor_added',
      [
        ['processors:\n', 'processors:\n  filter/x: {traces: {span: ["true"]}}\n'],
        ['[memory_limiter, redaction', '[filter/x, memory_limiter, redaction'],
      ],
    ],
    [
      'a sampler that keeps a tenth',
      'high',
      'sampling_rate_strongly_changed',
      [
        ['processors:\n', 'processors:\n  probabilistic_sampler: {sampling_percentage: 10}\n'],
        ['[memory_limiter, redaction', '[memory_limiter, probabilistic_sampler, redaction'],
      ],
    ],
    [
      'another id for an exporter that stores its queue',
      'medium',
      'stored_state_left_behind',
      [
        ['otlp/stored:', 'otlp/kept:'],
        ['[otlp/stored]', '[otlp/kept]'],
      ],
    ],
  ])('of %s is %s (%s %s)', (_, risk, rule, replacements) => {
    const result = edited(...replacements)
    expect(result.risk_items.filter((item) => item.rule === rule).map((item) => item.risk)).toEqual([risk])
    expect(result.summary.overall_risk).toBe(risk)
  })

  test.each<[string, Array<[string, string]>]>([
    ['an exporter that nothing uses', [NEW_EXPORTER]],
    [
      'an exporter that prints',
      [
        ['exporters:\n', 'exporters:\n  debug: {}\n'],
        ['[otlp/tempo]', '[otlp/tempo, debug]'],
      ],
    ],
    ['one more pattern that is blocked', [['"4[0-9]{15}"', '"4[0-9]{15}", "[a-z]+@"']]],
    ['an attribute that is no secret', [['value: a', 'value: b']]],
    ['a memory limiter that looks more often', [['check_interval: 1s', 'check_interval: 500ms']]],
  ])('of %s is low', (_, replacements) => {
    expect(edited(...replacements).summary.overall_risk).toBe('low')
  })

  it('of a new destination is told once, and never below that of a corrected host name', () => {
    const added = edited(NEW_EXPORTER, ['[otlp/tempo]', '[otlp/tempo, otlp/new]'])
    const corrected = edited(['tempo.example.com', 'tempo.example.org'])
    expect(added.risk_score.severity).toBe(corrected.risk_score.severity)
    expect(added.risk_items.filter(({ rule }) => rule === 'destination_added')).toEqual([
      expect.objectContaining({
        id: 'destination_added:exporters.otlp/new',
        category: 'security',
        affected_pipelines: ['traces'],
      }),
    ])
  })

  it('of another id for the same place is not that of a new destination', () => {
    const renamed = edited(
      ['otlp/tempo:', 'otlp/traces:'],
      ['sending_queue: {enabled: true}', 'sending_queue: {enabled: true, queue_size: 9}'],
      ['[otlp/tempo]', '[otlp/traces]'],
    )
    expect(renamed.risk_items.map(({ rule }) => rule)).not.toContain('destination_added')
  })

  it('of another id alone is low, and told as that', () => {
    const renamed = edited(['otlp/tempo:', 'otlp/traces:'], ['[otlp/tempo]', '[otlp/traces]'])
    expect(renamed.risk_items).toEqual([])
    expect(renamed.summary.overall_risk).toBe('low')
    expect(renamed.components).toMatchObject([
      { id: 'exporters:otlp/tempo', kind: 'removed', risk: 'low', rules: [], renamed_to: 'otlp/traces' },
      { id: 'exporters:otlp/traces', kind: 'added', risk: 'low', rules: [], renamed_from: 'otlp/tempo' },
    ])
    expect(renamed.pipelines).toMatchObject([
      {
        pipeline_key: 'traces',
        risk: 'low',
        component_ref_changes: [
          { component_id: 'otlp/tempo', kind: 'removed', is_renamed: true },
          { component_id: 'otlp/traces', kind: 'added', is_renamed: true },
        ],
      },
    ])
    expect(renamed.human_summary).toMatchObject([
      { text: 'Renames tempo exporter to traces', kind: 'modified', risk: 'low' },
      { kind: 'unchanged' },
      { kind: 'unchanged' },
    ])
  })

  test.each<[string, Array<[string, string]>]>([
    [
      'used by fewer pipelines',
      [
        ['\n  redaction:', '\n  batch/new: {timeout: 5s}\n  redaction:'],
        ['\n  batch: {timeout: 5s}', ''],
        ['transform/hide, batch]', 'transform/hide, batch/new]'],
        ['[memory_limiter, batch]', '[memory_limiter]'],
      ],
    ],
    [
      'moved to another place among processors',
      [
        ['attributes/pii:', 'attributes/private:'],
        ['attributes/pii, transform/hide', 'transform/hide, attributes/private'],
      ],
    ],
  ])('of another id is more than low where it is %s', (_, replacements) => {
    expect(edited(...replacements).summary.overall_risk).not.toBe('low')
  })

  it('of another id for an extension is low where all that refer to it use that', () => {
    const auth = [
      'grpc: {endpoint: "0.0.0.0:4317"',
      'grpc: {auth: {authenticator: basicauth/server}, endpoint: "0.0.0.0:4317"',
    ] as const
    const before = BASE.replace(...auth)
    const renamed = before.replaceAll('basicauth/server', 'basicauth/clients')
    const of = (baseText: string, targetText: string) =>
      diffConfigs({ baseText, targetText, workload: null, peers: [] }).summary.overall_risk
    expect(of(before, renamed)).toBe('low')
    expect(of(before, renamed.replace('authenticator: basicauth/clients', 'authenticator: other'))).toBe(
      'high',
    )
  })
})

describe('a line of the summary', () => {
  it('carries what was and what will be, with secrets masked', () => {
    const lines = edited(['timeout: 5s', 'timeout: 9s'], ['Bearer hunter2', 'Bearer hunter3']).human_summary
    expect(lines.filter(({ kind }) => kind === 'modified')).toMatchObject([
      { text: 'Changes tempo sensitive setting', before: MASK, after: MASK },
      { text: 'Changes batch timeout', before: '5s', after: '9s' },
    ])
    expect(JSON.stringify(lines)).not.toContain('hunter')
  })
})

describe('an address or a switch that is spelt otherwise', () => {
  const TEMPO = 'endpoint: tempo.example.com:4317'
  const QUEUE = 'sending_queue: {enabled: true}'
  test.each<[string, string, string, string]>([
    [TEMPO, 'traces_endpoint: "https://elsewhere.example.net/v1/traces"', 'high', 'destination_added'],
    [TEMPO, 'proxy_url: "http://elsewhere.example.net:3128"', 'high', 'destination_added'],
    [TEMPO, '"tls::insecure_skip_verify": true', 'high', 'transport_security_weakened'],
    [TEMPO, 'tls: {insecure_skip_verify: "true"}', 'high', 'transport_security_weakened'],
    [QUEUE, '"sending_queue::enabled": false', 'medium', 'delivery_guard_weakened'],
    [QUEUE, '"retry_on_failure::enabled": "off"', 'medium', 'delivery_guard_weakened'],
  ])('beside %s, %s, is told', (beside, added, risk, rule) => {
    const { summary, risk_items } = edited([beside, `${beside}\n    ${added}`])
    expect(summary.overall_risk).toBe(risk)
    expect(risk_items.map((item) => item.rule)).toContain(rule)
  })

  it('makes a new exporter one to a new place, whatever its endpoint is', () => {
    const added = NEW_EXPORTER[1]
      .replace('elsewhere.example.net', 'tempo.example.com')
      .replace('}', ', traces_endpoint: "https://elsewhere.example.net/v1/traces"}')
    const { summary, risk_items } = edited(
      ['exporters:\n', added],
      ['[otlp/tempo]', '[otlp/tempo, otlp/new]'],
    )
    expect(summary.overall_risk).toBe('high')
    expect(risk_items.map((item) => item.rule)).toContain('destination_added')
  })
})
