import { generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkLogoutToken } from '../../../../lib/identity/oidc/logout-token.ts'

// Section 2.6 of OpenID Connect Back-Channel Logout 1.0: what a token must say, and what it must not.

const NOW = new Date('2026-03-01T12:00:00Z')
const EXPECTED = { issuer: 'https://id.example.com', audience: 'muster', now: NOW, toleranceS: 30 }
const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const SAID = { iss: EXPECTED.issuer, aud: 'muster', iat: NOW.getTime() / 1_000, events: EVENTS, sub: 'ada' }
let keys: Awaited<ReturnType<typeof generateKeyPair>>
beforeAll(async () => {
  keys = await generateKeyPair('RS256')
})

const sign = (claims: object, key = keys.privateKey) =>
  new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256' }).sign(key)
const check = async (claims: object) =>
  checkLogoutToken(await sign(claims), async () => keys.publicKey, EXPECTED)

describe('a logout token', () => {
  it('names a subject, a session of the provider, or both', async () => {
    const { sub: _, ...nobody } = SAID
    const ended = { issuer: EXPECTED.issuer }
    expect(await check(SAID)).toMatchObject({ ...ended, subject: 'ada', providerSession: null })
    expect(await check({ ...nobody, sid: 's1' })).toMatchObject({
      ...ended,
      subject: null,
      providerSession: 's1',
    })
    expect(await check({ ...SAID, sid: 's1' })).toMatchObject({
      ...ended,
      subject: 'ada',
      providerSession: 's1',
    })
    expect(await check(nobody)).toBeNull()
    expect(await check({ ...nobody, sub: '', sid: '' })).toBeNull()
  })

  it.each([
    ['of another issuer', { iss: 'https://other.example.com' }],
    ['for another audience', { aud: 'grafana' }],
    ['with a nonce, as an ID token has', { nonce: 'n' }],
    ['without the event', { events: { 'http://schemas.openid.net/event/other': {} } }],
    ['whose event is no object', { events: { 'http://schemas.openid.net/event/backchannel-logout': true } }],
    ['whose events are a list', { events: [EVENTS] }],
    ['older than five minutes', { iat: SAID.iat - 331 }],
    ['from the future', { iat: SAID.iat + 31 }],
    ['that is over', { exp: SAID.iat - 31 }],
  ])('%s is not valid', async (_, claims) => {
    expect(await check({ ...SAID, ...claims })).toBeNull()
  })

  it('is known again by what was signed, which an ECDSA signature of another form does not change', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const signed = () => new SignJWT({ ...SAID }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
    const hashOf = async (token: string) =>
      (await checkLogoutToken(token, async () => publicKey, EXPECTED))?.tokenHash
    // Each signature is made with a number of its own.
    const [one, two] = [await signed(), await signed()]
    expect(one).not.toBe(two)
    expect(await hashOf(one)).toMatch(/^[0-9a-f]{64}$/)
    expect(await hashOf(two)).toBe(await hashOf(one))
    expect((await check({ ...SAID, jti: 'x' }))?.tokenHash).not.toBe((await check(SAID))?.tokenHash)
  })

  it('names nothing that cannot be kept as it is', async () => {
    const { sub: _, ...nobody } = SAID
    expect(await check({ ...nobody, sub: 'a\0b' })).toBeNull()
    expect(await check({ ...nobody, sid: 'x'.repeat(256) })).toBeNull()
    expect(await check({ ...SAID, sid: 'a\0b' })).toMatchObject({ subject: 'ada', providerSession: null })
  })

  it('is valid to the edge of its age and of the tolerance', async () => {
    expect(await check({ ...SAID, iat: SAID.iat - 330 })).not.toBeNull()
    expect(await check({ ...SAID, iat: SAID.iat + 30 })).not.toBeNull()
  })

  it('counts only with the signature of the provider, which is not that of a shared secret', async () => {
    const others = await generateKeyPair('RS256')
    const forged = await sign(SAID, others.privateKey)
    expect(await checkLogoutToken(forged, async () => keys.publicKey, EXPECTED)).toBeNull()
    const secret = new TextEncoder().encode('x'.repeat(32))
    const shared = await new SignJWT({ ...SAID }).setProtectedHeader({ alg: 'HS256' }).sign(secret)
    expect(await checkLogoutToken(shared, async () => secret, EXPECTED)).toBeNull()
  })

  it.each([
    [
      'a header that nobody knows',
      { alg: 'RS256', crit: ['gone fishing'], 'gone fishing': 1 },
      'ERR_JOSE_NOT_SUPPORTED',
    ],
    ['another algorithm', { alg: 'HS999 gone fishing' }, 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['nothing that is true of it', { alg: 'RS256' }, 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
  ])('with %s is told of in words that hold nothing of it', async (_, header, code) => {
    const part = (said: object) => Buffer.from(JSON.stringify(said)).toString('base64url')
    const told: string[] = []
    const token = `${part(header)}.${part(SAID)}.${Buffer.alloc(256).toString('base64url')}`
    expect(
      await checkLogoutToken(
        token,
        async () => keys.publicKey,
        EXPECTED,
        (why) => told.push(why),
      ),
    ).toBeNull()
    expect(told).toEqual([code])
  })

  it('that is overlong, or none at all, is not read', async () => {
    const long = await sign({ ...SAID, padding: 'x'.repeat(16_384) })
    expect(await checkLogoutToken(long, async () => keys.publicKey, EXPECTED)).toBeNull()
    expect(await checkLogoutToken('', async () => keys.publicKey, EXPECTED)).toBeNull()
  })
})
