import { string, type } from 'superstruct'
import { deletePushGroup } from '../../lib/store/push-groups.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { noContent, problem } from '../../runtime/reply.ts'

/** Remove a push group; no workload changes by it. */
export default defineHttp({
  route: 'DELETE /api/push-groups/:id',
  summary: 'Remove a push group.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: type({ id: string() }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The group is gone.' }],
  errors: ['push-group-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const { id } = params
    const removed = await ctx.db.change('push-group.delete', actor, async (tx) => {
      if (!(await deletePushGroup(tx, id))) return { ok: false, code: 'push-group-not-found' }
      await tx.record({ action: 'push_group.delete', resource: 'push_group', resourceId: id })
      return { ok: true }
    })
    if (removed.ok) return noContent()
    return removed.code === 'audit-unavailable' ? auditUnavailable(removed) : problem(removed.code)
  },
})
