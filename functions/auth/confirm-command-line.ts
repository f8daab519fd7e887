import { CommandLineLoginConfirmed, CommandLineLoginRequest } from '../../lib/wire/identity.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

/** Confirm the sign-in of a command line on the machine of the person who is signed in; it then acts in their name. */
export default defineHttp({
  route: 'POST /api/auth/command-line',
  summary: 'Confirm the sign-in of a command line; the answer says where the browser brings its code to.',
  access: inPerson(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(CommandLineLoginRequest, { bytesMax: 4_096 }),
  replies: [{ status: 200, description: 'It is confirmed.', json: CommandLineLoginConfirmed }],
  errors: ['command-line-login-invalid', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const outcome = await ctx.identity.commandLineLogins.confirm(actor, body)
    if (outcome.ok) return json({ redirect_to: outcome.redirectTo })
    return outcome.code === 'audit-unavailable' ? auditUnavailable(outcome) : problem(outcome.code)
  },
})
