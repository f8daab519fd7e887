import { defaulted, string, type } from 'superstruct'
import { defineHttp, noBody, noParams, publicAccess } from '../../runtime/define.ts'
import { problem } from '../../runtime/reply.ts'
import { flowCookie, goTo, goToRefusal, refusalCookie } from './_oidc-cookies.ts'

/** A path of this service. Anything else could send whoever has signed in to the site of somebody else. */
const PAGE = /^\/(?![/\\])[^\p{Cc}\\]{0,511}$/u

/** Send the browser to the identity provider. */
export default defineHttp({
  route: 'GET /api/auth/oidc/login',
  summary: 'Sign in with the identity provider.',
  access: publicAccess('nobody is signed in before the sign-in'),
  gate: null,
  params: noParams,
  query: type({ next: defaulted(string(), '/') }),
  body: noBody,
  replies: [{ status: 302, description: 'To the provider, or back to the sign-in page.' }],
  errors: ['not-found'],
  async handle({ query }, ctx) {
    const { oidc } = ctx.identity
    if (oidc === null) return problem('not-found')
    const begun = await oidc.begin(PAGE.test(query.next) ? query.next : '/')
    if (!begun.ok) return goToRefusal(ctx, begun.refusal)
    const { publicUrl } = oidc.settings
    return goTo(begun.url, [flowCookie(begun.kept, publicUrl), refusalCookie('', publicUrl)])
  },
})
