import { describe, expect, test } from 'vitest'
import { validateStatically } from '../../../../lib/configs/check/validate.ts'

const findings = (exporter: string, receiver = 'otlp: {protocols: {grpc: }}') => {
  const text = `receivers:\n  ${receiver}\nexporters:\n  ${exporter}\nservice:\n  pipelines:\n    traces: {receivers: [otlp], exporters: [${exporter.slice(0, exporter.indexOf(':'))}]}\n`
  const about = {
    target: null,
    requestedVersion: '',
    minimumVersion: '',
    validatedAt: new Date('2026-07-01T08:00:00.000Z'),
  }
  return validateStatically(text, about)
    .checks[1]!.messages.filter(({ severity }) => severity !== 'info')
    .map(({ code, severity, path }) => [code, severity, path])
}

describe('an address', () => {
  test.each([
    ['otlphttp', 'https://host:example'],
    ['otlphttp', 'https://host:43x8/v1'],
    ['otlphttp', 'https://[::1]:grpc'],
    ['otlphttp', 'https://user:secret@host:example/v1'],
    ['otlphttp', 'https://host:70000'],
    ['otlp', 'host:example'],
    ['otlp', 'host:65536'],
    ['zipkin', 'http://host:example/api/v2/spans'],
  ])('of %s such as %s has no port that a collector can use', (type, endpoint) => {
    expect(findings(`${type}: {endpoint: "${endpoint}"}`)).toEqual([
      ['invalid_endpoint', 'error', `exporters.${type}.endpoint`],
    ])
  })

  test.each([
    ['otlphttp', 'https://host:443/v1'],
    ['otlphttp', 'https://host'],
    ['otlphttp', 'https://host:/v1'],
    ['otlphttp', 'https://user:secret@host/v1'],
    ['otlphttp', 'http://[::1]:4318'],
    ['otlphttp', 'https://host:${env:PORT}/v1'],
    ['otlphttp', '${env:BACKEND}'],
    ['otlp', 'dns:///host:4317'],
    ['otlp', 'unix:///run/otel.sock'],
    ['otlp', '[::1]:4317'],
    ['otlp', 'host'],
    ['kafka', 'broker:kafka'],
  ])('of %s such as %s is left to the collector', (type, endpoint) => {
    expect(findings(`${type}: {endpoint: "${endpoint}"}`)).toEqual([])
  })

  test('of a receiver may name its port, as the system knows it', () => {
    expect(findings('debug: {}', 'otlp: {protocols: {http: {endpoint: "0.0.0.0:http"}}}')).toEqual([])
  })
})

describe('a placeholder of a template', () => {
  test.each(['${TEMPO_ENDPOINT}', 'https://${OTLP_EXPORT_ENDPOINT}/v1'])(
    'that is left in as %s is a warning',
    (endpoint) => {
      expect(findings(`otlphttp: {endpoint: "${endpoint}"}`)).toEqual([
        ['unfilled_placeholder', 'warning', 'exporters.otlphttp.endpoint'],
      ])
    },
  )

  test.each(['${env:TEMPO_ENDPOINT}', '${MY_BACKEND}', '$${TEMPO_ENDPOINT}'])(
    'is none in %s, which is meant for the collector',
    (endpoint) => {
      expect(findings(`otlphttp: {endpoint: "${endpoint}"}`)).toEqual([])
    },
  )
})
