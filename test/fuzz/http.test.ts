import { array, number, object, optional, string } from 'superstruct'
import { expect, test, vi } from 'vitest'
import { openTokens } from '../../lib/identity/sessions/tokens.ts'
import { decodeCursor, encodeCursor } from '../../lib/store/cursor.ts'
import { checkBody } from '../../runtime/body.ts'
import { readCookie, readCredential } from '../../runtime/credentials.ts'
import type { BodySpec } from '../../runtime/define.ts'
import { loadFunctions } from '../../runtime/loader.ts'
import { FUNCTIONS } from '../../runtime/manifest.generated.ts'
import { isOriginTrusted } from '../../runtime/origin.ts'
import { readLimit } from '../../runtime/pagination.ts'
import { createProxyPolicy } from '../../runtime/proxies.ts'
import { createRouter } from '../../runtime/router.ts'
import { FAKE_START, fakeClock } from '../support/fakes.ts'
import { FUZZ_TIMEOUT_MS, fuzz, textOf } from '../support/fuzz.ts'

vi.setConfig({ testTimeout: FUZZ_TIMEOUT_MS })

const functions = loadFunctions(FUNCTIONS)
const latin = (input: Buffer) => input.toString('latin1')
const WORDS = [
  '__proto__',
  'constructor',
  '"',
  '\\u0000',
  '{',
  '[',
  '}',
  ']',
  'null',
  '1e999',
  '%00',
  '%2e%2e/',
  ';',
  '=',
  ',',
]

test('no JSON body breaks the check of any endpoint', () => {
  const specs = functions.http.map(({ definition }) => definition.body as BodySpec<unknown>)
  const own = object({ name: string(), list: optional(array(number())) })
  expect(specs.length).toBeGreaterThan(20)
  const corpus = [
    '{"name":"x","list":[1,2,3]}',
    '{"email":"a@example.com","password":"correct horse battery","groups":["administrators"]}',
    '{"draft_yaml":"a: 1","target_group":"g","target_env":"e","comment":"c","stages":[{"percent":10}]}',
    '{"report_type":"fleet","include":{"events":true},"since":"2026-07-01T08:00:00Z"}',
  ].map((text) => Buffer.from(text))
  return fuzz({ corpus, words: WORDS, rounds: 150 }, (input) => {
    for (const spec of specs) {
      const checked = checkBody(spec, input)
      if (!checked.ok) expect(checked.reply.status).toBeGreaterThanOrEqual(400)
    }
    const strict = {
      kind: 'json',
      struct: own,
      whenAbsent: null,
      isStrict: true,
      invalidText: 'no',
      bytesMax: 9,
    }
    checkBody(strict as unknown as BodySpec<unknown>, input)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

test('no path breaks the router', () => {
  const route = createRouter(functions.http)
  const corpus = functions.http.map(({ definition }) => Buffer.from(definition.route.split(' ')[1]!))
  return fuzz(
    { corpus, words: [...WORDS, '/', '//', '..', '%', ':id', '\\', '?', '#'], rounds: 600 },
    (input) => {
      const { kind } = route('GET', latin(input))
      expect(['function', 'method-not-allowed', 'unknown']).toContain(kind)
    },
  )
})

test('no cookie, header or origin breaks what reads it', () => {
  const proxies = createProxyPolicy(['10.0.0.0/8', '::1'])
  const corpus = [
    'om_session=abc; theme=dark',
    'Bearer abc.def.ghi',
    'https://example.com:8443',
    '10.1.2.3, ::1, 1.2.3.4',
  ]
  return fuzz({ corpus: corpus.map((text) => Buffer.from(text)), words: WORDS, rounds: 1_000 }, (input) => {
    const text = latin(input)
    readCookie(text, 'om_session')
    readCredential(() => text)
    proxies.clientOf('10.0.0.1', () => text)
    readLimit(text)
    expect(isOriginTrusted(`${text}.evil.example`, 'muster.example', ['https://*.trusted.example'])).toBe(
      text === '' ? false : isOriginTrusted(`${text}.evil.example`, '', []),
    )
  })
})

test('no cursor but our own is taken', () => {
  const corpus = [Buffer.from(encodeCursor('list.name', ['a', 1]))]
  return fuzz({ corpus, words: WORDS, rounds: 1_000 }, (input) => {
    const key = decodeCursor('list.name', ['string', 'number'], latin(input))
    if (key === null) return
    expect(key).toHaveLength(2)
    expect(typeof key[0]).toBe('string')
    expect(Number.isFinite(key[1])).toBe(true)
  })
})

test('no token but our own is taken', async () => {
  const tokens = openTokens('a secret that is long enough for a test', fakeClock())
  const sessionId = '0192d3b4-0000-7000-8000-000000000001'
  const { token } = await tokens.sign({
    userId: 'u',
    email: 'a@example.com',
    groups: [],
    sessionId,
    issuedAt: new Date(FAKE_START),
  })
  expect(await tokens.verify(token)).toEqual({ userId: 'u', sessionId })
  await fuzz(
    { corpus: [Buffer.from(token)], words: ['.', 'e30', 'eyJhbGciOiJub25lIn0'], rounds: 600 },
    async (input) => {
      const text = latin(input)
      // The last character of a base64url signature has bits that do not count, so a change there may leave the token
      // valid.
      if (text.slice(0, -1) !== token.slice(0, -1)) expect(await tokens.verify(text)).toBeNull()
    },
  )
})

test('no text is read as more than it is', () => {
  const spec = { kind: 'text', bytesMax: 1_000 } as unknown as BodySpec<unknown>
  return fuzz({ corpus: [Buffer.from('receivers: {}\n')], rounds: 1_000 }, (input) => {
    const checked = checkBody(spec, input)
    expect(Buffer.from(textOf(input)).equals(input)).toBe(checked.ok)
    if (checked.ok) expect(checked.body).toBe(textOf(input))
  })
})
