import { PasswordRequest } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { noContent, problem } from '../../runtime/reply.ts'

/** Change my password; my other sessions end. */
export default defineHttp({
  route: 'PUT /api/me/password',
  summary: "Change the signed-in user's password.",
  access: inPerson(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(PasswordRequest),
  replies: [{ status: 204, description: 'The new password is active.' }],
  errors: [
    'bad-request',
    'unauthorized',
    'password-mismatch',
    'login-limited',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ body, actor, remoteAddress }, ctx) {
    if (body.current_password === '' || body.new_password === '') {
      return problem('bad-request', { error: 'current_password and new_password are required' })
    }
    const outcome = await ctx.identity.changePassword({
      actor,
      address: remoteAddress,
      currentPassword: body.current_password,
      newPassword: body.new_password,
    })
    if (outcome.ok) return noContent()
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    if (outcome.code === 'bad-request') return problem(outcome.code, { error: outcome.error })
    if (outcome.code !== 'login-limited') return problem(outcome.code)
    return problem(outcome.code, {}, { 'Retry-After': String(outcome.retryAfterS) })
  },
})
