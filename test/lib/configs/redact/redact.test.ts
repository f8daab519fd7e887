import { describe, expect, it, test } from 'vitest'
import {
  holdsSecretKey,
  isSecretKey,
  MASK,
  redactText,
  redactUrl,
  redactValue,
} from '../../../../lib/configs/redact/redact.ts'
import { countWork } from '../../../support/regex/work.ts'

const LONG = 20_000
/** How often a text is gone through: there are about twenty expressions, and some run twice. */
const PASSES_MAX = 100

const SECRET = 'Zq7vN2pX9sLkW3tY8uBd'

describe('free text', () => {
  it.each([
    `Authorization: Splunk ${SECRET}`,
    `authorization: ApiToken ${SECRET}, retrying`,
    `"authorization": ["Api-Token", "${SECRET}"]`,
    `headers={x-team: ${SECRET}}`,
    `post https://hooks.slack.com/services/T00000000/B00000000/${SECRET}: 404`,
    `post "https://discord.com/api/webhooks/123456789/${SECRET}"`,
    `https://api.telegram.org/bot123456:${SECRET}/sendMessage`,
    `vault refused hvs.${SECRET}`,
    `npm_${SECRET}`,
    `sk_live_${SECRET}`,
    `glrt-${SECRET}`,
    `GOCSPX-${SECRET}`,
    `SG.${SECRET}.${SECRET}`,
  ])('loses %s', (text) => {
    expect(redactText(text)).not.toContain(SECRET)
    expect(redactText(text)).toContain(MASK)
  })

  test.each([
    ['a bearer token', 'header Authorization: Bearer abc.def-ghi rejected', 'abc.def-ghi'],
    ['basic credentials', 'sent basic dXNlcjpwYXNz to backend', 'dXNlcjpwYXNz'],
    ['user information of a URL', 'dial postgres://app:hunter2@db:5432/x failed', 'hunter2'],
    ['a user that has an @ in its password', 'dial https://app:hun@ter2@db/x failed', 'ter2'],
    ['a password with a slash', 'dial https://user:pa/hunter2@db:4317/x failed', 'hunter2'],
    ['what stands before the slash of a password', 'dial https://user:hunter2/x@db:4317/x failed', 'hunter2'],
    ['a password with a slash behind digits', 'dial https://user:12/hunter2@db:4317/x failed', 'hunter2'],
    ['a password with other marks of a URL', 'dial https://user:pa?s#hunter2@db/x failed', 'hunter2'],
    ['a password with a slash behind an @', 'dial https://us@er:pa/hunter2@db/x failed', 'hunter2'],
    ['a password with a slash and no name', 'dial redis://:pa/hunter2@db:6379/0 failed', 'hunter2'],
    ['a password with digits, a slash and no name', 'dial redis://:12/hunter2@db:6379/0 failed', 'hunter2'],
    ['a password with a question mark and no name', 'dial redis://:hunter2?x@db:6379/0 failed', 'hunter2'],
    ['a password with a question mark behind digits', 'dial redis://app:12?hunter2@db failed', 'hunter2'],
    ['the digits before a hash in a password', 'dial redis://app:4711#hunter2@db failed', '4711'],
    ['a password with an @ and a slash behind it', 'dial redis://:p@a/hunter2@host:6379/0 failed', 'hunter2'],
    ['a password with an @, a slash and a port', 'dial redis://app:p@a:1/hunter2@host failed', 'hunter2'],
    ['a password with an @ and a path of its own', 'dial redis://app:p@a/@hunter2@host/0 failed', 'hunter2'],
    ['a password with an @, a query and a =', 'dial redis://app:p@a?b=hunter2@host/0 failed', 'hunter2'],
    ['a name with an @ and a slash', 'dial https://tok@en/hunter2@host failed', 'hunter2'],
    ['a password behind a bracket', 'dial https://[app:x/hunter2@host failed', 'hunter2'],
    ['a password behind what looks like an address', 'dial https://[::1]x:y/hunter2@host failed', 'hunter2'],
    ['a password with a quote', "dial postgres://app:hunter2's@db/x failed", 'hunter2'],
    ['what stands behind the quote of a password', "dial postgres://app:it'hunter2@db/x failed", 'hunter2'],
    ['a password with angle brackets', 'dial postgres://app:a<hunter2>b@db/x failed', 'hunter2'],
    ['a password with a backtick', 'dial postgres://app:a`hunter2@db/x failed', 'hunter2'],
    ['a password that begins with a quote', 'dial redis://:"hunter2@db/0 failed', 'hunter2'],
    ['a password of digits and a quote', 'dial postgres://app:12"hunter2@db/x failed', 'hunter2'],
    ['a quoted password', "dial postgres://app:'hunter2'@db:5432/x failed", 'hunter2'],
    ['a password of digits and a quote in quotes', 'dial "redis://:12"hunter2@db/0": EOF', 'hunter2'],
    ['a password with a bracket and an @', 'dial postgres://app:<a@hunter2>@db/x failed', 'hunter2'],
    ['what stands behind an @ and a quote', "dial redis://app:p@'hunter2@db failed", 'hunter2'],
    ['what stands behind an @, a letter and a quote', "dial redis://app:p@x'hunter2@db failed", 'hunter2'],
    [
      'a password that begins as one that is filled in',
      'dial redis://:${env:A}"hunter2@db failed',
      'hunter2',
    ],
    ['a password with a slash without a scheme', 'dsn app:pa/hunter2@tcp(db:3306)/x is wrong', 'hunter2'],
    ['a secret query value', 'GET https://h/x?b=1&api-key=hunter2 -> 401', 'hunter2'],
    ['credentials before a host that is filled in', 'connect app:hunter2@${env:HOST}:4317 failed', 'hunter2'],
    ['credentials before a host in other letters', 'connect app:hunter2@örtlich.example:1 failed', 'hunter2'],
    ['credentials without a scheme', 'dsn app:hunter2@tcp(db:3306)/x is wrong', 'hunter2'],
    ['an assigned secret', "exporters: 'api_key: hunter2' is not valid", 'hunter2'],
    ['a quoted assigned secret', '{"client_secret": "hun ter2", "a": 1}', 'ter2'],
    ['a JWT', 'token eyJhbGciOi.eyJzdWIiOiIx.c2ln expired', 'eyJzdWIiOiIx'],
    ['a private key, even cut off', 'bad key -----BEGIN EC PRIVATE KEY-----\nMHcCAQEE', 'MHcCAQEE'],
    ['an access key id', 'AKIAIOSFODNN7EXAMPLE is unknown', 'AKIAIOSFODNN7EXAMPLE'],
    ['an assigned key with a dot', 'api.key = hunter2', 'hunter2'],
    ['the key of an agent', '{"agent_key":"hunter2"}', 'hunter2'],
    ['an SNMP community', 'community: "hunter2"', 'hunter2'],
    ['a value behind many blanks', 'password    =    hunter2', 'hunter2'],
    ['a value in a column of its own', `password${' '.repeat(40)}=${' '.repeat(40)}hunter2`, 'hunter2'],
    ['a quoted value of any length', `token: "${'x'.repeat(6_000)} hunter2"`, 'hunter2'],
    ['a name of any length', `${'x'.repeat(500)}_token=hunter2`, 'hunter2'],
    ['a JWT cut off in its first part', 'bad eyJhbGciOiJIUzI1NiIs', 'hbGciOiJIUzI1NiIs'],
    ['a JWT behind a name', 'bad x-eyJhbGciOiJIUzI1NiIs.e30.c2ln', 'c2ln'],
    ['what stands behind one that is masked', `token=${MASK} password=hunter2`, 'hunter2'],
    ['an e-mail address', 'user jane.doe+x@corp.example.com unknown', 'jane.doe'],
  ])('loses %s', (_, text, secret) => {
    const clean = redactText(text)
    expect(clean).not.toContain(secret)
    expect(clean.length).toBeGreaterThan(0)
  })

  it('keeps what tells an operator what is wrong', () => {
    const text = `service::pipelines::metrics: references exporter "prometheusremotewrite/eu" which is not configured`
    expect(redactText(text)).toBe(text)
    const bind = 'listen tcp 0.0.0.0:4317: bind: address already in use'
    expect(redactText(bind)).toBe(bind)
    for (const url of [
      'get https://db:4318/v1/traces?who=a@b failed',
      'get https://db:4318/@scope/name failed',
      'get https://${env:HOST}:4318/v1 failed',
      'get https://db:${env:PORT}/v1/@me failed',
      'get https://[::1]:4318/a@b failed',
      'listen tcp://:4317/v1/@me failed',
      'get https://db.example.com/who/a@b failed',
      'get "http://db:4317" or <http://db/x>, or ask `http://db` and a@b',
      "{'endpoint':'http://db:4317','name':'a@b'}",
      'dial "http://db:4317": or <http://db:4318>, said a@b',
    ])
      expect(redactText(url)).toBe(url)
  })

  it('goes through a hostile text a bounded number of times, however long it is', () => {
    for (const piece of [
      'a@',
      '://',
      'token=',
      '-----BEGIN A-----',
      '"',
      'a:b',
      '=\\',
      'eyJaaaaaa.',
      'a.a.',
      'a://b:c<',
      'a://b:c< ',
      'a://b:@/',
      "a://b'",
      'a://:"',
      "'a://:1'@",
      'a://b@"',
      'a:/b@',
      '//a:b',
      'a:b/c@',
      '\\\\a@',
      '/',
      'http:',
    ]) {
      const work = (length: number) =>
        countWork(() => redactText(piece.repeat(length / piece.length).slice(0, length)))
      const [once, twice] = [work(LONG), work(2 * LONG)]
      expect(twice / once, `${piece}: ${once}, ${twice} when it is twice as long`).toBeLessThan(2.2)
      expect(once / LONG, piece).toBeLessThan(PASSES_MAX)
    }
  })

  it('sorts what is left of a query and drops a fragment', () => {
    expect(redactUrl('https://u:p@h:1/x?z=1&Token=s#frag')).toBe(`https://h:1/x?Token=${MASK}&z=1`)
  })
})

describe('values of a config', () => {
  test.each([
    'Authorization',
    'X-Api-Key',
    'dd-api-key',
    'APIKey',
    'connectionString',
    'sas',
    'dsn',
    'headers',
    'pwd',
    'bearer_token',
    'api.key',
    'agent_key',
    'agentKey',
    'community',
    'required_header',
    'required_header.value',
    'headers::x-tenant',
    'auth::psk',
    // The names of such keys in configs of other vendors' agents, which the migration preview reads.
    'app_key',
    'storage-key',
    'pass4SymmKey',
    'cloud.auth',
    'bearer',
    'appkey',
    'storagekey',
    'encryptionKey',
    'cloud_auth_id',
    'pass4SymmKey.main',
    'bearer_value',
    'passWord',
    'dbPassPhrase',
  ])('%s is a secret key', (key) => {
    expect(isSecretKey(key)).toBe(true)
  })
  test.each(['endpoint', 'timeout', 'passthrough', 'path', 'key', 'compression', 'signals'])(
    '%s is none',
    (key) => {
      expect(isSecretKey(key)).toBe(false)
    },
  )

  it('masks everything under a secret key and leaves the rest', () => {
    const value = {
      endpoint: 'https://user:hunter2@h:4318/v1?token=hunter2',
      headers: { 'x-tenant': 'acme', list: ['a', 'b'] },
      auth: { authenticator: 'basicauth/x' },
      actions: [{ key: 'db.password', value: 'hunter2', action: 'insert' }],
      note: 'Bearer hunter2',
      timeout: '5s',
      nothing: null,
    }
    const clean = JSON.stringify(redactValue(value as never))
    expect(clean).not.toMatch(/hunter2|acme/)
    expect(JSON.parse(clean)).toMatchObject({
      headers: { 'x-tenant': MASK, list: MASK },
      auth: { authenticator: 'basicauth/x' },
      timeout: '5s',
      nothing: null,
    })
  })

  it('masks a name that is spread over two keys, and what a required header must hold', () => {
    const value = {
      datadog: { api: { site: 'datadoghq.eu', key: 'hunter2' } },
      webhookevent: { required_header: { key: 'x-from', value: 'hunter2' } },
      snmp: { community: 'hunter2', version: 'v2c' },
      sort: { key: 'name' },
    }
    const clean = redactValue(value) as typeof value
    expect(JSON.stringify(clean)).not.toContain('hunter2')
    expect(clean).toMatchObject({
      datadog: { api: { site: 'datadoghq.eu' } },
      snmp: { version: 'v2c' },
      sort: { key: 'name' },
    })
    expect(redactValue('hunter2', ['exporters', 'datadog', 'api', 'key'])).toBe(MASK)
    expect(holdsSecretKey({ api: { key: 'hunter2' } })).toBe(true)
    expect(holdsSecretKey({ sort: { key: 'name' } })).toBe(false)
  })

  it('masks all credentials of a value that is one address, whatever its password holds', () => {
    for (const password of ["hun'ter2", 'hun"ter2', 'hun ter2', '12"ter2', "12'ter2", 'p@a/ter2', 'p@a ter2'])
      expect(redactValue(`redis://:${password}@db:6379/0`), password).toBe('redis://db:6379/0')
  })

  it('masks a value whose path holds a secret key', () => {
    expect(redactValue('acme', ['exporters', 'otlp', 'headers', 'x-tenant'])).toBe(MASK)
  })
})
