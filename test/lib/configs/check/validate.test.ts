import { describe, expect, it, test } from 'vitest'
import type { ConfigTarget, ConfigTargetInstance } from '../../../../lib/configs/check/target.ts'
import {
  type RuntimeCheck,
  validateConfig,
  validateStatically,
} from '../../../../lib/configs/check/validate.ts'
import { buildCheck } from '../../../../lib/configs/check/validation-messages.ts'
import { normalForm } from '../../../../lib/configs/effective/normal-form.ts'

const GATEWAY = `receivers:
  otlp:
    protocols:
      grpc:
processors:
  memory_limiter:
    check_interval: 1s
    limit_mib: 512
  batch:
exporters:
  otlphttp/backend:
    endpoint: \${env:BACKEND}
  debug:
connectors:
  forward/all:
extensions:
  health_check:
service:
  extensions: [health_check]
  pipelines:
    traces/in:
      receivers: [otlp]
      exporters: [forward/all]
    traces/out:
      receivers: [forward/all]
      processors: [memory_limiter, batch]
      exporters: [otlphttp/backend, debug]
`

const passed: RuntimeCheck = async () =>
  buildCheck('otelcol_runtime', [{ code: 'otelcol_validation_passed', severity: 'info', message: 'ok' }])

const about = (target: ConfigTarget | null, requestedVersion = '', minimumVersion = '') => ({
  target,
  requestedVersion,
  minimumVersion,
  validatedAt: new Date('2026-07-01T08:00:00.000Z'),
})

function instance(uid: string, receivers: string[], isCapable = true): ConfigTargetInstance {
  const components = new Map([
    ['receivers', receivers],
    ['processors', ['attributes', 'batch', 'memory_limiter']],
    ['exporters', ['debug', 'otlp_http']],
    ['connectors', ['forward']],
    ['extensions', ['health_check']],
  ])
  return { uid, podName: `pod-${uid}`, components, isCapable, runsProfiles: false }
}

function targetOf(instances: ConfigTargetInstance[]): ConfigTarget {
  return {
    workloadId: 'w1',
    displayName: 'gateway',
    type: 'collector',
    version: '0.149.0',
    status: 'connected',
    labels: {},
    trustedLabels: {},
    acceptsRemoteConfig: true,
    instances,
    lastKnownComponents: null,
    activeConfigHash: null,
    failedHashes: new Set(),
    failing: new Map(),
  }
}

const validate = (text: string, target: ConfigTarget | null = targetOf([instance('a', ['otlp'])])) =>
  validateConfig(text, about(target), passed)

const errorCodes = async (text: string) => (await validate(text)).errors.map(({ code }) => code)

/** The gateway's config with one replacement, whose text must occur. */
function edit(from: string, to: string): string {
  expect(GATEWAY).toContain(from)
  return GATEWAY.replace(from, () => to)
}

describe('the result', () => {
  it('passes a config that everything speaks for', async () => {
    const result = await validate(GATEWAY)
    expect(result).toMatchObject({
      valid: true,
      overall_status: 'passed',
      target_collector_version: '0.149.0',
      validated_at: '2026-07-01T08:00:00.000Z',
      errors: [],
      warnings: [],
    })
    expect(result.checks.map(({ id, status, required }) => [id, status, required])).toEqual([
      ['yaml_static', 'passed', true],
      ['collector_structure', 'passed', true],
      ['component_availability', 'passed', true],
      ['collector_version_compatibility', 'passed', false],
      ['otelcol_runtime', 'passed', false],
    ])
    expect(result.checks[1]?.metadata).toEqual({
      defined_components: { receivers: 1, processors: 2, exporters: 2, connectors: 1, extensions: 1 },
      pipelines: ['traces/in', 'traces/out'],
      component_refs_checked: 8,
    })
  })

  it('skips what depends on a text that cannot be read', async () => {
    const result = await validate('a: [')
    expect(result).toMatchObject({ valid: false, overall_status: 'failed' })
    expect(result.checks.map(({ status }) => status)).toEqual([
      'failed',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
    ])
    expect(result.checks[1]).toMatchObject({
      metadata: { depends_on_failed_check: 'yaml_static' },
      messages: [{ code: 'depends_on_failed_check', severity: 'info', check_id: 'collector_structure' }],
    })
    expect(result.checks[4]?.metadata).toEqual({ depends_on_failed_check: 'yaml_static' })
  })

  it('is the same for the same text', async () => {
    const broken = `${edit('[otlp]', '[b, a]')}\nz: 1\ny: 2\n`
    expect(await validate(broken)).toEqual(await validate(broken))
  })

  it('names the failed version check only as a static one', async () => {
    const result = await validateConfig(GATEWAY, about(targetOf([]), '0.90.0', '0.100.0'), passed)
    expect(result.errors).toMatchObject([
      { code: 'target_version_too_old', check_id: 'collector_version_compatibility' },
    ])
    expect(result.checks[4]?.metadata).toEqual({ depends_on_failed_check: 'static_validation' })
  })
})

describe('the structure', () => {
  test.each([
    ['an unused component', '  batch:\n', '  batch:\n  attributes:\n'],
    ['no processors', '      processors: [memory_limiter, batch]\n', '      processors:\n'],
    ['names with slashes', 'otlphttp/backend:', 'otlphttp/backend:\n  debug/a/b:'],
    ['a whole list from the environment', 'receivers: [otlp]', 'receivers: ${env:RECEIVERS}'],
    ['the same receiver twice', '[otlp]', '[otlp, otlp]'],
    ['an escaped reference', '${env:BACKEND}', '$${1}'],
    ['an escaped reference beside another', '${env:BACKEND}', '$${1}-${env:BACKEND}'],
    ['a default value', '${env:BACKEND}', '${env:BACKEND:-https://x}'],
    ['a nested reference', '${env:BACKEND}', '${file:${env:HOME}/x}'],
    ['a dollar without braces', '${env:BACKEND}', 'a-$1'],
    ['settings that are null', 'check_interval: 1s', 'check_interval:'],
    ['telemetry of any shape', 'service:\n', 'service:\n  telemetry: {logs: {level: debug}, foo: 1}\n'],
  ])('accepts %s', async (_, from, to) => {
    expect(await errorCodes(edit(from, to))).toEqual([])
  })

  test.each([
    ['an undefined receiver', '[otlp]', '[otlp/none]', 'undefined_component'],
    ['an undefined extension', '[health_check]', '[pprof]', 'undefined_component'],
    ['another spelling of a defined type', 'debug]', 'otlp_http/backend]', 'undefined_component'],
    ['an unknown top-level key', 'service:', 'x-common: 1\nservice:', 'unknown_section'],
    ['an unknown key of service', 'service:', 'service:\n  pipline: {}', 'unknown_section'],
    ['an unknown key of a pipeline', 'processors: [memory', 'processor: [memory', 'unknown_section'],
    ['no receivers in a pipeline', '      receivers: [otlp]\n', '', 'missing_pipeline_section'],
    ['an empty list of exporters', '[otlphttp/backend, debug]', '[]', 'missing_pipeline_section'],
    ['a null list of receivers', '[otlp]', '', 'missing_pipeline_section'],
    ['a text for a list', '[memory_limiter, batch]', 'batch', 'invalid_section'],
    ['an entry that is a mapping', '[memory_limiter, batch]', '[batch: ]', 'invalid_reference'],
    ['a type with a dash', 'debug:', 'debug:\n  nop-main:', 'invalid_component_id'],
    ['a name with a symbol', 'debug:', 'debug:\n  "debug/a=b":', 'invalid_component_id'],
    ['an empty name', 'debug:', 'debug:\n  debug/:', 'invalid_component_id'],
    ['an id with blanks that is defined twice', 'debug:', 'debug:\n  " debug":', 'duplicate_component'],
    ['an unknown signal', 'traces/in', 'trace/in', 'invalid_pipeline_signal'],
    ['a pipeline with an empty name', 'traces/in', 'traces/', 'invalid_pipeline_id'],
    ['the same processor twice', 'memory_limiter, batch', 'batch, batch', 'duplicate_processor'],
    [
      'a connector that nothing receives from',
      'receivers: [forward/all]',
      'receivers: [otlp]',
      'unconnected_connector',
    ],
    [
      'a connector that nothing sends to',
      'exporters: [forward/all]',
      'exporters: [debug]',
      'unconnected_connector',
    ],
    ['a connector between signals that it does not join', 'traces/out', 'logs/out', 'unconnected_connector'],
    ['a cycle', 'otlphttp/backend, debug]', 'forward/all]', 'connector_cycle'],
    ['an id of a connector and an exporter', '  debug:', '  debug:\n  forward/all:', 'ambiguous_component'],
    ['a receiver that cannot carry the signal', '  otlp:\n', '  otlp:\n  k8s_cluster:\n', null],
    ['settings that are a text', 'debug:', 'debug: on', 'invalid_component'],
    ['a section that is a list', 'connectors:\n  forward/all:', 'connectors: []', 'invalid_section'],
    ['a reference to the variable "1"', '${env:BACKEND}', '${1}', 'invalid_expansion'],
    ['a default without its provider', '${env:BACKEND}', '${BACKEND:-x}', 'invalid_expansion'],
    ['a reference behind an escaped dollar', '${env:BACKEND}', '$$${1}', 'invalid_expansion'],
    ['a reference without a name', '${env:BACKEND}', '${}', 'invalid_expansion'],
  ])('refuses %s', async (_, from, to, code) => {
    const text = code === null ? edit(from, to).replace('[otlp]', '[k8s_cluster]') : edit(from, to)
    expect(await errorCodes(text)).toContain(code ?? 'unsupported_signal')
  })

  it('accepts pipelines that come from a file, and whatever follows the first document', async () => {
    const head = GATEWAY.slice(0, GATEWAY.indexOf('  pipelines:'))
    expect(await errorCodes(`${head}  pipelines: \${file:/etc/pipelines.yaml}\n---\nnonsense: [\n`)).toEqual(
      [],
    )
  })

  it('refuses a config without service, pipelines, receivers or exporters', async () => {
    expect(await errorCodes('receivers: {otlp: }\nexporters: {debug: }\n')).toEqual(['missing_service'])
    expect(await errorCodes('receivers: {otlp: }\nexporters: {debug: }\nservice: {pipelines: }\n')).toEqual([
      'missing_pipelines',
    ])
    expect(await errorCodes('{}')).toEqual(['missing_service'])
    expect(await errorCodes('service: {}')).toEqual(['missing_pipelines'])
    expect(
      await errorCodes('exporters: {debug: }\nservice: {pipelines: {traces: {exporters: [debug]}}}'),
    ).toEqual(['missing_pipeline_section', 'missing_section'])
    // Besides the missing section the misspelt one is reported.
    expect(await errorCodes('servce: {pipelines: {}}')).toEqual(['missing_service', 'unknown_section'])
  })

  it('gives the paths and texts that clients know', async () => {
    const { errors } = await validate(edit('[memory_limiter, batch]', '[nope, batch]'))
    expect(errors).toEqual([
      {
        code: 'undefined_component',
        message:
          'pipeline "traces/out" references processor "nope" which is not defined under top-level \'processors\'',
        path: 'service.pipelines.traces/out.processors[0]',
        line: 26,
        check_id: 'collector_structure',
      },
    ])
  })

  it('warns of the removed metrics address', async () => {
    const result = await validate(
      edit('service:\n', 'service:\n  telemetry: {metrics: {address: ":8888"}}\n'),
    )
    expect(result.valid).toBe(true)
    expect(result.warnings).toMatchObject([
      { code: 'removed_setting', severity: 'warning', path: 'service.telemetry.metrics.address' },
    ])
  })
})

describe('a pipeline of profiles', () => {
  const PROFILES = edit(
    'traces/in:',
    'profiles:\n      receivers: [otlp]\n      exporters: [debug]\n    traces/in:',
  )

  it('is refused unless an instance that is well runs one: no other has the gate for sure', async () => {
    const refused = {
      code: 'feature_gate_required',
      path: 'service.pipelines.profiles',
      check_id: 'collector_structure',
    }
    expect((await validate(PROFILES)).errors).toMatchObject([refused])
    expect((await validate(PROFILES, null)).errors).toMatchObject([refused])
    const runs = targetOf([instance('a', ['otlp']), { ...instance('b', ['otlp']), runsProfiles: true }])
    const result = await validate(PROFILES, runs)
    expect(result.errors).toEqual([])
    expect(result.warnings).toMatchObject([{ code: 'experimental_signal' }])
  })

  it('is seen in what an instance reports to run', () => {
    expect(normalForm(PROFILES)).toMatchObject({ runsPipelines: true, runsProfiles: true })
    expect(normalForm(GATEWAY)).toMatchObject({ runsPipelines: true, runsProfiles: false })
  })
})

describe('the components of the workload', () => {
  it('are compared with what is used, aliases included', async () => {
    const result = await validate(edit('[otlp]', '[otlp, kafka]').replace('  otlp:\n', '  otlp:\n  kafka:\n'))
    expect(result.errors).toEqual([
      {
        code: 'component_not_installed',
        message: 'receiver type "kafka" is not installed on the target workload (available: otlp)',
        path: 'service.pipelines.traces/in.receivers[1]',
        line: 23,
        check_id: 'component_availability',
      },
    ])
  })

  // A collector reads every definition before it starts, and refuses one of a type that it does not have.
  test.each([
    [
      'a processor',
      '  batch:\n',
      '  batch:\n  filter/x:\n',
      'processor type "filter"',
      'processors.filter/x',
    ],
    [
      'an exporter',
      '  debug:\n',
      '  debug:\n  prometheus:\n',
      'exporter type "prometheus"',
      'exporters.prometheus',
    ],
    ['a receiver', '  otlp:\n', '  otlp:\n  " kafka":\n', 'receiver type "kafka"', 'receivers. kafka'],
    [
      'an extension',
      'extensions:\n',
      'extensions:\n  basicauth/x:\n',
      'extension type "basicauth"',
      'extensions.basicauth/x',
    ],
  ])('are compared with what is only defined: %s', async (_, from, to, message, path) => {
    const result = await validate(edit(from, to))
    expect(result.errors).toMatchObject([{ code: 'component_not_installed', path, line: expect.any(Number) }])
    expect(result.errors[0]!.message).toContain(message)
    const { required } = validateStatically(edit(from, to), about(null))
    expect(required.map((one) => one.path)).toContain(path)
  })

  it('are named once, where they are used, whatever else is defined of their type', async () => {
    const text = edit('[otlp]', '[otlp, kafka]').replace('  otlp:\n', '  otlp:\n  kafka:\n  kafka/unused:\n')
    const { errors } = await validate(text)
    expect(errors.map(({ path }) => path)).toEqual([
      'service.pipelines.traces/in.receivers[1]',
      'receivers.kafka/unused',
    ])
  })

  it('lead to a warning where only some instances lack one', async () => {
    const target = targetOf([instance('a', ['otlp']), instance('b', ['kafka']), instance('c', [], false)])
    const result = await validate(GATEWAY, target)
    expect(result.valid).toBe(true)
    expect(result.warnings).toMatchObject([{ code: 'component_partly_installed' }])
    expect(result.warnings[0]?.message).toContain('pod-b')
    expect(result.warnings[0]?.message).not.toContain('pod-c')
  })

  it('are a warning when nothing was reported', async () => {
    for (const target of [null, targetOf([]), targetOf([{ ...instance('a', []), components: null }])]) {
      const result = await validate(GATEWAY, target)
      expect(result.warnings.map(({ code }) => code)).toContain('available_components_missing')
      expect(result.valid).toBe(true)
    }
  })

  it('are a failed check when one is missing and another category is not reported', async () => {
    const components = new Map([['receivers', ['kafka']]])
    const result = await validate(
      GATEWAY,
      targetOf([{ uid: 'a', podName: '', components, isCapable: true, runsProfiles: false }]),
    )
    expect(result.checks[2]?.status).toBe('failed')
    expect(result.checks[4]?.metadata).toEqual({ depends_on_failed_check: 'component_availability' })
    expect(result.checks[2]?.messages?.map(({ code }) => code)).toEqual([
      'component_category_unreported',
      'component_category_unreported',
      'component_category_unreported',
      'component_category_unreported',
      'component_not_installed',
    ])
  })
})

describe('the version', () => {
  test.each([
    ['', '', 'unknown', 'warning'],
    ['v0.149.0', '0.149', 'request', 'passed'],
    ['0.9.10', '0.10.0', 'request', 'failed'],
    ['abc', '0.0.1', 'request', 'failed'],
    ['abc', '', 'request', 'passed'],
  ])('%s against the minimum %s', async (version, minimum, source, status) => {
    const result = await validateConfig(GATEWAY, about(null, version, minimum), passed)
    expect(result.checks[3]).toMatchObject({ status, metadata: { version_source: source } })
  })
})

it('warns of signs that nobody sees and that change how a line reads, by the line', () => {
  const turned = GATEWAY.replace('grpc:', 'grpc: # \u202efeas si siht')
  const { checks } = validateStatically(turned, about(null))
  expect(checks[0]).toMatchObject({ id: 'yaml_static', status: 'warning' })
  expect(checks[0]!.messages).toContainEqual(
    expect.objectContaining({ code: 'hidden_signs', severity: 'warning', line: 4 }),
  )
  expect(validateStatically(GATEWAY, about(null)).checks[0]!.status).toBe('passed')
})
