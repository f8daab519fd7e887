import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { effectiveMatches } from '../../../../lib/configs/effective/match.ts'
import { normalForm } from '../../../../lib/configs/effective/normal-form.ts'
import { type ParsedConfig, parseConfig } from '../../../../lib/configs/yaml/parse.ts'

const ASKED = `receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:14318
processors:
  batch:
    timeout: 60s
exporters:
  debug:
    verbosity: basic
  otlphttp:
    endpoint: \${env:BACKEND}
    headers: {authorization: Bearer x}
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [batch]
      exporters: [debug]
  telemetry:
    metrics: {level: detailed}
`

/**
 * An effective config as a supervised collector reports it: references resolved, keys sorted, defaults, an extension
 * and resource attributes added.
 */
const effective = (uid: string, ppid: number, port: number, timeout = '1m0s') => `connectors: {}
exporters:
    debug:
        output_paths: []
        sampling_initial: 2
        use_internal_logger: true
    otlphttp:
        endpoint: https://backend.example.com
        headers:
            authorization: '[REDACTED]'
extensions:
    opamp:
        agent_description:
            non_identifying_attributes:
                host.name: ${uid}
        capabilities:
            reports_health: true
        instance_uid: ${uid}
        ppid: ${ppid}
        server:
            ws:
                endpoint: ws://127.0.0.1:${port}/v1/opamp
                tls:
                    insecure: true
processors:
    batch:
        send_batch_size: 8192
        timeout: ${timeout}
receivers:
    otlp:
        protocols:
            grpc: null
            http:
                cors: null
                endpoint: 127.0.0.1:14318
service:
    extensions:
        - opamp
    pipelines:
        traces:
            exporters:
                - debug
            processors:
                - batch
            receivers:
                - otlp
    telemetry:
        metrics:
            level: Detailed
        resource:
            deployment.environment: dev
            host.name: ${uid}
            service.instance.id: ${uid}
`

const parsed = (text: string): ParsedConfig => {
  const result = parseConfig(text)
  if (!result.ok) throw new Error(result.problem.message)
  return result.document
}
const match = (asked: string, reported: string) => effectiveMatches(parsed(asked), parsed(reported))

describe('the normal form', () => {
  it('is the same for two instances and two runs of one config', () => {
    const first = normalForm(effective('01a1fb75', 13440, 35875))
    expect(first).not.toBeNull()
    expect(normalForm(effective('b7', 2, 4001))?.hash).toBe(first?.hash)
    expect(first?.text).not.toMatch(/01a1fb75|13440|35875/)
    expect(first?.text).toContain('deployment.environment: dev')
  })

  it.each([
    ['service.name', 'edge-vm-1', 'edge-vm-2'],
    ['service.namespace', 'a', 'b'],
    ['service.version', '0.148.0', '0.149.0'],
    ['host.arch', 'amd64', 'arm64'],
    ['os.type', 'linux', 'windows'],
    ['k8s.deployment.name', 'gateway', 'edge'],
    ['cloud.availability_zone', 'eu-1a', 'eu-1b'],
  ])('is the same for two agents of which a supervisor writes another %s', (key, one, other) => {
    const asMapping = (value: string) =>
      effective('a', 1, 1).trimEnd().concat(`\n            ${key}: ${value}\n`)
    const asList = (value: string) =>
      `service: {telemetry: {resource: {attributes: [{name: ${key}, value: ${value}}, {name: env, value: x}]}}}\n`
    for (const text of [asMapping, asList]) {
      expect(text(one)).not.toBe(text(other))
      expect(normalForm(text(one))!.hash).toBe(normalForm(text(other))!.hash)
    }
  })

  it.each([
    [
      'an attribute that says nothing of the agent',
      'deployment.environment: dev',
      'deployment.environment: prod',
    ],
    ['one that only begins alike', 'deployment.environment: dev', 'hosting: dev'],
  ])('differs where the telemetry resource differs in %s', (_, from, to) => {
    const text = effective('a', 1, 1)
    expect(text).toContain(from)
    expect(normalForm(text.replace(from, to))!.hash).not.toBe(normalForm(text)!.hash)
  })

  it('differs where a setting differs', () => {
    expect(normalForm(effective('a', 1, 1, '2s'))?.hash).not.toBe(normalForm(effective('a', 1, 1))?.hash)
  })

  it('keeps the address of a real server', () => {
    const text = 'extensions: {opamp: {server: {ws: {endpoint: "wss://fleet.example.com/v1/opamp"}}}}\n'
    expect(normalForm(text)?.text).toContain('fleet.example.com')
  })

  it('drops what names the instance from a resource that is a list', () => {
    const text =
      'service: {telemetry: {resource: {attributes: [{name: host.name, value: h1}, {name: env, value: dev}]}}}\n'
    expect(normalForm(text)?.text).toContain('env')
    expect(normalForm(text)?.text).not.toContain('h1')
  })

  it.each(['', 'null', '# nothing', 'a: ['])('is none for %j', (text) => {
    expect(normalForm(text)).toBeNull()
  })

  it('is none for a short text whose aliases stand for more than a report may hold', () => {
    const some = (text: string, count: number) => `[${Array(count).fill(text).join(', ')}]`
    const aliased = (length: number) =>
      `a: &a ${'x'.repeat(length)}\nb: &b ${some('*a', 20)}\nc: ${some('*b', 30)}\nd: ${some('1', 20)}\n`
    expect(normalForm(aliased(100))?.text.length).toBeGreaterThan(60_000)
    expect(normalForm(aliased(4_000))).toBeNull()
    // Written out, each of these characters takes four.
    const escaped = `a: &a "${'\\x01'.repeat(20_000)}"\nb: ${some('*a', 30)}\n`
    expect(normalForm(escaped)).toBeNull()
  })

  it('does not depend on the order of keys, and is its own normal form', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<unknown>(
          '5s',
          '0x1F',
          'yes',
          '~',
          '1_0',
          'on: off',
          ' x',
          '',
          null,
          true,
          0,
          -1.5,
          'a\nb',
          '017',
        ),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c-d', '1', 'null', 'y'), tie('value'), { maxKeys: 4 }),
      ),
    })).value
    const mapping = fc.dictionary(fc.constantFrom('receivers', 'exporters', 'x'), value, {
      minKeys: 1,
      maxKeys: 3,
    })
    fc.assert(
      fc.property(mapping, (root) => {
        const text = JSON.stringify(root)
        const turned = JSON.stringify(Object.fromEntries(Object.entries(root).reverse()))
        const form = normalForm(text)!
        expect(normalForm(turned)!.hash).toBe(form.hash)
        expect(normalForm(form.text)!.text).toBe(form.text)
        expect(JSON.parse(JSON.stringify(parsed(form.text).root))).toEqual(root)
      }),
      { seed: 7, numRuns: 300 },
    )
  })
})

describe('the comparison by meaning', () => {
  it('holds for a config that a supervised collector runs', () => {
    expect(match(ASKED, effective('a', 1, 1))).toEqual({ verdict: true, paths: [] })
  })

  test.each([
    [
      'another value',
      'endpoint: 127.0.0.1:14318',
      'endpoint: 127.0.0.1:9',
      ['receivers.otlp.protocols.http.endpoint'],
    ],
    ['another duration', 'timeout: 60s', 'timeout: 61s', ['processors.batch.timeout']],
    [
      'a component that does not run',
      'processors:\n  batch:',
      'processors:\n  filter:\n  batch:',
      ['processors.filter'],
    ],
    [
      'a setting of several that does not run',
      'timeout: 60s',
      'timeout: 60s\n    keys: {a: b}',
      ['processors.batch.keys'],
    ],
    ['another order of processors', '[batch]', '[x, batch]', ['service.pipelines.traces.processors']],
    ['another pipeline', '    traces:', '    logs:', ['service.pipelines.logs']],
    [
      'an extension that does not run',
      'service:\n',
      'service:\n  extensions: [pprof]\n',
      ['service.extensions[0]'],
    ],
  ])('finds %s', (_, from, to, paths) => {
    expect(ASKED).toContain(from)
    expect(
      match(
        ASKED.replace(from, () => to),
        effective('a', 1, 1),
      ),
    ).toEqual({ verdict: false, paths })
  })

  it('is unknown when one side is missing', () => {
    expect(effectiveMatches(null, parsed(ASKED)).verdict).toBe('unknown')
    expect(effectiveMatches(parsed(ASKED), null).verdict).toBe('unknown')
  })

  it('holds for a config and itself', () => {
    expect(match(ASKED, ASKED).verdict).toBe(true)
  })
})
