import { object } from 'superstruct'
import { UserRecord, UserUpdateRequest } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { refuseUser, toUserRecord, UserId } from './_user-record.ts'

/** Replace a user's groups, reset the password, or both. */
export default defineHttp({
  route: 'PATCH /api/users/:id',
  summary: "Change a user's groups or reset the password, which ends all sessions of the user.",
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: object({ id: UserId }),
  query: noQuery,
  body: jsonBody(UserUpdateRequest),
  replies: [{ status: 200, description: 'The user as it is now.', json: UserRecord }],
  errors: [
    'group-unknown',
    'password-too-short',
    'password-too-long',
    'not-found',
    'user-not-found',
    'last-administrator',
    'seed-admin',
    'no-password-here',
    'groups-follow-claims',
    'server-busy',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const outcome = await ctx.identity.users.update(actor, params.id, body)
    return outcome.ok ? json(toUserRecord(ctx, outcome.user)) : refuseUser(outcome)
  },
})
