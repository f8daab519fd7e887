import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { validateStatically } from '../../../../lib/configs/check/validate.ts'
import { previewValidatedMigration } from '../../../../lib/configs/migrate/validated.ts'
import { outlineConfig } from '../../../../lib/configs/outline.ts'
import { BUILT_IN_TEMPLATES } from '../../../../lib/configs/templates/built-in.ts'

const now = new Date('2026-07-01T08:00:00.000Z')
const about = { target: null, requestedVersion: '', minimumVersion: '', validatedAt: now }

describe('our own validation', () => {
  it.each([
    ['datadog_agent', 'datadog.yaml'],
    ['fluent_bit', 'fluent-bit.conf'],
    ['splunk_forwarder', 'splunk.ini'],
    ['new_relic_infra', 'newrelic.yml'],
  ] as const)('accepts the draft made from a %s source', (vendor, name) => {
    const source = readFileSync(new URL(`../../../fixtures/migration/${name}`, import.meta.url), 'utf8')
    const { validation } = previewValidatedMigration({ vendor, source, labels: {}, otlpEndpoint: '' }, now)
    expect(validation).toMatchObject({
      valid: true,
      overall_status: 'warning',
      validated_at: '2026-07-01T08:00:00.000Z',
    })
  })

  it('accepts the skeleton of a source that cannot be read', () => {
    const input = { vendor: 'datadog_agent' as const, source: '[', labels: {}, otlpEndpoint: '' }
    expect(previewValidatedMigration(input, now).validation.valid).toBe(true)
  })

  it.each(BUILT_IN_TEMPLATES)('accepts $id, with its placeholders filled and as it is', ({ content }) => {
    for (const text of [content, content.replace(/\$\{[A-Z_]+\}/g, 'filled')]) {
      const errors = validateStatically(text, about).checks.flatMap((check) =>
        check.messages.filter((message) => message.severity === 'error'),
      )
      expect(errors).toEqual([])
    }
  })
})

describe('outlineConfig', () => {
  it('lists what is defined, used or not, and where what is used is named', () => {
    const text = [
      'receivers: { otlp: {}, otlp/2: {}, filelog/a: {} }',
      'exporters: { debug: {} }',
      'extensions: { health_check: {} }',
      'service: { extensions: [health_check], pipelines: { traces: { receivers: [otlp/2], exporters: [debug] } } }',
    ].join('\n')
    expect(outlineConfig(text)).toEqual({
      defined: [
        { category: 'receivers', type: 'filelog' },
        { category: 'receivers', type: 'otlp' },
        { category: 'exporters', type: 'debug' },
        { category: 'extensions', type: 'health_check' },
      ],
      used: [
        { category: 'receivers', type: 'otlp', id: 'otlp/2', path: 'service.pipelines.traces.receivers[0]' },
        { category: 'exporters', type: 'debug', id: 'debug', path: 'service.pipelines.traces.exporters[0]' },
        { category: 'extensions', type: 'health_check', id: 'health_check', path: 'service.extensions[0]' },
      ],
    })
    expect(outlineConfig('[')).toEqual({ defined: [], used: [] })
  })
})
