import { SignInRefusal } from '../../lib/wire/identity.ts'
import { SIGN_IN_REFUSALS } from '../../lib/wire/values.ts'
import { readCookie } from '../../runtime/credentials.ts'
import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { REFUSAL_COOKIE } from './_oidc-cookies.ts'

/**
 * Why this browser came back without a session. A cookie holds the reason, since anybody could write one into an
 * address.
 */
export default defineHttp({
  route: 'GET /api/auth/oidc/refusal',
  summary: 'Why the identity provider did not sign this browser in.',
  access: publicAccess('nobody is signed in, which is what it is about'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The reason, where there is one.', json: SignInRefusal }],
  errors: ['not-found'],
  async handle({ header }, ctx) {
    const { oidc } = ctx.identity
    if (oidc === null) return problem('not-found')
    const refusal = await oidc.openRefusal(readCookie(header('cookie'), REFUSAL_COOKIE))
    const reason = SIGN_IN_REFUSALS.find((known) => known === refusal?.code.replaceAll('-', '_'))
    const groups = refusal?.groups === undefined ? {} : { groups: refusal.groups }
    const missing = refusal?.isMappedToMissing ? { mapped_to_missing: true as const } : {}
    return json(reason === undefined ? {} : { reason, ...groups, ...missing }, 200, {
      'Cache-Control': 'no-store',
    })
  },
})
