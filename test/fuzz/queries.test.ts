import { expect, test, vi } from 'vitest'
import { AuditQuery, readFilter } from '../../functions/audit/_audit-query.ts'
import { asksForGzip } from '../../functions/opamp/_content-coding.ts'
import { holdsSharedSecret } from '../../functions/opamp/_shared-secret.ts'
import { judgeAddress } from '../../lib/alerts/address-policy.ts'
import { checkWebhookUrl } from '../../lib/alerts/webhook-url.ts'
import { identifyWorkload } from '../../lib/fleet/decide/workload-identity.ts'
import { namesProduction } from '../../lib/model/production.ts'
import { compareVersions } from '../../lib/model/versions.ts'
import { instanceUidKey, instanceUidLike } from '../../lib/opamp/instance-uid.ts'
import { parseReportRequest } from '../../lib/reports/request.ts'
import { verifyPack } from '../../lib/reports/verify.ts'
import { refuseLabels } from '../../lib/selectors/read-selector.ts'
import type { HttpDefinition } from '../../runtime/define.ts'
import { checkQuery } from '../../runtime/guards.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { FUZZ_TIMEOUT_MS, fuzz, textOf } from '../support/fuzz.ts'

vi.setConfig({ testTimeout: FUZZ_TIMEOUT_MS })

const bytesOf = (...texts: string[]) => texts.map((text) => Buffer.from(text))

test('no query string breaks the check of any endpoint, or reaches past its own names', () => {
  const definitions = loadFunctions(FUNCTIONS).http.map(
    ({ definition }) => definition as unknown as HttpDefinition,
  )
  const corpus = bytesOf(
    'limit=100&cursor=abc&include_archived=true&status=pending&window=24h',
    'user=a&user_id=b&email=c%40example.com&action=config.push&from=2026-07-01T08:00:00Z&to=2026-07-02T08:00:00Z',
    'hash=0123&push_id=0192d3b4-0000-7000-8000-000000000001&offset=10&request_id=x&token=a.b.c',
  )
  const words = [
    '&',
    '=',
    '%',
    '%00',
    '%ff',
    '+',
    '__proto__=',
    'constructor=',
    '[]=',
    ';',
    '#',
    'limit=',
    'toString=',
  ]
  return fuzz({ corpus, words, rounds: 300 }, (input) => {
    for (const definition of definitions) {
      const checked = checkQuery(definition, input.toString('latin1'))
      if (!checked.ok) expect(checked.reply.status).toBe(400)
      else expect(Object.getPrototypeOf(checked.query ?? {})).toBe(Object.prototype)
    }
    const values = Object.fromEntries(new URLSearchParams(input.toString('latin1')))
    if (AuditQuery.is(values)) {
      const filter = readFilter(values)
      if (filter.ok) expect(JSON.stringify(filter.filter)).not.toContain('\\u0000')
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

test('no header of an agent breaks what reads it', () => {
  const corpus = bytesOf('gzip;q=0.5, *;q=0', 'Bearer a secret', 'identity, br;q=1.0, gzip')
  return fuzz({ corpus, words: ['q=', ';', ',', '*', 'Bearer ', 'NaN'], rounds: 1_000 }, (input) => {
    const text = input.toString('latin1')
    expect(typeof asksForGzip(text)).toBe('boolean')
    expect(holdsSharedSecret(text, 'another secret that nobody says')).toBe(false)
  })
})

test('no uid, version, label or name of an agent breaks what reads it', () => {
  const corpus = bytesOf(
    '0192d3b4-0000-7000-8000-000000000001',
    '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    '0123456789abcdef',
    'v0.149.0-rc.1+build.5',
    'prod-eu/not-production',
  )
  return fuzz(
    { corpus, words: ['-', '.', 'Z', '9', '99999999999999999999', 'prod'], rounds: 1_000 },
    (input) => {
      const text = textOf(input)
      const key = instanceUidKey(input)
      if (key !== null) {
        expect(key).toMatch(/^[0-9a-f]{32}$/)
        expect(instanceUidKey(instanceUidLike(Buffer.from(key, 'hex'), input))).toBe(key)
      }
      const there = compareVersions(text, '1.2.3')
      const back = compareVersions('1.2.3', text)
      expect(there === null ? null : Math.sign(there) + Math.sign(back!)).toBe(there === null ? null : 0)
      namesProduction(text)
      refuseLabels({ [text]: text })
      const attributes = new Map([
        ['service.name', text],
        ['k8s.namespace.name', text],
        [text, text],
      ])
      expect(identifyWorkload(attributes, '0'.repeat(32)).id).toMatch(/^[0-9a-f]{24}$/)
    },
  )
})

test('no redirect of a webhook leads where it may not', () => {
  const base = new URL('https://hooks.example.com/alerts')
  const corpus = bytesOf(
    'https://other.example.com:8443/a?b#c',
    '//127.0.0.1/x',
    '../../up',
    'https://user:pw@[::ffff:7f00:1]/',
    'http://0x7f.1/',
  )
  const words = [
    '@',
    '//',
    '\\',
    '[',
    ']',
    ':',
    '%2f',
    '%00',
    '127.0.0.1',
    '::1',
    'localhost',
    '。',
    '\t',
    '0177.',
  ]
  return fuzz({ corpus, words, rounds: 1_500 }, (input) => {
    const checked = checkWebhookUrl(textOf(input), base, judgeAddress)
    if (!checked.ok) return
    expect(checked.target.url.protocol).toBe('https:')
    expect(checked.target.url.username + checked.target.url.password).toBe('')
    if (checked.target.isLiteralAddress) expect(judgeAddress(checked.target.host)).toEqual({ ok: true })
  })
})

test('no report request and no pack from elsewhere breaks what reads it', () => {
  const corpus = bytesOf(
    '{"scope":{"selector":{"env":"prod"},"since":"2026-07-01T08:00:00Z","until":"2026-07-02T00:00:00+02:00"},"include":{"events":true}}',
    '{"schema_version":"evidence_pack.v1","sections":[{"kind":"events","items":[{"a":1}]}],"scope":{"workload_ids":["a"]},"signatures":[{"algorithm":"ed25519","value":"AA"}]}',
  )
  const words = ['{', '[', '"', 'null', '1e999', '-0', '"__proto__":', '\\ud800', '"sections":', '"scope":']
  return fuzz({ corpus, words, rounds: 800 }, (input) => {
    const text = textOf(input)
    const parsed = parseReportRequest(text)
    if (parsed.ok) expect(parsed.request.redaction).toBe('strict')
    expect(verifyPack(text, null).isIntact).toBe(false)
  })
})
