import { readCredential, sessionCookie } from '../../runtime/credentials.ts'
import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { isOriginTrusted } from '../../runtime/origin.ts'
import { noContent, problem } from '../../runtime/reply.ts'

/**
 * End the session, or revoke the API token, with which the request comes, even when it has run out, and clear the
 * cookie.
 */
export default defineHttp({
  route: 'POST /api/auth/logout',
  summary: 'Log out: end this session, or revoke this API token, and clear the cookie.',
  access: publicAccess('a browser whose session is over still has a cookie to lose'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The session is over.' }],
  errors: ['origin-refused'],
  async handle({ header, isSecure, remoteAddress }, ctx) {
    const credential = readCredential(header)
    if (credential?.source === 'cookie') {
      const isTrusted = isOriginTrusted(header('origin'), header('host'), ctx.config.cookieOrigins)
      if (!isTrusted) return problem('origin-refused')
    }
    if (credential !== null) await ctx.identity.logOut(credential.token, remoteAddress)
    return { ...noContent(), cookies: [sessionCookie('', 0, isSecure)] }
  },
})
