import { type AuthMethod, AuthMethods } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** The ways to sign in that this edition has, and the identity provider where one is configured. */
export default defineHttp({
  route: 'GET /api/auth/methods',
  summary: 'List the ways to sign in.',
  access: publicAccess('the login page asks before anybody is signed in'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The methods.', json: AuthMethods }],
  errors: [],
  async handle(_, ctx) {
    const methods = await ctx.edition.authMethods()
    const { oidc } = ctx.identity
    if (oidc === null) return json({ methods })
    const method: AuthMethod = {
      id: 'oidc',
      type: 'sso',
      display_name: oidc.settings.name,
      login_url: '/api/auth/oidc/login',
    }
    return json({ methods: [...methods.filter(({ id }) => id !== method.id), method] })
  },
})
