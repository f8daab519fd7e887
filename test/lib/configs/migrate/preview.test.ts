import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import {
  type MigrationInput,
  type MigrationResult,
  previewMigration,
} from '../../../../lib/configs/migrate/preview.ts'
import type { MigrationVendor } from '../../../../lib/wire/migration.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../../fixtures/migration/${name}`, import.meta.url), 'utf8')

const preview = (vendor: MigrationVendor, source: string, more: Partial<MigrationInput> = {}) =>
  previewMigration({ vendor, source, labels: {}, otlpEndpoint: '', ...more })

// biome-ignore lint/suspicious/noExplicitAny: the draft is read back as whatever it says.
const draftOf = (result: MigrationResult): any => parse(result.draft_yaml)

const attributesOf = (result: MigrationResult): Record<string, string> =>
  Object.fromEntries(
    (draftOf(result).processors.resource?.attributes ?? []).map((one: { key: string; value: string }) => [
      one.key,
      one.value,
    ]),
  )

const paths = (list: readonly { path?: string }[]) => list.map((one) => one.path)
const codes = (result: MigrationResult) => result.warnings.map((warning) => warning.code)
const rules = (result: MigrationResult) => result.evidence.map((one) => one.rule_id)

describe('a Datadog agent', () => {
  const result = preview('datadog_agent', fixture('datadog.yaml'))

  it('becomes a draft with its files, tags, statsd port and traces', () => {
    const draft = draftOf(result)
    expect(draft.receivers).toEqual({
      'filelog/datadog_logs_0': {
        include: ['/var/log/nginx/*.log'],
        resource: { 'muster.vendor.source': 'nginx', 'service.name': 'nginx' },
      },
      'filelog/datadog_logs_1': {
        include: ['C:\\app logs\\orders #1.log'],
        resource: { 'muster.vendor.source': 'on', 'service.name': 'null' },
      },
      otlp: { protocols: { grpc: {}, http: {} } },
      statsd: { endpoint: '0.0.0.0:8125' },
    })
    expect(draft.service.pipelines).toEqual({
      traces: { receivers: ['otlp'], processors: ['resource', 'batch'], exporters: ['otlp'] },
      metrics: { receivers: ['statsd'], processors: ['resource', 'batch'], exporters: ['otlp'] },
      logs: {
        receivers: ['filelog/datadog_logs_0', 'filelog/datadog_logs_1'],
        processors: ['resource', 'batch'],
        exporters: ['otlp'],
      },
    })
    expect(attributesOf(result)).toEqual({
      'deployment.environment': 'production',
      'deployment.environment.name': 'production',
      'muster.vendor.datadog.tag.region': 'eu-west-1',
      'muster.vendor.datadog.tag.team': 'checkout',
    })
    expect(result.draft_yaml).toContain('endpoint: ${OTLP_EXPORT_ENDPOINT}\n')
  })

  it('says what it did, what it could not do and what it left out', () => {
    expect(result).toMatchObject({
      schema_version: 'config_migration_preview.v1',
      vendor: 'datadog_agent',
      source_format: 'yaml',
      draft_name: 'Migrated Datadog Agent draft',
      confidence: 'medium',
      save_hint: {
        kind: 'draft',
        source_type: 'migration_assistant',
        tags: ['migration', 'datadog_agent'],
        category: 'migration',
        stack: 'datadog',
      },
    })
    expect(codes(result)).toEqual(['partial_conversion', 'datadog_site_not_exporter', 'datadog_apm_partial'])
    expect(paths(result.unsupported_keys)).toEqual([
      'hostname',
      'tags[3]',
      'tags[4]',
      'logs_enabled',
      'logs_config.container_collect_all',
      'proxy',
      'additional_endpoints',
      'apm_config.apm_non_local_traffic',
      'logs[0].sourcecategory',
      'logs[2].type',
      'logs[2].port',
      'logs[2].service',
    ])
    expect(paths(result.redactions)).toEqual(['api_key', 'app_key', 'additional_endpoints', 'tags[2]'])
    expect(result.redactions[0]!.placeholder).toBe('${DATADOG_API_KEY}')
    expect(rules(result)).toContain('datadog.logs.file.path_to_filelog.include')
    expect(result.summary).toBe(
      '11 settings carried over, 3 warnings, 12 unsupported keys, 4 secrets left out',
    )
  })

  it.each(['0', '65536', '08125', '81 25', '8125\\n  x: y', '0x1F', '"8125\\", evil: \\"1"', '-1'])(
    'takes no port from %j',
    (port) => {
      const { unsupported_keys, draft_yaml } = preview('datadog_agent', `env: a\ndogstatsd_port: "${port}"\n`)
      expect(draft_yaml).not.toContain('statsd')
      expect(draft_yaml).not.toContain('evil')
      // A text that is no YAML has no keys to report.
      if (unsupported_keys.length > 0) expect(unsupported_keys[0]!.reason).toContain('1 to 65535')
    },
  )

  it('knows the environment by its tag, and sends to a URL over HTTP', () => {
    const sent = (otlpEndpoint: string) =>
      draftOf(preview('datadog_agent', 'tags: ["env:prod"]', { otlpEndpoint })).exporters
    expect(attributesOf(preview('datadog_agent', 'tags: ["env:prod"]'))).toEqual({
      'deployment.environment.name': 'prod',
    })
    // The example that the page shows.
    expect(sent('https://otlp.example.com:4318')).toEqual({
      otlphttp: { endpoint: 'https://otlp.example.com:4318' },
    })
    expect(sent('https://otlp.example.com/otlp')).toEqual({
      otlphttp: { endpoint: 'https://otlp.example.com/otlp' },
    })
    expect(sent('https://otlp.example.com:4317')).toEqual({
      otlp: { endpoint: 'https://otlp.example.com:4317' },
    })
    expect(sent('otlp.example.com:4317')).toEqual({ otlp: { endpoint: 'otlp.example.com:4317' } })
  })

  it('reads tags that are one text', () => {
    expect(attributesOf(preview('datadog_agent', 'tags: team:a, tier:b c'))).toEqual({
      'muster.vendor.datadog.tag.team': 'a',
      'muster.vendor.datadog.tag.tier': 'b',
    })
  })
})

describe('Fluent Bit', () => {
  const result = preview('fluent_bit', fixture('fluent-bit.conf'))

  it('becomes a draft with its tailed files and fixed values, each value of its own type kept', () => {
    expect(draftOf(result).receivers).toEqual({
      'filelog/fluentbit_tail_0': {
        include: ['/var/log/containers/*.log', '/var/log/pods/*.log'],
        operators: [{ type: 'json_parser' }],
      },
    })
    expect(attributesOf(result)).toEqual({
      'muster.vendor.fluentbit.cluster': 'prod eu',
      'muster.vendor.fluentbit.hostname': '${HOSTNAME}',
      'muster.vendor.fluentbit.version': '1.10',
    })
  })

  it('names inputs, filters, outputs and settings that it leaves out', () => {
    expect(codes(result)).toEqual(['partial_conversion', 'fluentbit_kubernetes_filter_partial'])
    expect(paths(result.unsupported_keys)).toEqual([
      '[SERVICE]',
      '[INPUT].db',
      '[INPUT].mem_buf_limit',
      '[INPUT] Name cpu',
      '[FILTER].rename',
      '[FILTER] Name grep',
      '[PARSER]',
      '[OUTPUT] Name es',
    ])
    expect(rules(result)).toContain('fluentbit.output.to_otlp_exporter_hint')
    expect(result.confidence).toBe('medium')
  })

  it('copies no secret, neither behind an operation nor a second time elsewhere', () => {
    expect(paths(result.redactions)).toEqual([
      'SERVICE.SPLUNK_TOKEN',
      'FILTER.Kube_Token_File',
      'FILTER.add.password',
      'OUTPUT.header.Authorization',
      'OUTPUT.HTTP_Passwd',
      '[FILTER].add.password',
      '[FILTER].record.note',
    ])
    expect(JSON.stringify(result)).not.toMatch(/s3cret|set-secret|fb-bearer|es-secret/)
  })
})

describe('a Splunk forwarder', () => {
  const result = preview('splunk_forwarder', fixture('splunk.ini'))

  it('becomes a draft that sends to the collector named anywhere in the file', () => {
    const draft = draftOf(result)
    expect(draft.receivers).toEqual({
      'filelog/splunk_monitor_0': {
        include: ['/var/log/**/access.log'],
        resource: { 'host.name': 'web-01', 'splunk.index': 'web', 'splunk.sourcetype': 'access_combined' },
      },
      'filelog/splunk_monitor_1': {
        include: ['C:\\inetpub\\logs'],
        resource: { 'splunk.index': 'null', 'splunk.sourcetype': 'iis' },
      },
    })
    expect(draft.exporters).toEqual({
      splunk_hec: {
        token: '${SPLUNK_HEC_TOKEN}',
        endpoint: 'https://hec.example.com:8088/services/collector?channel=web&token=${REDACTED_SECRET}#main',
      },
    })
    expect(draft.service.pipelines.logs.exporters).toEqual(['splunk_hec'])
  })

  it('prefers that collector to the endpoint of the request', () => {
    const both = preview('splunk_forwarder', fixture('splunk.ini'), { otlpEndpoint: 'otlp.example.com:4317' })
    expect(Object.keys(draftOf(both).exporters)).toEqual(['splunk_hec'])
    const after = '[monitor:///a]\nindex = x\n[hec]\nuri = https://h.example.com\n'
    expect(draftOf(preview('splunk_forwarder', after)).service.pipelines.logs.exporters).toEqual([
      'splunk_hec',
    ])
  })

  it('leaves out disabled monitors, computed hosts and rules, and says so', () => {
    expect(codes(result)).toEqual(['partial_conversion', 'splunk_monitor_disabled'])
    expect(rules(result)).toContain('splunk.monitor.disabled.skip')
    expect(paths(result.unsupported_keys)).toEqual([
      '[tcpout]',
      '[tcpout:indexers]',
      '[default]',
      '[monitor:///var/log/.../access.log].crcsalt',
      '[monitor://C:\\inetpub\\logs].host',
      '[source::/var/log/app.log].TZ',
      '[source::/var/log/app.log].SEDCMD-MASK',
      '[http://app]',
    ])
    expect(paths(result.redactions)).toEqual([
      'httpout.httpEventCollectorToken',
      'tcpout:indexers.sslPassword',
      'http://app.token',
      '[httpout].uri.userinfo',
      '[httpout].uri.query.token',
    ])
  })
})

describe('a New Relic infrastructure agent', () => {
  const result = preview('new_relic_infra', fixture('newrelic.yml'))

  it('becomes a draft with its name, attributes, log file and host metrics', () => {
    expect(draftOf(result).receivers).toEqual({
      'filelog/newrelic_log_0': { include: ['/var/log/newrelic-infra/newrelic-infra.log'] },
      hostmetrics: { collection_interval: '60s', scrapers: { cpu: {}, memory: {}, filesystem: {} } },
    })
    expect(attributesOf(result)).toEqual({
      'cost.center': '0042',
      environment: 'production',
      'host.name': 'web-01.example.com',
    })
  })

  it('takes the first switched-on metric and lists the rest', () => {
    expect(codes(result)).toEqual(['partial_conversion', 'newrelic_metrics_partial'])
    expect(paths(result.unsupported_keys)).toEqual([
      'verbose',
      'proxy',
      'metrics_storage_sample_rate',
      'metrics_network_sample_rate',
      'custom_attributes.bad key',
      'custom_attributes.nested',
    ])
    expect(paths(result.redactions)).toEqual([
      'license_key',
      'api_token',
      'custom_attributes.api_token',
      'custom_attributes.note',
    ])
    expect(JSON.stringify(result)).not.toMatch(/nr-license-secret|nr-proxy-secret|attr-secret/)
  })
})

describe('previewMigration', () => {
  it.each([
    ['datadog_agent', 'key: [unclosed'],
    ['datadog_agent', 'just words'],
    ['datadog_agent', '- a\n- b'],
    ['datadog_agent', 'a: 1\na: 2'],
    ['new_relic_infra', '\t- {'],
    ['fluent_bit', 'no sections here'],
    ['splunk_forwarder', 'key = value'],
  ] as const)('answers %s %j with a skeleton of low confidence', (vendor, source) => {
    const result = preview(vendor, source)
    expect(codes(result)).toEqual(['partial_conversion', 'parse_fallback'])
    expect(result.confidence).toBe('low')
    expect(draftOf(result)).toEqual({
      receivers: { otlp: { protocols: { grpc: {}, http: {} } } },
      processors: { batch: {} },
      exporters: { otlp: { endpoint: '${OTLP_EXPORT_ENDPOINT}' } },
      service: { pipelines: { traces: { receivers: ['otlp'], processors: ['batch'], exporters: ['otlp'] } } },
    })
  })

  it('is sure of itself when everything was carried over', () => {
    expect(preview('new_relic_infra', 'display_name: web-01').confidence).toBe('high')
    expect(preview('new_relic_infra', 'verbose: 1').confidence).toBe('low')
  })

  it('puts the labels of the request on everything, and its endpoint without credentials into the exporter', () => {
    const result = preview('new_relic_infra', 'display_name: a', {
      labels: {
        team: 'checkout',
        'bad key': 'x',
        api_key: 'label-secret',
        empty: ' ',
        note: 'has label-secret',
      },
      otlpEndpoint: 'https://user:otlp-secret@otlp.example.com:4317/v1?token=q-secret&x=1',
    })
    expect(attributesOf(result)).toEqual({ 'host.name': 'a', team: 'checkout' })
    expect(draftOf(result).exporters.otlp.endpoint).toBe(
      'https://otlp.example.com:4317/v1?token=${REDACTED_SECRET}&x=1',
    )
    expect(paths(result.redactions)).toEqual([
      'context.otlp_endpoint.userinfo',
      'context.otlp_endpoint.query.token',
      'labels.api_key',
      'labels.note',
    ])
    expect(paths(result.unsupported_keys)).toEqual(['labels.bad key'])
    expect(JSON.stringify(result)).not.toMatch(/label-secret|otlp-secret|q-secret/)
  })

  it.each(['two words', 'http://', '"quoted"', 'a\nb', '{a}'])(
    'does not take %j for an endpoint',
    (otlpEndpoint) => {
      const result = preview('new_relic_infra', 'display_name: a', { otlpEndpoint })
      expect(codes(result)).toContain('endpoint_invalid')
      expect(result.draft_yaml).toContain('endpoint: ${OTLP_EXPORT_ENDPOINT}')
    },
  )

  it('keeps every value as the text it was, whatever YAML or the collector would make of it', () => {
    const awkward = fc.oneof(
      fc.constantFrom(
        'null',
        'true',
        'no',
        '~',
        '1e3',
        '0o17',
        '0042',
        '2026-01-01',
        ': x',
        '- a',
        '#c',
        "it's",
        '"q"',
      ),
      fc.constantFrom(
        'a\nb',
        'a\tb',
        '\u0085',
        '\u2028',
        '\ud800',
        '\u0000',
        '😀',
        '{{x}}',
        '&a *b !c',
        '%',
        '@',
        '`',
      ),
      fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }),
    )
    fc.assert(
      fc.property(awkward, (value) => {
        const result = preview('new_relic_infra', 'verbose: 1', { labels: { key: value } })
        const kept = attributesOf(result)['key']
        if (kept === undefined) {
          expect(value.trim() === '' || result.redactions.length > 0).toBe(true)
        } else {
          const expanded = kept.replaceAll('$$', '\u0000$').replaceAll('\u0000$', '$')
          expect(expanded).toBe(value.replace(/\p{Surrogate}/gu, '\uFFFD').replaceAll('$$', '$'))
        }
      }),
      { seed: 5, numRuns: 400 },
    )
  })

  it('leaves variables to the collector and keeps every other dollar sign as it is', () => {
    const labels = {
      a: '${HOSTNAME}',
      b: '${env:POD_NAME}',
      c: 'cost $5',
      d: '${file:/etc/passwd}',
      e: '$HOME',
    }
    const { draft_yaml } = preview('new_relic_infra', 'verbose: 1', { labels })
    expect(draft_yaml).toContain('value: "${HOSTNAME}"')
    expect(draft_yaml).toContain('value: "${env:POD_NAME}"')
    expect(draft_yaml).toContain('value: "cost $$5"')
    expect(draft_yaml).toContain('value: "$${file:/etc/passwd}"')
    expect(draft_yaml).toContain('value: "$$HOME"')
  })

  it('gives the same answer to the same source', () => {
    for (const [vendor, name] of [
      ['datadog_agent', 'datadog.yaml'],
      ['fluent_bit', 'fluent-bit.conf'],
      ['splunk_forwarder', 'splunk.ini'],
      ['new_relic_infra', 'newrelic.yml'],
    ] as const) {
      expect(preview(vendor, fixture(name))).toEqual(preview(vendor, fixture(name)))
    }
  })

  it('cuts what would be endless, and takes a hostile megabyte in its stride', () => {
    const many = preview('datadog_agent', Array.from({ length: 3_000 }, (_, i) => `k${i}: v`).join('\n'))
    expect(many.unsupported_keys).toHaveLength(1_000)
    expect(codes(many)).toContain('answer_truncated')
    const size = 1_000_000
    for (const [vendor, source] of [
      ['splunk_forwarder', `[monitor:///a]\nindex =${' '.repeat(size)}x`],
      ['splunk_forwarder', `[monitor:///a]\n${' '.repeat(size)}`],
      ['fluent_bit', `[INPUT]\nName${' '.repeat(size)}\u2028`],
      ['fluent_bit', `[FILTER]\nName modify\nAdd k ${'//:'.repeat(size / 3)}`],
      ['fluent_bit', `[FILTER]\nName modify\nAdd k ${'eyJ-'.repeat(size / 4)}`],
      ['splunk_forwarder', `[a]\n${'token=abcd1\n'.repeat(size / 12)}`],
      ['splunk_forwarder', `[a]\n${Array.from({ length: 50_000 }, (_, i) => `token=v${i}`).join('\n')}`],
      ['fluent_bit', '\n'.repeat(size)],
    ] as const) {
      // Whatever looks at each letter of it for each other one takes for longer than a test may.
      preview(vendor, source)
    }
  })
})

describe('secrets', () => {
  const SECRET_KEYS = [
    'api_key',
    'apikey',
    'API-KEY',
    'token',
    'license_key',
    'password',
    'client_secret',
    'app_key',
    // What else the redactor takes for secret.
    'pwd',
    'pass',
    'psk',
    'sig',
    'signature',
    'jwt',
    'pat',
    'sas',
    'community',
    'ingest_key',
    'cert_pem',
    'conn_str',
    'x-honeycomb-team',
    'passWord',
  ]
  const key = fc.constantFrom(...SECRET_KEYS)
  // Long enough that it cannot occur in an answer by chance.
  const secret = fc
    .string({ minLength: 12, maxLength: 30, unit: fc.constantFrom(...'abcXYZ0189-_.+/') })
    .map((text) => `Q${text}Q`)
  const yaml = (text: string) => JSON.stringify(text)

  const sources: Record<MigrationVendor, (key: string, secret: string) => string[]> = {
    datadog_agent: (k, s) => [
      `env: prod\n${k}: ${s}\n`,
      `env: prod\n${k}: ${yaml(s)}\nhostname: ${yaml(`has ${s}`)}\n`,
      `logs_config:\n  ${k}: ${yaml(s)}\n  ${s}: 1\ntags: ["${k}:${s}", ${yaml(`a:${s}`)}]\n`,
      `apm_config: {enabled: true, ${k}: ${yaml(s)}}\nenv: ${yaml(s)}\n`,
      `${k}: |\n  first ${s}\n  ${s}\nenv: ${yaml(`first ${s}`)}\n`,
      `additional_endpoints:\n  "https://x.example.com": [${yaml(s)}]\nenv: ${yaml(s)}\n`,
      `proxy:\n  https: http://u:${encodeURIComponent(s)}@p.example.com\nenv: ${yaml(encodeURIComponent(s))}\n`,
      `logs:\n  - type: file\n    path: ${yaml(`/var/${s}`)}\n    service: ${yaml(s)}\n    ${k}: ${yaml(s)}\n`,
      `${k}: ${s}\nbroken: [\n`,
      `# ${k}: ${s}\nenv: ${yaml(s)}\n`,
    ],
    fluent_bit: (k, s) => [
      `[FILTER]\nName modify\nAdd ${k} ${s}\nAdd other ${s}\n`,
      `[FILTER]\nName record_modifier\nRecord ${k} "${s}"\nRecord other x${s}x\n`,
      `[OUTPUT]\nName http\n${k} ${s}\nHost ${s}\n[INPUT]\nName tail\nPath /var/${s}\n`,
      `[OUTPUT]\nName es\nHeader ${k} ${s}\n[FILTER]\nName ${s}\n`,
      `[INPUT]\nName tail\nPath /a.log\n${k}=${s}\nTag ${s}\n${s} x\n`,
      `@SET ${k}=${s}\n[FILTER]\nName modify\nSet a ${s}\n`,
      `[FILTER]\nName modify\nAdd note ${k}=${s}\n`,
      `${k} ${s}\n`,
    ],
    splunk_forwarder: (k, s) => [
      `[httpout]\n${k} = ${s}\nuri = https://u:${encodeURIComponent(s)}@h.example.com/?${k}=${encodeURIComponent(s)}\n`,
      `[monitor:///var/log/a]\nindex = ${s}\nhost = x-${s}\n${k} = ${s}\n`,
      `[monitor:///var/${s}]\nindex = a\n${s} = 1\n[default]\n${k} = "${s}"\n`,
      `[source::${s}]\n${s} = 1\n[x]\n${k} = ${s}\n`,
      `[${s}]\na = 1\n[x]\n${k}=${s}\n`,
    ],
    new_relic_infra: (k, s) => [
      `${k}: ${s}\ndisplay_name: ${yaml(s)}\n`,
      `custom_attributes:\n  ${k}: ${yaml(s)}\n  other: ${yaml(`-${s}-`)}\n  ${s}: x\n`,
      `custom_attributes:\n  ${k}:\n    deep: [${yaml(s)}]\nlog_file: ${yaml(s)}\n`,
      `display_name: ${yaml(`${k}=${s}`)}\n`,
      `proxy: https://u:${encodeURIComponent(s)}@p.example.com\ndisplay_name: ${yaml(encodeURIComponent(s))}\n`,
    ],
  }

  it.each(Object.entries(sources))(
    'of a %s source never appear in any part of an answer',
    (vendor, write) => {
      fc.assert(
        fc.property(key, secret, (k, s) => {
          for (const source of write(k, s)) {
            const answer = preview(vendor as MigrationVendor, source, {
              labels: { [k]: s, other: s },
              otlpEndpoint: `https://u:${encodeURIComponent(s)}@o.example.com/?${k}=${encodeURIComponent(s)}`,
            })
            const text = JSON.stringify(answer)
            expect(text, source).not.toContain(s)
            expect(text, source).not.toContain(encodeURIComponent(s))
            expect(draftOf(answer).service.pipelines, source).toBeTruthy()
            // The same without the labels, by whose names the secret could have been recognised.
            expect(JSON.stringify(preview(vendor as MigrationVendor, source)), source).not.toContain(s)
          }
        }),
        { seed: 9, numRuns: 60 },
      )
    },
  )

  it.each([
    'ingested-by-key AIza0123456789abcdefghijklmnopqrstuvw',
    'dt0c01.ABCDEFGHIJKLMNOPQRSTUVWX.ABCDEFGH',
    'glsa_abcdefghijklmnop_1234',
    'reached by --pwd hunter2hunter2',
    'with psk: hunter2hunter2',
  ])('are known by their form as well: %s', (value) => {
    const answer = preview('new_relic_infra', `custom_attributes:\n  note: ${yaml(value)}\n  kept: plain\n`)
    expect(attributesOf(answer)).toEqual({ kept: 'plain' })
    expect(JSON.stringify(answer)).not.toContain(value)
  })

  it('are not seen in what only looks unusual', () => {
    const values = [
      'https://a.example.com/x?b=2&a=1#part',
      'ops@example.com',
      'signals',
      'a: b, c=d',
      'C:\\logs',
    ]
    for (const value of values) {
      const answer = preview('new_relic_infra', `custom_attributes:\n  note: ${yaml(value)}\n`)
      expect(Object.values(attributesOf(answer))).toEqual([value])
    }
  })
})
