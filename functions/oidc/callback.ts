import { readCookie, sessionCookie } from '../../runtime/credentials.ts'
import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'
import { FLOW_COOKIE, flowCookie, goTo, goToRefusal } from './_oidc-cookies.ts'

/** The browser comes back from the identity provider. */
export default defineHttp({
  route: 'GET /api/auth/oidc/callback',
  summary: 'Where the identity provider sends browsers back to.',
  access: publicAccess('the provider vouches for who it is, and the cookie for whose browser'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 302, description: 'To the page that was wanted, or back to the sign-in page.' }],
  errors: ['not-found'],
  // The provider takes its code once, and the state in the cookie goes with the answer.
  doneOnce: { elsewhere: '/login?sso=unanswered' },
  async handle({ header, target, remoteAddress, onGone }, ctx) {
    const { oidc } = ctx.identity
    if (oidc === null) return problem('not-found')
    const outcome = await oidc.finish({
      query: target.query,
      kept: readCookie(header('cookie'), FLOW_COOKIE),
      address: remoteAddress,
      onGone,
    })
    if (!outcome.ok) return goToRefusal(ctx, outcome.refusal)
    const { publicUrl } = oidc.settings
    const maxAgeS = Math.floor((outcome.expiresAt.getTime() - ctx.clock.now().getTime()) / 1_000)
    const session = sessionCookie(outcome.token, maxAgeS, publicUrl.startsWith('https:'))
    return goTo(outcome.next, [session, flowCookie('', publicUrl)])
  },
})
