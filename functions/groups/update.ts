import { GIFT_ERRORS } from '../../lib/identity/group-administration.ts'
import { GroupUpdateRequest, ManagedGroupRecord } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noQuery } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { groupParams, refuseGroup, toManagedGroupRecord } from './_group-record.ts'

/** Change what a group gives to its members; its name stays. */
export default defineHttp({
  route: 'PUT /api/groups/:id',
  summary: 'Change the role and the scope of a group of users.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: groupParams,
  query: noQuery,
  body: jsonBody(GroupUpdateRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'The group as it is now.', json: ManagedGroupRecord }],
  errors: [
    ...GIFT_ERRORS,
    'group-not-found',
    'group-of-system',
    'last-administrator',
    'seed-admin',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const { role, scope } = body
    const outcome = await ctx.identity.groups.update(actor, params.id, { role, scope })
    return outcome.ok ? json(toManagedGroupRecord(outcome.group, outcome.memberCount)) : refuseGroup(outcome)
  },
})
