import { defineHttp, inPerson, noBody, noQuery } from '../../runtime/define.ts'
import { noContent } from '../../runtime/reply.ts'
import { groupParams, refuseGroup } from './_group-record.ts'

/** Remove a group that has nobody in it. */
export default defineHttp({
  route: 'DELETE /api/groups/:id',
  summary: 'Remove a group of users that has nobody in it.',
  access: inPerson('users:manage', 'nothing'),
  gate: null,
  params: groupParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The group is gone.' }],
  errors: ['group-in-use', 'group-not-found', 'group-of-system', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const outcome = await ctx.identity.groups.remove(actor, params.id)
    return outcome.ok ? noContent() : refuseGroup(outcome)
  },
})
