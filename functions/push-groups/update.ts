import { string, type } from 'superstruct'
import { updatePushGroup } from '../../lib/store/push-groups.ts'
import { PushGroup, PushGroupRequest } from '../../lib/wire/pushes.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import { PUSH_GROUP_ERRORS, readPushGroup, toPushGroup } from './_push-group-record.ts'

/** Replace a push group; its id stays, whatever the body says. */
export default defineHttp({
  route: 'PUT /api/push-groups/:id',
  summary: 'Replace a push group.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: jsonBody(PushGroupRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'The group as stored.', json: PushGroup }],
  errors: [...PUSH_GROUP_ERRORS, 'push-group-not-found', 'audit-unavailable'],
  async handle({ params, body, actor }, ctx) {
    // The id in the body does not count: a valid one stands in for it while the rest is checked. An id of another form
    // in the path is not found.
    const read = readPushGroup({ ...body, id: 'any' })
    if (!read.ok) return problemOf(read)
    const group = { ...read.group, id: params.id }
    const stored = await ctx.db.change('push-group.update', actor, async (tx) => {
      if (!(await updatePushGroup(tx, group))) return { ok: false, code: 'push-group-not-found' }
      const detail = JSON.stringify({ name: group.name, selector: group.selector })
      await tx.record({
        action: 'push_group.update',
        resource: 'push_group',
        resourceId: group.id,
        detail,
      })
      return { ok: true }
    })
    if (stored.ok) return json(toPushGroup(group))
    return stored.code === 'audit-unavailable' ? auditUnavailable(stored) : problem(stored.code)
  },
})
