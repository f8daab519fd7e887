import { describe, expect, it } from 'vitest'
import { baseInWordsOf, baseOfReport } from '../../../../lib/configs/effective/base-of-report.ts'
import { normalForm } from '../../../../lib/configs/effective/normal-form.ts'

const PLAIN = 'exporters:\n  debug: {}\n'

/** What a collector under the supervisor reports to run. */
const REPORTED = `exporters:
    debug: {}
    otlphttp:
        endpoint: https://eu.example.com
        headers:
            authorization: '[REDACTED]'
extensions:
    health_check:
        endpoint: localhost:13133
    opamp:
        capabilities:
            reports_available_components: true
        instance_uid: 0190f1a1-0000-7000-8000-000000000001
        ppid: 4711
        server:
            ws:
                endpoint: ws://127.0.0.1:41277/v1/opamp
                tls:
                    insecure: true
processors:
    batch:
        timeout: 5s
receivers:
    otlp:
        protocols:
            grpc: null
service:
    extensions:
        - health_check
        - opamp
    pipelines:
        traces:
            exporters:
                - otlphttp
            processors:
                - batch
            receivers:
                - otlp
    telemetry:
        resource:
            service.instance.id: 0190f1a1-0000-7000-8000-000000000001
`
const DRAFT = `# The gateway of the shop.
receivers:
  otlp: { protocols: { grpc: } }
processors:
  batch: { timeout: 10s } # bigger batches
exporters:
  otlphttp:
    endpoint: https://eu.example.com
    headers: { authorization: "\${env:TOKEN}" }
  debug:
extensions:
  health_check: { endpoint: localhost:13133 }
service:
  extensions: [health_check]
  pipelines:
    traces: { receivers: [otlp], processors: [batch], exporters: [otlphttp] }
`
const report = normalForm(REPORTED)!.text

describe('what a first config replaces', () => {
  it('differs from it in the one value that changes: not in layout, hidden values or what the supervisor adds', () => {
    expect(baseInWordsOf(DRAFT, report)).toBe(DRAFT.replace('10s', '5s'))
    expect(baseInWordsOf(DRAFT.replace('10s', '5000ms'), report)).toBe(DRAFT.replace('10s', '5000ms'))
  })

  it('has an extension of another host, and the supervisor’s where the draft names it too', () => {
    const remote = normalForm(REPORTED.replace('ws://127.0.0.1:41277', 'wss://fleet.example.com'))!.text
    expect(baseOfReport(remote, DRAFT)).toContain('wss://fleet.example.com')
    expect(baseOfReport(remote, DRAFT)).toContain('- opamp')
    const own = DRAFT.replace('extensions:\n', 'extensions:\n  opamp: { server: { ws: {} } }\n')
    expect(baseOfReport(report, own)).toContain('reports_available_components')
  })

  it('starts the first draft without what the supervisor adds, and with all else', () => {
    const start = baseOfReport(report, '')
    expect(start).not.toMatch(/opamp|telemetry/)
    expect(start).toMatch(/health_check/)
    const alone = 'extensions: {opamp: {}}\nservice: {extensions: [opamp], telemetry: {resource: {}}}\n'
    expect(baseOfReport(alone, '').trim()).toBe('service: {}')
  })

  it('has no empty section that only the normal form writes', () => {
    const reported = `connectors: {}\nextensions: {}\n${PLAIN}`
    expect(baseOfReport(reported, PLAIN)).toBe(PLAIN)
    expect(baseInWordsOf(PLAIN, reported)).toBe(PLAIN)
    expect(baseOfReport(reported, `connectors: {}\n${PLAIN}`)).toContain('connectors: {}')
  })

  it('keeps what telemetry really says', () => {
    const loud = report.replace('telemetry:\n', 'telemetry:\n    logs:\n      level: debug\n')
    expect(baseInWordsOf(DRAFT, loud)).toContain('level: debug')
  })

  it('stays in its normal form where one cannot be read, or the two are too unlike', () => {
    expect(baseInWordsOf('a: [', report)).toContain('otlphttp')
    expect(baseInWordsOf('', 'a: [')).toBe('a: [')
    const many = (value: number) =>
      `processors:\n${Array.from({ length: 50 }, (_, at) => `  batch/${at}: { timeout: ${value}s }\n`).join('')}`
    expect(baseInWordsOf(many(1), many(2))).toBe(many(2))
    const long = `# ${'x'.repeat(40_000)}\n${DRAFT}`
    expect(baseInWordsOf(long, report)).toBe(baseOfReport(report, long))
  })
})
