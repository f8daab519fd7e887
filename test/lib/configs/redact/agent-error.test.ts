import { describe, expect, it, test } from 'vitest'
import { classifyAgentError, pathOfAgentError } from '../../../../lib/configs/redact/agent-error.ts'

describe('causes', () => {
  test.each([
    [
      'Agent exited unexpectedly with exit code 1 while applying configuration',
      'agent_exited',
      { exit_code: '1' },
    ],
    [
      `'exporters' unknown type: "kafka" for id: "kafka/eu" (valid values: [debug otlp])`,
      'component_unknown',
      { component_type: 'kafka' },
    ],
    [
      'service::pipelines::metrics: references exporter "otlphttp/eu" which is not configured',
      'component_undefined',
      { component_type: 'otlphttp' },
    ],
    [
      'failed to get config: cannot resolve the configuration: retrieved value (type=string) cannot be used as a Conf: assuming string type since contents are not valid YAML: yaml: line 5: found unexpected end of stream',
      'yaml_invalid',
      { yaml_line: '5' },
    ],
    [
      `'processors' error reading configuration for "batch/x": 'timeout' time: invalid duration`,
      'component_settings_invalid',
      { component_type: 'batch' },
    ],
    [
      "decoding failed due to the following error(s): '' has invalid keys: recievers",
      'component_settings_invalid',
      {},
    ],
    ['listen tcp 0.0.0.0:4317: bind: address already in use', 'port_in_use', { port: '4317' }],
    ['could not apply: context deadline exceeded', 'apply_timeout', {}],
    ['error: unknown receiver foo', 'collector_validation', {}],
    [
      'connector "forward/x" used as exporter in [metrics] pipeline but not used in any supported receiver pipeline',
      'collector_validation',
      {},
    ],
    ['open /etc/certs/ca.pem: no such file or directory', 'file_missing', {}],
    ['x509: certificate signed by unknown authority', 'certificate_invalid', {}],
    ['rpc error: code = Unauthenticated desc = x', 'authentication_failed', {}],
    [
      'dial tcp 10.0.0.1:4317: connect: connection refused',
      'connection_failed',
      { address: '10.0.0.1:4317' },
    ],
    [
      'dial tcp [2001:db8::1]:4317: connect: no route to host',
      'connection_failed',
      { address: '[2001:db8::1]:4317' },
    ],
    [
      'failed to push: dial tcp: lookup otel.exmaple.com on 10.0.0.10:53: no such host',
      'connection_failed',
      { unknown_host: 'otel.exmaple.com' },
    ],
    [
      'Post "https://user:geheim@a.b/v1": dial tcp: lookup a.b: Temporary failure in name resolution',
      'connection_failed',
      { unknown_host: 'a.b' },
    ],
    ['lookup <script>: no such host', 'connection_failed', {}],
    ['agent lacks the capability', 'capability_mismatch', {}],
    ['blocked by policy', 'permission_or_policy', {}],
    ['rollback is unavailable', 'rollback_unavailable', {}],
    ['gremlins', 'unknown', {}],
    ['', 'unknown', {}],
  ])('%s', (text, cause, parameters) => {
    expect(classifyAgentError(text)).toMatchObject({ cause, parameters })
  })

  it('says nothing of the text in title and parameters', () => {
    const { title, parameters } = classifyAgentError(
      'exporters::otlp/hunter2: bad endpoint https://a:hunter2@x, exit code 3',
    )
    expect(JSON.stringify([title, parameters])).not.toContain('hunter2')
  })
})

describe('the kept text', () => {
  it('has at most 1,000 characters, none of them cut in half', () => {
    const { text } = classifyAgentError('😀'.repeat(3_000))
    expect([...text]).toHaveLength(1_000)
    expect(text).not.toMatch(/\p{Cs}/u)
  })

  it('has no secret, also where the cut falls into one', () => {
    const { text } = classifyAgentError(`${'x'.repeat(970)} password: hunter2hunter2hunter2hunter2`)
    expect(text).not.toContain('hunter')
  })
})

describe('what of the config a text is about', () => {
  test.each([
    ['receivers::otlp: must specify at least one protocol when using the OTLP receiver', 'receivers.otlp'],
    [
      'invalid configuration: receivers::otlp::protocols::http: serverconfig::tls: TLS configuration must include both',
      'receivers.otlp.protocols.http',
    ],
    [
      'service::pipelines::traces/1: references exporter "otlp/eu" which is not configured',
      'service.pipelines.traces/1',
    ],
    [
      "decoding failed due to the following error(s): 'exporters' error reading configuration for \"otlp/eu\": '' has invalid keys: endpont",
      'exporters.otlp/eu',
    ],
    [
      `'exporters' unknown type: "kafka" for id: "kafka/eu" (valid values: [debug otlp])`,
      'exporters.kafka/eu',
    ],
    ['listen tcp 0.0.0.0:4317: bind: address already in use', ''],
    ["'' has invalid keys: recievers", ''],
    ['', ''],
  ])('%s', (text, path) => {
    expect(pathOfAgentError(text)).toBe(path)
  })
})
