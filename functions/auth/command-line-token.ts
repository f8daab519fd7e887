import { CommandLineToken, CommandLineTokenRequest } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

/**
 * Exchange the code that the browser brought to a command line for a token. The verifier proves that it is the command
 * line that began (PKCE).
 */
export default defineHttp({
  route: 'POST /api/auth/command-line/token',
  summary: 'Trade the code of a confirmed sign-in of a command line for its token.',
  access: publicAccess('the code and what only the command line knows prove who it is'),
  gate: null,
  params: noParams,
  query: noQuery,
  // Anybody may make the server hold a body of this length until it times out.
  body: jsonBody(CommandLineTokenRequest, { bytesMax: 1_024 }),
  replies: [{ status: 200, description: 'The token, told this once.', json: CommandLineToken }],
  errors: ['command-line-code-invalid', 'token-limited', 'audit-unavailable'],
  async handle({ body }, ctx) {
    const { code, verifier } = body
    const outcome = await ctx.identity.commandLineLogins.exchange(code, verifier)
    if (outcome.ok) {
      const { token, email, expiresAt } = outcome
      return json({ token, email, expires_at: expiresAt.toISOString() })
    }
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    if (outcome.code !== 'token-limited') return problem(outcome.code)
    return problem(outcome.code, {}, { 'Retry-After': String(outcome.retryAfterS) })
  },
})
