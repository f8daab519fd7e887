import { insertPushGroup } from '../../lib/store/push-groups.ts'
import { PushGroup, PushGroupRequest } from '../../lib/wire/pushes.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { created, problem, problemOf } from '../../runtime/reply.ts'
import { PUSH_GROUP_ERRORS, readPushGroup, toPushGroup } from './_push-group-record.ts'

/** Add a push group. */
export default defineHttp({
  route: 'POST /api/push-groups',
  summary: 'Create a push group.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(PushGroupRequest, { bytesMax: 65_536 }),
  replies: [{ status: 201, description: 'The new group.', json: PushGroup }],
  errors: [...PUSH_GROUP_ERRORS, 'push-group-taken', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const read = readPushGroup(body)
    if (!read.ok) return problemOf(read)
    const { group } = read
    const stored = await ctx.db.change('push-group.create', actor, async (tx) => {
      if (!(await insertPushGroup(tx, group))) return { ok: false, code: 'push-group-taken' }
      const detail = JSON.stringify({ name: group.name, selector: group.selector })
      await tx.record({
        action: 'push_group.create',
        resource: 'push_group',
        resourceId: group.id,
        detail,
      })
      return { ok: true }
    })
    if (stored.ok) return created(toPushGroup(group))
    return stored.code === 'audit-unavailable' ? auditUnavailable(stored) : problem(stored.code)
  },
})
