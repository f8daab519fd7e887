import { PasswordRequest } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { noContent, problem, problemOf } from '../../runtime/reply.ts'

/** Change the password of the signed-in user; the other sessions and the API tokens of the user end. */
export default defineHttp({
  route: 'PUT /api/me/password',
  summary: "Change the signed-in user's password; other sessions and API tokens end.",
  access: inPerson(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(PasswordRequest),
  replies: [{ status: 204, description: 'The new password is active.' }],
  errors: [
    'passwords-required',
    'password-too-short',
    'password-too-long',
    'password-unchanged',
    'unauthorized',
    'no-password-here',
    'password-mismatch',
    'login-limited',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ body, actor, remoteAddress }, ctx) {
    if (body.current_password === '' || body.new_password === '') return problem('passwords-required')
    const outcome = await ctx.identity.changePassword({
      actor,
      address: remoteAddress,
      currentPassword: body.current_password,
      newPassword: body.new_password,
      keepTokens: body.keep_tokens === true,
    })
    if (outcome.ok) return noContent()
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    if (outcome.code === 'login-limited')
      return problem(outcome.code, {}, { 'Retry-After': String(outcome.retryAfterS) })
    return problemOf(outcome)
  },
})
