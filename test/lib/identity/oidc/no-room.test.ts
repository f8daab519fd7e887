import { afterAll, expect, it } from 'vitest'
import { openOidc } from '../../../../lib/identity/oidc/oidc.ts'
import { openTokens } from '../../../../lib/identity/sessions/tokens.ts'
import { createTestContext, TEST_CONFIG } from '../../../support/invoke.ts'
import { settingsFor } from '../../../support/oidc/provider.ts'
import { useTestDatabase } from '../../../support/postgres.ts'

const ISSUER = 'https://id.example.com'
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/auth`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/jwks`,
}

const database = await useTestDatabase()
const ctx = createTestContext(database)
afterAll(() => ctx.close())

it.each([
  ['the provider says no', 'error=access_denied', 'sign-in-cancelled', 0],
  ['the provider says no beside a code', 'code=x&error=access_denied', 'sign-in-cancelled', 0],
  ['no code came', 'hello=1', 'provider-refused', 0],
  ['an empty code came', 'code=&hello=1', 'provider-refused', 0],
  ['a code came', 'code=x', 'login-limited', 1],
  ['a code came beside an empty no', 'code=x&error=', 'login-limited', 1],
])(
  'a sign-in that comes back takes room only where the provider is asked about it: %s',
  async (_, query, code, taken) => {
    const onGone = () => {}
    const asked: string[] = []
    let places = 0
    const oidc = openOidc({
      db: ctx.db,
      clock: ctx.clock,
      random: ctx.random,
      log: { debug() {}, info() {}, warn() {}, error() {} },
      tokens: openTokens(TEST_CONFIG.jwtSecret, ctx.clock),
      ends: { announce() {} },
      jwtSecret: TEST_CONFIG.jwtSecret,
      settings: settingsFor(ISSUER, 'https://muster.example'),
      keptAdministrators: [],
      // There is no room left.
      async limitExchange(_address, _exchange, heard) {
        places++
        expect(heard).toBe(onGone)
        return { ok: false, refusal: { code: 'login-limited' } }
      },
      async fetchFromIssuer(url) {
        asked.push(new URL(url).pathname)
        return Response.json(METADATA)
      },
    })
    const begun = await oidc.begin('/')
    if (!begun.ok) throw new Error(begun.refusal.code)
    const state = new URL(begun.url).searchParams.get('state')
    const back = { query: `${query}&state=${state}`, kept: begun.kept, address: '192.0.2.1', onGone }
    expect(await oidc.finish(back)).toEqual({ ok: false, refusal: { code } })
    expect([places, asked]).toEqual([taken, ['/.well-known/openid-configuration']])
  },
)
