import { array, type } from 'superstruct'
import { listUsers, userKey } from '../../lib/store/users.ts'
import { UserRecord } from '../../lib/wire/identity.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { toUserRecord } from './_user-record.ts'

/** All users, the oldest first. */
export default defineHttp({
  route: 'GET /api/users',
  summary: 'List the users.',
  access: signedIn('users:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: type(pageQuery),
  body: noBody,
  replies: [{ status: 200, description: 'The users.', json: array(UserRecord) }],
  errors: PAGE_ERRORS,
  handle({ query, target }, ctx) {
    return listReply(query, target, {
      order: 'users.created_at',
      key: ['number', 'string'],
      fetch: (page) => listUsers(ctx.db, page),
      keyOf: userKey,
      toWire: (user) => toUserRecord(ctx, user),
    })
  },
})
