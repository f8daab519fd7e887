import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { openTokens } from '../../../../lib/identity/sessions/tokens.ts'
import { fakeClock } from '../../../support/fakes.ts'

const SECRET = 'a-test-secret-of-at-least-32-characters'
const key = new TextEncoder().encode(SECRET)
const sessionId = '01980000-0000-7000-8000-000000000001'
const userId = '01980000-0000-7000-8000-00000000000a'

function setUp() {
  const clock = fakeClock()
  const tokens = openTokens(SECRET, clock)
  const issuedAt = clock.now()
  const sign = () => tokens.sign({ userId, email: 'a@x', groups: ['viewer'], sessionId, issuedAt })
  const forge = (claims: object = {}, alg = 'HS256', secret = key) =>
    new SignJWT({ user_id: userId, jti: sessionId, exp: issuedAt.getTime() / 1_000 + 60, ...claims })
      .setProtectedHeader({ alg })
      .sign(secret)
  return { clock, tokens, sign, forge }
}

describe('login tokens', () => {
  it('are ours for 24 hours to the second', async () => {
    const { clock, tokens, sign } = setUp()
    const { token, expiresAt } = await sign()
    expect(expiresAt).toEqual(new Date(clock.now().getTime() + 86_400_000))
    expect(await tokens.verify(token)).toEqual({ userId, sessionId })
    clock.advance(86_399_999)
    expect(await tokens.verify(token)).toEqual({ userId, sessionId })
    clock.advance(1)
    expect(await tokens.verify(token)).toBeNull()
  })

  it('are refused with anything between that a lenient decoder would pass over', async () => {
    const { tokens, sign } = setUp()
    const { token } = await sign()
    for (const foreign of ['\t', '\n', ' ', '=', '!']) {
      expect(await tokens.verify(`${token.slice(0, -5)}${foreign}${token.slice(-5)}`), foreign).toBeNull()
      expect(await tokens.verify(token + foreign), foreign).toBeNull()
    }
  })

  it('pass with what is required and nothing more', async () => {
    const { tokens, forge } = setUp()
    expect(await tokens.verify(await forge())).toEqual({ userId, sessionId })
  })

  it('are refused without an end, a session or a user, and with anything but HS256 under our key', async () => {
    const { tokens, forge } = setUp()
    const bad = [
      await forge({ exp: undefined }),
      await forge({ jti: undefined }),
      await forge({ jti: "x' OR 1" }),
      await forge({ user_id: undefined }),
      await forge({ user_id: 7 }),
      await forge({ nbf: 4_000_000_000 }),
      await forge({}, 'HS384'),
      await forge({}, 'HS512'),
      await forge({}, 'HS256', new TextEncoder().encode(`${SECRET} `)),
      new UnsecuredJWT({ user_id: userId, jti: sessionId, exp: 4_000_000_000 }).encode(),
      '',
      'x',
      'a.b.c',
      'x'.repeat(100_000),
    ]
    for (const token of bad) expect(await tokens.verify(token)).toBeNull()
  })
})
