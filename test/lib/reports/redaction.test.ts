import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../../lib/reports/redaction.ts'

const ID = '0197c0de-0000-7000-8000-000000000001'
const redactor = createRedactor(
  new Map([
    ['operator@example.com', ID],
    ['jörg.müller@bücher.example', 'user-2'],
  ]),
)

describe('strict redaction', () => {
  it.each([
    ['operator@example.com', `user:${ID}`],
    ['Operator@Example.com', `user:${ID}`],
    ['asked by Operator@example.com, twice.', `asked by user:${ID}, twice.`],
    ['done by operator@example.com.', `done by user:${ID}.`],
    ['jörg.müller@bücher.example', 'user:user-2'],
    ['49699+dependabot[bot]@users.example.com', '[redacted]'],
    ['by dependabot[bot] <dependabot[bot]@example.com>', 'by dependabot[bot] <[redacted]>'],
    ['asked (operator@example.com) twice', `asked (user:${ID}) twice`],
    ['<stranger@elsewhere.test>', '<[redacted]>'],
    ['root@localhost', '[redacted]'],
    ['https://tenant-a.internal:4317/v1/traces?x=1', 'https://[redacted]'],
    ['to HTTP://user:pw@host/path now', 'to http://[redacted] now'],
    ['Authorization: Bearer secret', '[redacted]'],
    ['sent "authorization": "Basic dXNlcjpwdw=="', 'sent "[redacted]'],
    ['SECRET_TOKEN=abc', '[redacted]'],
    ['the variable SECRET_TOKEN is not set', 'the variable [redacted] is not set'],
    ['api_key: "a b c", retries: 3', '[redacted], retries: 3'],
    ['client-secret => x', '[redacted]'],
    ['user:hunter2@db.internal', '[redacted]'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', 'token [redacted]'],
    ['key AKIAIOSFODNN7EXAMPLE here', 'key [redacted] here'],
    ['-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----', '[redacted]'],
    ['q8Zt5LwPz1Kx7Vb3Nm9Rf2Hd6Jg4Sc0Ty', '[redacted]'],
  ])('turns %j into %j', (text, expected) => {
    expect(redactor.text(text)).toBe(expected)
  })

  it.each([
    'checkout-gateway-7f9c5d8b6-x2x9z',
    'ip-10-0-1-5.ec2.internal',
    'a'.repeat(64),
    ID,
    'Collector rejected the config',
    'Workload does not run its assigned config',
    'sender',
    'token-service',
    '2026-07-02T12:00:00.000Z',
    'v0.131.1-rc.1+build.5',
    'Παραλαβή',
    'exporters/otlphttp/tenant',
  ])('leaves %j legible', (text) => {
    expect(redactor.text(text)).toBe(text)
  })

  it.each(['a', 'secret', 'user:', 'a@', 'aB1-', '"a', '[a', '(', 'a]'])(
    'takes time that grows with the text and no faster, for a long run of %j',
    (piece) => {
      const work = (length: number) => {
        const started = process.cpuUsage()
        redactor.text(piece.repeat(length / piece.length))
        const { user, system } = process.cpuUsage(started)
        return user + system
      }
      work(10_000)
      // A text that is eight times as long may take somewhat more than eight times as long; with quadratic work it
      // would take 64 times.
      expect(work(80_000)).toBeLessThan(30 * work(10_000) + 50_000)
    },
  )

  it('takes the whole value under a key that names a secret, at every depth', () => {
    const labels = {
      'muster/api_key': 'abc',
      env: 'prod',
      deep: [{ password: { a: 'b' } }],
      contact: 'root@localhost',
    }
    expect(redactor.value(labels)).toEqual({
      value: {
        'muster/api_key': '[redacted]',
        env: 'prod',
        deep: [{ password: '[redacted]' }],
        contact: '[redacted]',
      },
      isRedacted: true,
    })
    expect(redactor.value({ env: 'prod', count: 3, none: null, yes: true })).toMatchObject({
      isRedacted: false,
    })
  })
})
