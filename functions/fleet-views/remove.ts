import { object, pattern, string } from 'superstruct'
import { UUID } from '../../lib/ids.ts'
import { findFleetView, removeFleetView } from '../../lib/store/fleet-views.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { unlessRefused } from '../../runtime/reach.ts'
import { noContent, problem } from '../../runtime/reply.ts'
import { refuseRemovingOthers, viewEvent } from './_view-changes.ts'

/** Forget a view of the fleet: the signed-in user's own, or one that somebody else shares. */
export default defineHttp({
  route: 'DELETE /api/me/views/:id',
  summary:
    'Forget a view of the fleet that the signed-in user saved or, with `settings:manage`, one that somebody shares.',
  access: signedIn(),
  gate: null,
  params: object({ id: pattern(string(), UUID) }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The view is gone.' }],
  errors: ['forbidden', 'not-found', 'view-not-found', 'audit-unavailable'],
  async handle({ params, actor }, ctx) {
    const found = await findFleetView(ctx.db, actor.userId, params.id)
    if (found === undefined) return problem('view-not-found')
    const asked = found.isOwn
      ? { ok: true as const, actor }
      : await unlessRefused(ctx, actor, refuseRemovingOthers)
    if (!asked.ok) return asked.reply
    const removed = await ctx.db.change(
      'fleet-view.remove',
      asked.actor,
      async (tx) => {
        const view = await removeFleetView(tx, actor.userId, params.id)
        if (view === undefined) return { ok: false, code: 'view-not-found' } as const
        if (view.isShared) await tx.record(viewEvent('fleet_view.unshare', view))
        return { ok: true } as const
      },
      { waitsForReports: false },
    )
    if (removed.ok) return noContent()
    return removed.code === 'audit-unavailable' ? auditUnavailable(removed) : problem(removed.code)
  },
})
