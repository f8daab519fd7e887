import { describe, expect, it, test } from 'vitest'
import type { ConfigTarget } from '../../../../lib/configs/check/target.ts'
import {
  evaluatePolicy,
  type PolicyRequest,
  policyForWorkload,
} from '../../../../lib/configs/policy/policy.ts'
import { hostOf } from '../../../../lib/configs/policy/rules.ts'

const SAFE = `receivers:
  otlp:
    protocols: {grpc: {endpoint: "0.0.0.0:4317"}}
processors:
  memory_limiter: {check_interval: 1s, limit_mib: 512}
  resource: {attributes: [{key: team, value: core, action: upsert}]}
  probabilistic_sampler: {sampling_percentage: 10}
  batch:
exporters:
  otlp/backend: {endpoint: "https://ingest.allowed.example:4317"}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [memory_limiter, batch], exporters: [otlp/backend]}
`
const UNSAFE = `receivers:
  otlp:
processors:
  probabilistic_sampler: {sampling_percentage: 0.01}
  tail_sampling:
    policies: [{name: a, type: probabilistic, probabilistic: {sampling_percentage: 500}}]
exporters:
  otlp: {endpoint: "collector.evil.example:4317", tls: {Insecure: true}}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [otlp]}
`

const evaluate = (given: Partial<PolicyRequest>) =>
  evaluatePolicy({
    candidate: SAFE,
    current: null,
    isProduction: true,
    target: { environment: 'prod', scope: 'workload', workload_id: 'w1' },
    settings: { allowed_otlp_endpoints: ['https://allowed.example'], required_resource_attributes: ['team'] },
    ...given,
  })
const found = (given: Partial<PolicyRequest>) =>
  evaluate(given).findings.map(({ rule_id, path }) => [rule_id, path])

describe('a production config', () => {
  it('passes when it is safe', () => {
    expect(evaluate({ current: SAFE })).toMatchObject({
      schema_version: 'config-policy.v1',
      valid: true,
      allowed: true,
      decision: 'pass',
      severity: 'info',
      findings: [],
      summary: { pass_count: 11, warn_count: 0, block_count: 0 },
      settings: { sampling: { min_percentage: 0.1, max_percentage: 100 } },
      audit: { persisted: false, event: 'config.policy.evaluate' },
    })
  })

  it('is blocked by every rule that it breaks, sorted, at the known paths', () => {
    const evaluation = evaluate({ candidate: UNSAFE, current: SAFE })
    expect(evaluation).toMatchObject({ allowed: false, decision: 'block', severity: 'critical' })
    expect(found({ candidate: UNSAFE, current: SAFE })).toEqual([
      ['community.exporters.critical_removal', 'service.pipelines.traces.exporters'],
      ['community.exporters.otlp_endpoint.allowlist', 'exporters.otlp.endpoint'],
      ['community.pipelines.batch.required', 'service.pipelines.traces.processors'],
      ['community.processors.memory_limiter.required', 'processors.memory_limiter'],
      ['community.production.insecure_tls', 'exporters.otlp.tls.insecure'],
      ['community.resource.attributes.required', 'processors.resource.attributes'],
      ['community.sampling.percentage.safe_range', 'processors.probabilistic_sampler.sampling_percentage'],
      [
        'community.sampling.percentage.safe_range',
        'processors.tail_sampling.policies[0].probabilistic.sampling_percentage',
      ],
    ])
  })

  it('gets an answer without endpoints and values of the draft', () => {
    expect(JSON.stringify(evaluate({ candidate: UNSAFE, current: SAFE }))).not.toMatch(/evil|0\.01|ingest/)
  })

  it('is blocked with severity warning by sampling alone', () => {
    const candidate = SAFE.replace('sampling_percentage: 10', 'sampling_percentage: "0"')
    expect(evaluate({ candidate })).toMatchObject({ decision: 'block', severity: 'warning' })
  })

  it('is blocked for the memory limiter only when it is empty', () => {
    expect(found({ candidate: '{}', settings: {} })).toEqual([
      ['community.processors.memory_limiter.required', 'processors.memory_limiter'],
    ])
  })
})

describe('a production config that hides from the rules', () => {
  const exporter = (text: string) => SAFE.replace(/ {2}otlp\/backend:.*\n/, () => `  otlp/backend: ${text}\n`)
  const ALLOWED = 'endpoint: "https://ingest.allowed.example:4317"'
  const ALLOWLIST = 'community.exporters.otlp_endpoint.allowlist'
  const HIDDEN = 'community.production.expansion'
  const at = 'exporters.otlp/backend'

  test.each([
    [
      'a signal’s own endpoint',
      `{${ALLOWED}, traces_endpoint: "https://evil.example/v1/traces"}`,
      [ALLOWLIST, `${at}.traces_endpoint`],
    ],
    [
      'every signal’s own endpoint',
      `{profiles_endpoint: "https://evil.example"}`,
      [ALLOWLIST, `${at}.profiles_endpoint`],
    ],
    [
      'an endpoint further down',
      `{${ALLOWED}, client: {endpoint: "evil.example:4317"}}`,
      [ALLOWLIST, `${at}.client.endpoint`],
    ],
    ['an endpoint from the environment', '{endpoint: "${env:WHERE}"}', [ALLOWLIST, `${at}.endpoint`]],
    [
      'a host with an expansion behind it',
      '{endpoint: "https://allowed.example${env:MORE}"}',
      [ALLOWLIST, `${at}.endpoint`],
    ],
    [
      'a target of gRPC behind a name server',
      '{endpoint: "dns://allowed.example/evil.example:4317"}',
      [ALLOWLIST, `${at}.endpoint`],
    ],
    [
      'a switch inside a key, which the collector takes apart',
      `{${ALLOWED}, "tls::insecure": true}`,
      ['community.production.insecure_tls', `${at}.tls.insecure`],
    ],
    [
      'certificates that are not verified, inside a key',
      `{${ALLOWED}, "tls::insecure_skip_verify": true}`,
      ['community.production.tls_verification', `${at}.tls::insecure_skip_verify`],
    ],
    [
      'a switch with a default, inside a key',
      `{${ALLOWED}, "tls::insecure": "\${env:NO:-true}"}`,
      [HIDDEN, `${at}.tls::insecure`],
    ],
    [
      'an endpoint inside a key',
      `{${ALLOWED}, "a::traces_endpoint": "https://evil.example"}`,
      [ALLOWLIST, `${at}.a::traces_endpoint`],
    ],
    [
      'an exporter that sends OTLP to many hosts',
      `{${ALLOWED}}\n  loadbalancing: {resolver: {static: {hostnames: ["a.allowed.example:4317", "evil.example:4317"]}}}`,
      [ALLOWLIST, 'exporters.loadbalancing.resolver.static.hostnames[1]'],
    ],
    [
      'an exporter that asks a name server where to send OTLP',
      `{${ALLOWED}}\n  loadbalancing/x: {resolver: {dns: {hostname: evil.example}}}`,
      [ALLOWLIST, 'exporters.loadbalancing/x.resolver.dns.hostname'],
    ],
    [
      'OTLP in another form',
      `{${ALLOWED}}\n  otelarrow: {endpoint: "evil.example:4317"}`,
      [ALLOWLIST, 'exporters.otelarrow.endpoint'],
    ],
    ['a whole exporter', '"${yaml:{endpoint: evil.example, tls: {insecure: true}}}"', [HIDDEN, at]],
    ['a whole exporter from the environment', '"${env:EXPORTER}"', [HIDDEN, at]],
    [
      'a switch with a default',
      `{${ALLOWED}, tls: {insecure: "\${env:NO:-true}"}}`,
      [HIDDEN, `${at}.tls.insecure`],
    ],
    ['a whole tls', `{${ALLOWED}, tls: "\${env:TLS}"}`, [HIDDEN, `${at}.tls`]],
    [
      'YAML in any setting',
      `{${ALLOWED}, sending_queue: "\${yaml:{a: b}}"}`,
      [HIDDEN, `${at}.sending_queue`],
    ],
    [
      'a switch as a text',
      `{${ALLOWED}, tls: {insecure: "true"}}`,
      ['community.production.insecure_tls', `${at}.tls.insecure`],
    ],
    [
      'certificates that are not verified',
      `{${ALLOWED}, tls: {insecure_skip_verify: true}}`,
      ['community.production.tls_verification', `${at}.tls.insecure_skip_verify`],
    ],
    [
      'plain HTTP to an allowed host',
      '{endpoint: "HTTP://ingest.allowed.example:4318"}',
      ['community.production.plain_http', `${at}.endpoint`],
    ],
    [
      'plain HTTP of one signal',
      `{${ALLOWED}, logs_endpoint: "http://allowed.example/v1/logs"}`,
      ['community.production.plain_http', `${at}.logs_endpoint`],
    ],
  ])('is blocked: %s', (_, text, hit) => {
    const candidate = exporter(text)
    expect(candidate).not.toBe(SAFE)
    expect(found({ candidate })).toEqual([hit])
  })

  test.each([
    ['all exporters', /exporters:\n.*\n/, 'exporters: "${file:/etc/exporters.yaml}"\n', 'exporters'],
    ['a pipeline', /traces: \{.*\}/, 'traces: "${env:TRACES}"', 'service.pipelines.traces'],
    ['all pipelines', /pipelines:\n.*\n/, 'pipelines: "${env:PIPELINES}"\n', 'service.pipelines'],
    [
      'a receiver’s protocols',
      /protocols: .*\n/,
      'protocols: "${env:PROTOCOLS}"\n',
      'receivers.otlp.protocols',
    ],
    [
      'a sampling percentage',
      /sampling_percentage: 10/,
      'sampling_percentage: "${env:SHARE}"',
      'processors.probabilistic_sampler.sampling_percentage',
    ],
    [
      'a sampler',
      /probabilistic_sampler: .*\n/,
      'tail_sampling: {policies: ["${env:POLICY}"]}\n',
      'processors.tail_sampling.policies[0]',
    ],
  ])('is blocked where only the collector knows %s', (_, place, text, path) => {
    const candidate = SAFE.replace(place, () => text)
    expect(candidate).not.toBe(SAFE)
    expect(found({ candidate })).toContainEqual([HIDDEN, path])
  })

  it('passes with expansions where nothing is judged, escaped ones, and plain HTTP that no list is kept for', () => {
    const headers = 'headers: {api-key: "${env:KEY}", note: "$${yaml:x}"}, timeout: "${env:T:-5s}"'
    const path = 'endpoint: "https://ingest.allowed.example/${env:TENANT}"'
    expect(
      found({ candidate: exporter(`{${path}, ${headers}, tls: {insecure: false, ca_file: "\${env:CA}"}}`) }),
    ).toEqual([])
    const settings = {}
    expect(found({ candidate: exporter('{endpoint: "http://gateway:4318"}'), settings })).toEqual([])
    expect(found({ candidate: exporter('{endpoint: "${env:WHERE}"}'), settings })).toEqual([])
  })

  it('is told of a rule without the values of the draft', () => {
    const candidate = exporter('{endpoint: "https://evil.example", tls: "${yaml:{hunter2: 1}}"}')
    expect(JSON.stringify(evaluate({ candidate }).findings)).not.toMatch(/evil|hunter2/)
  })
})

describe('any config', () => {
  it('that is not production breaks no rule', () => {
    expect(evaluate({ candidate: UNSAFE, current: SAFE, isProduction: false })).toMatchObject({
      decision: 'pass',
      summary: { pass_count: 1 },
    })
  })

  it('that is not YAML is judged no further', () => {
    const evaluation = evaluate({ candidate: 'a: [', isProduction: false })
    expect(evaluation).toMatchObject({
      valid: false,
      decision: 'block',
      summary: { pass_count: 0, block_count: 1 },
    })
    expect(evaluation.findings.map(({ rule_id, path }) => [rule_id, path])).toEqual([
      ['community.yaml.parse', ''],
    ])
  })

  it('may lose an exporter that is not on the list of critical ones', () => {
    const settings = { critical_exporters: ['otlp/backend'] }
    const current = SAFE.replace('exporters: [otlp/backend]', 'exporters: [otlp/backend, debug]')
    expect(found({ current, settings, isProduction: false })).toEqual([])
    expect(found({ candidate: UNSAFE, current, settings, isProduction: false })).toHaveLength(1)
  })

  it('is told which exporter goes, from which pipeline, and what can be done about it', () => {
    const current = SAFE.replace(/^ {4}traces:/m, '    logs:')
    const candidate = current.replace('exporters: [otlp/backend]', 'exporters: [debug]')
    const critical = (settings: object) =>
      evaluate({ candidate, current, settings }).findings.find(({ rule_id }) => /critical/.test(rule_id))!
    expect(critical({})).toMatchObject({
      path: 'service.pipelines.logs.exporters',
      component: 'otlp/backend',
      message: 'logs no longer sends to otlp/backend, and no other pipeline does.',
    })
    expect(critical({}).remediation).toMatch(
      /^Keep otlp.backend in a pipeline\. MUSTER_POLICY_CRITICAL_EXPORTERS of the service lists none/,
    )
    expect(critical({ critical_exporters: ['otlp/backend'] }).remediation).toBe(
      'Keep otlp/backend in a pipeline. otlp/backend is listed in MUSTER_POLICY_CRITICAL_EXPORTERS of the service.',
    )
  })

  it('is told of an exporter that only has another name now as that, and not as a loss', () => {
    const candidate = SAFE.replaceAll('otlp/backend', 'otlp/other')
    const finding = evaluate({ candidate, current: SAFE, settings: {} }).findings.find(({ rule_id }) =>
      /critical/.test(rule_id),
    )
    expect(finding).toMatchObject({
      path: 'exporters.otlp/other',
      message: 'otlp/backend is called otlp/other now, with the same settings; the policy goes by names.',
    })
    expect(finding!.remediation).toMatch(/^Keep the name otlp.backend\. MUSTER_POLICY_CRITICAL_EXPORTERS/)
  })

  it('is held to sampling bounds that the caller asks for', () => {
    const settings = { sampling: { min_percentage: 20, max_percentage: 0 } }
    expect(found({ settings, isProduction: false })).toEqual([
      ['community.sampling.percentage.safe_range', 'processors.probabilistic_sampler.sampling_percentage'],
    ])
  })
})

describe('the request for a workload', () => {
  const target: ConfigTarget = {
    workloadId: 'w1',
    displayName: 'w',
    type: 'collector',
    version: '',
    status: 'connected',
    labels: { env: 'staging' },
    trustedLabels: {},
    acceptsRemoteConfig: true,
    instances: [],
    lastKnownComponents: null,
    activeConfigHash: null,
    failedHashes: new Set(),
    failing: new Map(),
  }
  const server = { otlpAllowlist: ['a'], criticalExporters: ['b'], requiredResourceAttributes: ['c'] }
  const request = (
    approval: { targetEnv: string; targetGroup: string; prodTarget?: boolean },
    given = target,
  ) => policyForWorkload(given, { candidate: SAFE, current: null }, approval, server)

  it("takes the server's settings, the named environment, else that of the label", () => {
    expect(request({ targetEnv: '', targetGroup: '' })).toMatchObject({
      isProduction: false,
      target: { environment: 'staging', scope: 'workload', workload_id: 'w1' },
      settings: {
        allowed_otlp_endpoints: ['a'],
        critical_exporters: ['b'],
        required_resource_attributes: ['c'],
      },
    })
    expect(request({ targetEnv: ' eu ', targetGroup: '' }).target.environment).toBe('eu')
  })

  it('is one for production when anything names it, now or when it was asked for', () => {
    expect(request({ targetEnv: 'prod', targetGroup: '' }).isProduction).toBe(true)
    expect(request({ targetEnv: '', targetGroup: 'prod-eu' }).isProduction).toBe(true)
    expect(request({ targetEnv: '', targetGroup: '', prodTarget: true }).isProduction).toBe(true)
    expect(
      request({ targetEnv: '', targetGroup: '' }, { ...target, trustedLabels: { stage: 'production' } })
        .isProduction,
    ).toBe(true)
  })
})

describe('hosts', () => {
  test.each([
    ['Collector.Example:4317', 'collector.example'],
    ['https://u:p@collector.example/x?y', 'collector.example'],
    ['[::1]:4317', '[::1]'],
    ['collector.example.', 'collector.example'],
    ['${env:HOST}:4317', null],
    ['dns:///collector.example', null],
    ['', null],
  ])('of %s is %s', (endpoint, host) => {
    expect(hostOf(endpoint)).toBe(host)
  })

  it('are allowed with their subdomains, not with their look-alikes', () => {
    const settings = { allowed_otlp_endpoints: ['allowed.example:4317'] }
    const candidate = (host: string) => SAFE.replace('ingest.allowed.example', host)
    expect(found({ candidate: candidate('allowed.example'), settings })).toEqual([])
    expect(found({ candidate: candidate('a.b.allowed.example'), settings })).toEqual([])
    expect(found({ candidate: candidate('allowed.example.evil'), settings })).toHaveLength(1)
    expect(found({ candidate: candidate('notallowed.example'), settings })).toHaveLength(1)
    expect(found({ candidate: candidate('${env:HOST}'), settings })).toHaveLength(1)
  })
})

describe('what a collector sends about itself, and what its extensions trust, in production', () => {
  const withTelemetry = (settings: string) =>
    SAFE.replace('service:\n', `service:\n  telemetry: ${settings}\n`)
  const withExtension = (settings: string) => `${SAFE}extensions:\n  oauth2client: ${settings}\n`

  it('goes to allowed hosts only', () => {
    const foreign =
      '{metrics: {readers: [{periodic: {exporter: {otlp: {endpoint: "https://evil.example"}}}}]}}'
    expect(found({ candidate: withTelemetry(foreign) })).toEqual([
      [
        'community.exporters.otlp_endpoint.allowlist',
        'service.telemetry.metrics.readers[0].periodic.exporter.otlp.endpoint',
      ],
    ])
    expect(found({ candidate: withTelemetry(foreign.replace('evil', 'allowed')) })).toEqual([])
  })

  it('is not sent to an allowed host over plain HTTP', () => {
    const plain = '{logs: {processors: [{batch: {exporter: {otlp: {endpoint: "http://allowed.example"}}}}]}}'
    expect(found({ candidate: withTelemetry(plain) })).toEqual([
      [
        'community.production.plain_http',
        'service.telemetry.logs.processors[0].batch.exporter.otlp.endpoint',
      ],
    ])
  })

  it('is not sent without transport security', () => {
    const insecure =
      '{traces: {processors: [{batch: {exporter: {otlp: {endpoint: "allowed.example:4317", insecure: true}}}}]}}'
    expect(found({ candidate: withTelemetry(insecure) })).toEqual([
      [
        'community.production.insecure_tls',
        'service.telemetry.traces.processors[0].batch.exporter.otlp.insecure',
      ],
    ])
  })

  it('cannot be filled in by the collector where a rule looks', () => {
    expect(found({ candidate: withTelemetry(`{metrics: "\${env:METRICS}"}`) })).toEqual([
      ['community.production.expansion', 'service.telemetry.metrics'],
    ])
    expect(found({ candidate: withTelemetry(`"\${env:ALL}"`) })).toEqual([
      ['community.production.expansion', 'service.telemetry'],
    ])
    expect(found({ candidate: withExtension(`{tls: "\${env:TLS}"}`) })).toEqual([
      ['community.production.expansion', 'extensions.oauth2client.tls'],
    ])
  })

  it('an extension verifies whom it talks to', () => {
    expect(found({ candidate: withExtension('{tls: {insecure_skip_verify: true}}') })).toEqual([
      ['community.production.tls_verification', 'extensions.oauth2client.tls.insecure_skip_verify'],
    ])
    expect(found({ candidate: withExtension('{tls: {insecure: true}}') })).toEqual([
      ['community.production.insecure_tls', 'extensions.oauth2client.tls.insecure'],
    ])
    expect(found({ candidate: withExtension(`{client_secret: "\${env:SECRET}"}`) })).toEqual([])
  })
})
