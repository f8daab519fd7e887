import { storeFreeze } from '../../lib/store/freeze.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, inPerson, noBody, noParams, noQuery } from '../../runtime/define.ts'
import { noContent } from '../../runtime/reply.ts'

/** Lift the freeze. It is an endpoint of its own: no request that lacks something lifts it. */
export default defineHttp({
  route: 'DELETE /api/freeze',
  summary: 'Lift the freeze.',
  access: inPerson('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'Nothing is frozen.' }],
  errors: ['audit-unavailable'],
  async handle({ actor }, ctx) {
    const lifted = await ctx.db.change('freeze.lift', actor, async (tx) => {
      await storeFreeze(tx, null)
      await tx.record({ action: 'freeze.lift', resource: 'settings', resourceId: 'freeze', detail: '{}' })
      return { ok: true }
    })
    if (!lifted.ok) return auditUnavailable(lifted)
    await ctx.fleetConfigs.load()
    return noContent()
  },
})
