import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  CLOCK_TOLERANCE_S,
  type Flow,
  type IssuerFetch,
  openProvider,
} from '../../../../lib/identity/oidc/provider.ts'
import { type FakeClock, fakeClock } from '../../../support/fakes.ts'
import { CLIENT_ID, settingsFor } from '../../../support/oidc/provider.ts'

const TELL = { invalid() {}, away() {} }

// The library compares tokens with the time of this machine; the clock of the provider's metadata is the test's own.

const ISSUER = 'https://id.example.com'
const FLOW: Flow = { state: 'the-state', nonce: 'the-nonce', verifier: 'v'.repeat(43) }
const BACK = `code=abc&state=${FLOW.state}`
const SETTINGS = settingsFor(ISSUER, 'https://muster.example')
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/auth`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/jwks`,
  userinfo_endpoint: `${ISSUER}/me`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
}

let keys: Awaited<ReturnType<typeof generateKeyPair>>
let published: object
beforeAll(async () => {
  keys = await generateKeyPair('RS256', { extractable: true })
  published = { keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'RS256', kid: 'k1', use: 'sig' }] }
})

type Answer = () => Response | Promise<Response>
const json = (value: unknown, status = 200) => Response.json(value, { status })
let clock: FakeClock
/** The paths that the provider was asked for, in this order. */
let asked: string[]
/** What it answers instead, by path. */
let answers: Record<string, Answer>
beforeEach(() => {
  clock = fakeClock(new Date().toISOString())
  asked = []
  answers = {}
})

async function idToken(more: Record<string, unknown> = {}): Promise<string> {
  const nowS = Math.floor(clock.now().getTime() / 1_000)
  const said = { iss: ISSUER, aud: CLIENT_ID, sub: 'ada', nonce: FLOW.nonce, iat: nowS, exp: nowS + 300 }
  return new SignJWT({ ...said, ...more })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    .sign(keys.privateKey)
}
const tokens = async (more: Record<string, unknown> = {}) =>
  json({ access_token: 'at', token_type: 'Bearer', expires_in: 300, id_token: await idToken(more) })

const USUAL: Record<string, Answer> = {
  '/.well-known/openid-configuration': () => json(METADATA),
  '/jwks': () => json(published),
  '/token': () => tokens(),
  '/me': () => json({ sub: 'ada', name: 'Ada Lovelace' }),
}
const open = (settings = SETTINGS) =>
  openProvider(settings, clock, async (url) => {
    const { pathname } = new URL(url)
    asked.push(pathname)
    return (answers[pathname] ?? USUAL[pathname] ?? (() => json({}, 404)))()
  })
const DISCOVERY = '/.well-known/openid-configuration'
const discoveries = () => asked.filter((path) => path === DISCOVERY).length

describe('the provider', () => {
  it('is not asked before somebody signs in', () => {
    open()
    expect(asked).toEqual([])
  })

  it('is given up after five seconds where it never answers, and asked anew by the next sign-in', async () => {
    const waits: number[] = []
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      waits.push(ms)
      return AbortSignal.abort(new DOMException('the time is over', 'TimeoutError'))
    })
    const silent = openProvider(SETTINGS, clock, (url, init) => {
      asked.push(new URL(url).pathname)
      const signal = init?.signal
      // It never answers: only the end of the wait ends the request.
      return new Promise<Response>((_, reject) => {
        if (signal?.aborted) reject(signal.reason)
      })
    })
    try {
      expect(await silent.finish(BACK, FLOW)).toMatchObject({ ok: false })
      expect(await silent.finish(BACK, FLOW)).toMatchObject({ ok: false })
      expect([waits, discoveries()]).toEqual([[5_000, 5_000], 2])
    } finally {
      timeout.mockRestore()
    }
  })

  it('is none where its metadata stand for every tenant, whatever the library makes of them', async () => {
    const host = 'https://login.microsoftonline.com'
    answers['/common/v2.0/.well-known/openid-configuration'] = () =>
      json({ ...METADATA, issuer: `${host}/{tenantid}/v2.0` })
    const begun = await open(settingsFor(`${host}/common/v2.0`, 'https://muster.example')).begin(FLOW)
    expect(String(begun.ok ? begun.url : (begun.cause as Error).message)).toContain('stands for every tenant')
  })

  it('is sent a browser with what ties the answer to it, and never with the verifier', async () => {
    const begun = await open().begin(FLOW)
    if (!begun.ok) throw begun.cause
    const { origin, pathname, searchParams } = new URL(begun.url)
    expect(origin + pathname).toBe(`${ISSUER}/auth`)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: CLIENT_ID,
      response_type: 'code',
      redirect_uri: SETTINGS.callbackUrl,
      scope: SETTINGS.scopes,
      state: FLOW.state,
      nonce: FLOW.nonce,
      code_challenge_method: 'S256',
    })
    expect(begun.url).not.toContain(FLOW.verifier)
  })

  it('is asked for its metadata once an hour, and once by all who come meanwhile', async () => {
    const provider = open()
    await Promise.all([provider.begin(FLOW), provider.begin(FLOW), provider.readLogout('none', TELL)])
    expect(discoveries()).toBe(1)
    clock.advance(3_600_000 - 1)
    await provider.begin(FLOW)
    expect(discoveries()).toBe(1)
    clock.advance(1)
    await provider.begin(FLOW)
    expect(discoveries()).toBe(2)
  })

  it('that was away is asked again by the next who comes', async () => {
    const provider = open()
    answers[DISCOVERY] = () => json({}, 503)
    expect(await provider.begin(FLOW)).toMatchObject({ ok: false, code: 'provider-away' })
    expect(await provider.readLogout('none', TELL)).toBe('provider-away')
    answers = {}
    expect(await provider.begin(FLOW)).toMatchObject({ ok: true })
  })
})

describe('whoever comes back', () => {
  it('is who the ID token says, with what UserInfo adds', async () => {
    answers['/token'] = () => tokens({ sid: 's1' })
    expect(await open().finish(BACK, FLOW)).toMatchObject({
      ok: true,
      issuer: ISSUER,
      identity: { subject: 'ada', displayName: 'Ada Lovelace', providerSession: 's1' },
    })
  })

  it('needs no UserInfo where the provider has none', async () => {
    const { userinfo_endpoint: _, ...without } = METADATA
    answers[DISCOVERY] = () => json(without)
    expect(await open().finish(BACK, FLOW)).toMatchObject({ ok: true, identity: { subject: 'ada' } })
    expect(asked).not.toContain('/me')
  })

  it.each<[string, Record<string, unknown>]>([
    ['another issuer', { iss: 'https://elsewhere.example' }],
    ['another audience', { aud: 'somebody else' }],
    ['another nonce', { nonce: 'other' }],
    ['no nonce', { nonce: undefined }],
    ['a time that is over', { exp: Math.floor(Date.now() / 1_000) - 10 * CLOCK_TOLERANCE_S }],
    ['a time to come', { iat: Math.floor(Date.now() / 1_000) + 5 * CLOCK_TOLERANCE_S }],
  ])('is refused with an ID token of %s', async (_, more) => {
    answers['/token'] = () => tokens(more)
    expect(await open().finish(BACK, FLOW)).toMatchObject({ ok: false, code: 'provider-refused' })
  })

  it('is refused where the ID token is signed by nobody whom the provider publishes', async () => {
    const other = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(other.publicKey)), alg: 'RS256', kid: 'k1', use: 'sig' }
    answers['/jwks'] = () => json({ keys: [jwk] })
    expect(await open().finish(BACK, FLOW)).toMatchObject({ ok: false, code: 'provider-refused' })
  })

  it('is refused where UserInfo speaks of somebody else', async () => {
    answers['/me'] = () => json({ sub: 'eve' })
    expect(await open().finish(BACK, FLOW)).toMatchObject({ ok: false, code: 'provider-refused' })
  })

  it('is refused with the state of another browser, before any code is exchanged', async () => {
    expect(await open().finish('code=abc&state=other', FLOW)).toMatchObject({
      ok: false,
      code: 'provider-refused',
    })
    expect(asked).not.toContain('/token')
  })

  it('said no, which is not a fault of the provider', async () => {
    const said = (error: string) => open().finish(`error=${error}&state=${FLOW.state}`, FLOW)
    expect(await said('access_denied')).toMatchObject({ ok: false, code: 'sign-in-cancelled' })
    expect(await said('server_error')).toMatchObject({ ok: false, code: 'provider-refused' })
  })

  it('finds that groups were left out because there are too many', async () => {
    answers['/token'] = () => tokens({ _claim_names: { groups: 'src1' } })
    expect(await open().finish(BACK, FLOW)).toMatchObject({ ok: false, code: 'groups-overage' })
  })

  it.each<[string, Answer, string]>([
    ['no answer', () => Promise.reject(new TypeError('fetch failed')), 'provider-away'],
    ['an answer too late', () => Promise.reject(new DOMException('late', 'TimeoutError')), 'provider-away'],
    ['an error of the server', () => json({}, 502), 'provider-away'],
    ['a refusal', () => json({ error: 'invalid_grant' }, 400), 'provider-refused'],
    ['something that is no answer', () => new Response('<html>'), 'provider-refused'],
  ])('and gets %s of the provider is told so', async (_, answer, code) => {
    answers['/token'] = answer
    expect(await open().finish(BACK, FLOW)).toMatchObject({ ok: false, code })
  })
})

it('a logout token is for this client, by the keys that the provider publishes', async () => {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const sign = (more: object) => idToken({ events, nonce: undefined, ...more })
  const provider = open()
  expect(await provider.readLogout(await sign({}), TELL)).toMatchObject({ issuer: ISSUER, subject: 'ada' })
  expect(await provider.readLogout(await sign({ aud: 'somebody else' }), TELL)).toBeNull()
})

describe('a logout token of a key that is not known', () => {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const keysAsked = () => asked.filter((path) => path === '/jwks').length
  const sign = async (kid: string, key = keys.privateKey) => {
    const iat = Math.floor(clock.now().getTime() / 1_000)
    return new SignJWT({ iss: ISSUER, aud: CLIENT_ID, sub: 'ada', iat, events })
      .setProtectedHeader({ alg: 'RS256', kid })
      .sign(key)
  }
  /** A provider whose waits last until they are ended. */
  function openWaiting() {
    const waits: { ms: number; end(): void }[] = []
    const wait = (ms: number) => new Promise<void>((resolve) => waits.push({ ms, end: resolve }))
    const ask: IssuerFetch = async (url) => {
      const { pathname } = new URL(url)
      asked.push(pathname)
      return (answers[pathname] ?? USUAL[pathname]!)()
    }
    return { provider: openProvider(SETTINGS, clock, ask, wait), waits }
  }
  const rotate = async () => {
    const fresh = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(fresh.publicKey)), alg: 'RS256', kid: 'k2', use: 'sig' }
    answers['/jwks'] = () => json({ keys: [jwk] })
    return fresh.privateKey
  }

  it('waits for the keys to be asked for again, once in three seconds whoever asks', async () => {
    const { provider, waits } = openWaiting()
    expect(await provider.readLogout(await sign('k1'), TELL)).toMatchObject({ subject: 'ada' })
    const fresh = await rotate()
    clock.advance(1_000)
    const bogus = await sign('k9')
    const reads = [sign('k2', fresh), sign('k2', fresh), bogus].map(async (of) =>
      provider.readLogout(await of, TELL),
    )
    await vi.waitUntil(() => waits.length > 0)
    expect([keysAsked(), waits.map(({ ms }) => ms)]).toEqual([1, [2_000]])
    clock.advance(2_000)
    waits[0]!.end()
    const [one, two, none] = await Promise.all(reads)
    expect([one, two, none]).toMatchObject([{ subject: 'ada' }, { subject: 'ada' }, null])
    expect(keysAsked()).toBe(2)
    // Three seconds after the last time nobody waits.
    clock.advance(3_000)
    expect(await provider.readLogout(bogus, TELL)).toBeNull()
    expect([keysAsked(), waits.length]).toEqual([3, 1])
  })

  it('is told that the provider is away where its keys cannot be had, or too many wait for them', async () => {
    const { provider, waits } = openWaiting()
    answers['/jwks'] = () => json({}, 503)
    expect(await provider.readLogout(await sign('k1'), TELL)).toBe('provider-away')
    answers = {}
    clock.advance(3_000)
    expect(await provider.readLogout(await sign('k1'), TELL)).toMatchObject({ subject: 'ada' })
    const bogus = await sign('k9')
    const reads = Array.from({ length: 51 }, () => provider.readLogout(bogus, TELL))
    expect(await Promise.race(reads)).toBe('provider-away')
    await vi.waitUntil(() => waits.length > 0)
    clock.advance(3_000)
    waits[0]!.end()
    const told = await Promise.all(reads)
    expect(told.filter((of) => of === 'provider-away')).toHaveLength(1)
    expect(told.filter((of) => of === null)).toHaveLength(50)
  })
})
