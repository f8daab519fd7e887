import { defineHttp, noParams, noQuery, publicAccess, textBody } from '../../runtime/define.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

const NO_STORE = { 'Cache-Control': 'no-store' }

/** The identity provider tells that a session of its own has ended: sessions that came of it end here as well. */
export default defineHttp({
  route: 'POST /api/auth/oidc/backchannel-logout',
  summary: 'OpenID Connect Back-Channel Logout: end the sessions of a logout token.',
  access: publicAccess('the provider signs what it says'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: textBody({ bytesMax: 8_192, mediaType: 'application/x-www-form-urlencoded' }),
  replies: [{ status: 200, description: 'They have ended.' }],
  errors: ['logout-token-invalid', 'not-found', 'provider-away'],
  async handle({ body }, ctx) {
    const { oidc } = ctx.identity
    if (oidc === null) return problem('not-found')
    const outcome = await oidc.logOut(new URLSearchParams(body).get('logout_token') ?? '')
    if (outcome === 'provider-away') return problem('provider-away', {}, { ...NO_STORE, 'Retry-After': '5' })
    if (outcome === 'refused') return problem('logout-token-invalid', {}, NO_STORE)
    return { status: 200, headers: NO_STORE, body: null } satisfies Reply
  },
})
