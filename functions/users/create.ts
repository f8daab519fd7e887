import { UserCreateRequest, UserRecord } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { created } from '../../runtime/reply.ts'
import { refuseUser, toUserRecord } from './_user-record.ts'

/** Add a user with a password and groups. */
export default defineHttp({
  route: 'POST /api/users',
  summary: 'Create a user.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(UserCreateRequest),
  replies: [{ status: 201, description: 'The new user.', json: UserRecord }],
  errors: [
    'email-invalid',
    'email-looks-alike',
    'email-taken',
    'group-unknown',
    'password-too-short',
    'password-too-long',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ body, actor }, ctx) {
    const outcome = await ctx.identity.users.create(actor, body)
    return outcome.ok ? created(toUserRecord(ctx, outcome.user)) : refuseUser(outcome)
  },
})
