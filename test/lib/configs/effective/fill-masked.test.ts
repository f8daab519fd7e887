import { describe, expect, it } from 'vitest'
import { fillMasked } from '../../../../lib/configs/effective/fill-masked.ts'

const REPORTED = `exporters:
    otlphttp:
        endpoint: https://eu.example.com
        headers:
            authorization: '[REDACTED]'
            x-team: a
    kafka:
        brokers: [one, two]
        password: "[REDACTED]" # hidden
`
const DRAFT = `exporters:
  kafka:
    brokers: [one, two]
    password: \${env:KAFKA_PASSWORD}
  otlphttp:
    endpoint: https://eu.example.com
    headers:
      authorization: Bearer abc
      x-team: b
`

describe('what a collector reports with values that it hides', () => {
  it('takes the draft’s own for them, whatever their order, and nothing else of it', () => {
    expect(fillMasked(REPORTED, DRAFT)).toBe(
      REPORTED.replace("'[REDACTED]'", 'Bearer abc').replace('"[REDACTED]"', '${env:KAFKA_PASSWORD}'),
    )
  })

  it('stays hidden where the draft has no single value for it', () => {
    const gone = 'exporters: {kafka: {brokers: [one]}, otlphttp: {headers: {authorization: {a: b}}}}\n'
    expect(fillMasked(REPORTED, gone)).toBe(REPORTED)
    expect(fillMasked(REPORTED, 'exporters: {otlphttp: {headers: {authorization: *x}}}')).toBe(REPORTED)
    expect(fillMasked(REPORTED, '')).toBe(REPORTED)
  })

  it('is left as it is where one of the two cannot be read', () => {
    expect(fillMasked(REPORTED, 'a: [')).toBe(REPORTED)
    expect(fillMasked('a: [', DRAFT)).toBe('a: [')
  })
})
