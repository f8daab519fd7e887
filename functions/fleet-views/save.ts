import { uuidv7 } from '../../lib/ids.ts'
import { isStorableLine } from '../../lib/model/storable.ts'
import { FLEET_VIEWS_MAX, SHARED_VIEWS_MAX, saveFleetView } from '../../lib/store/fleet-views.ts'
import { FleetView, FleetViewRequest } from '../../lib/wire/fleet-views.ts'
import { VIEW_NAME_LENGTH_MAX, VIEW_QUERY_LENGTH_MAX } from '../../lib/wire/values.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { unlessRefused } from '../../runtime/reach.ts'
import { json, problem } from '../../runtime/reply.ts'
import { toFleetView } from './_fleet-view-record.ts'
import { refuseSharing, viewEvent } from './_view-changes.ts'

/** Save a view of the fleet for the signed-in user or for everybody, over the user's own of the same name. */
export default defineHttp({
  route: 'POST /api/me/views',
  summary: 'Save a view of the fleet for the signed-in user, or for everybody.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(FleetViewRequest, { bytesMax: 16_384 }),
  replies: [{ status: 200, description: 'The view as stored.', json: FleetView }],
  errors: [
    'view-invalid',
    'views-full',
    'shared-views-full',
    'forbidden',
    'unauthorized',
    'audit-unavailable',
  ],
  async handle({ body, actor }, ctx) {
    const name = body.name.trim()
    const { query, shared: isShared } = body
    const isNamed = name !== '' && name.length <= VIEW_NAME_LENGTH_MAX && isStorableLine(name)
    if (!isNamed || query.length > VIEW_QUERY_LENGTH_MAX || !isStorableLine(query))
      return problem('view-invalid', { name_max: VIEW_NAME_LENGTH_MAX, query_max: VIEW_QUERY_LENGTH_MAX })
    const asked = isShared ? await unlessRefused(ctx, actor, refuseSharing) : { ok: true as const, actor }
    if (!asked.ok) return asked.reply
    const now = ctx.clock.now()
    const id = uuidv7(now, ctx.random)
    const saved = await ctx.db.change(
      'fleet-view.save',
      asked.actor,
      async (tx) => {
        const outcome = await saveFleetView(tx, actor.userId, { id, name, query, isShared }, now)
        if (outcome.ok && (isShared || outcome.wasShared))
          await tx.record(viewEvent(isShared ? 'fleet_view.share' : 'fleet_view.unshare', outcome.view))
        return outcome
      },
      { waitsForReports: false },
    )
    if (saved.ok) return json(toFleetView(saved.view))
    if (saved.code === 'audit-unavailable') return auditUnavailable(saved)
    if (saved.code === 'views-full') return problem('views-full', { max: FLEET_VIEWS_MAX })
    if (saved.code === 'shared-views-full') return problem('shared-views-full', { max: SHARED_VIEWS_MAX })
    return problem(saved.code)
  },
})
