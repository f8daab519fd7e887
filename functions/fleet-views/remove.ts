import { object, pattern, string } from 'superstruct'
import { UUID } from '../../lib/ids.ts'
import { removeFleetView } from '../../lib/store/fleet-views.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { noContent, problem } from '../../runtime/reply.ts'

/** Forget a view of the fleet that the signed-in user saved. */
export default defineHttp({
  route: 'DELETE /api/me/views/:id',
  summary: 'Forget a view of the fleet that the signed-in user saved.',
  access: signedIn(),
  gate: null,
  params: object({ id: pattern(string(), UUID) }),
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The view is gone.' }],
  errors: ['not-found', 'view-not-found'],
  async handle({ params, actor }, ctx) {
    const isGone = await ctx.db.transaction('fleet-view.remove', (tx) =>
      removeFleetView(tx, actor.userId, params.id),
    )
    return isGone ? noContent() : problem('view-not-found')
  },
})
