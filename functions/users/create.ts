import { array, defaulted, string, type } from 'superstruct'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { created } from '../../runtime/reply.ts'
import { refuseUser, toUserRecord } from './user-record.ts'

const Body = type({
  email: defaulted(string(), ''),
  password: defaulted(string(), ''),
  groups: defaulted(array(string()), () => []),
})

/** Add a user with a password and groups. */
export default defineHttp({
  route: 'POST /api/users',
  summary: 'Create a user.',
  access: signedIn('users:manage'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(Body),
  replies: [{ status: 201, description: 'The new user.', contentType: 'application/json' }],
  errors: ['bad-request', 'email-taken', 'server-busy', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const outcome = await ctx.identity.users.create(actor, body)
    return outcome.ok ? created(toUserRecord(outcome.user)) : refuseUser(outcome)
  },
})
