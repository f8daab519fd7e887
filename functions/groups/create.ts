import { GIFT_ERRORS } from '../../lib/identity/group-administration.ts'
import { GroupCreateRequest, ManagedGroupRecord } from '../../lib/wire/identity.ts'
import { defineHttp, inPerson, jsonBody, noParams, noQuery } from '../../runtime/define.ts'
import { created } from '../../runtime/reply.ts'
import { refuseGroup, toManagedGroupRecord } from './_group-record.ts'

/** Add a group: a role, everywhere or within a scope. */
export default defineHttp({
  route: 'POST /api/groups',
  summary: 'Create a group of users.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(GroupCreateRequest, { bytesMax: 65_536 }),
  replies: [{ status: 201, description: 'The new group.', json: ManagedGroupRecord }],
  errors: [...GIFT_ERRORS, 'group-name-invalid', 'group-taken', 'groups-too-many', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const { name, role, scope = null } = body
    const outcome = await ctx.identity.groups.create(actor, { name, role, scope })
    return outcome.ok
      ? created(toManagedGroupRecord(outcome.group, outcome.memberCount))
      : refuseGroup(outcome)
  },
})
