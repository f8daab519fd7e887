import { EMAIL_LENGTH_MAX, isTooLongForEmail } from '../../lib/model/emails.ts'
import { LoginRequest, LoginResponse } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { sessionCookie } from '../../runtime/credentials.ts'
import { defineHttp, jsonBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { isOriginReadable, isOriginTrusted } from '../../runtime/origin.ts'
import { json, problem } from '../../runtime/reply.ts'

/** Trade e-mail and password for a token and the session cookie. */
export default defineHttp({
  route: 'POST /api/auth/login',
  summary: 'Log in with e-mail and password.',
  access: publicAccess('nobody is signed in before the login'),
  gate: null,
  params: noParams,
  query: noQuery,
  // Anybody may make the server hold a body of this length until it times out: room for both fields in the longest
  // spelling, no more.
  body: jsonBody(LoginRequest, { bytesMax: 8_192 }),
  replies: [
    {
      status: 200,
      description: 'The token; the cookie holds the same one.',
      json: LoginResponse,
    },
  ],
  errors: [
    'origin-refused',
    'credentials-required',
    'email-too-long',
    'login-limited',
    'invalid-credentials',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ body, remoteAddress, isSecure, header }, ctx) {
    const { email, password } = body
    const { corsOrigins, cookieOrigins } = ctx.config
    // A page of another origin must not sign its visitor in here as somebody else: what the visitor does would be done
    // in that name.
    const mayHaveCookie = isOriginTrusted(header('origin'), header('host'), cookieOrigins)
    if (!mayHaveCookie && !isOriginReadable(header('origin'), corsOrigins)) return problem('origin-refused')
    if (email === '' || password === '') return problem('credentials-required')
    // Before anything is looked up, recorded or counted: nobody's e-mail is that long.
    if (isTooLongForEmail(email)) return problem('email-too-long', { max: EMAIL_LENGTH_MAX })
    const outcome = await ctx.identity.logIn({ email, password, address: remoteAddress })
    if (outcome.ok) {
      const maxAgeS = Math.floor((outcome.expiresAt.getTime() - ctx.clock.now().getTime()) / 1_000)
      const cookies = mayHaveCookie ? [sessionCookie(outcome.token, maxAgeS, isSecure)] : []
      return { ...json({ token: outcome.token }), cookies }
    }
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    if (outcome.code !== 'login-limited') return problem(outcome.code)
    return problem('login-limited', {}, { 'Retry-After': String(outcome.retryAfterS) })
  },
})
