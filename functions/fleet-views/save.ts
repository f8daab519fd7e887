import { uuidv7 } from '../../lib/ids.ts'
import { isStorableLine } from '../../lib/model/storable.ts'
import { FLEET_VIEWS_MAX, SHARED_VIEWS_MAX, saveFleetView } from '../../lib/store/fleet-views.ts'
import { FleetView, FleetViewRequest } from '../../lib/wire/fleet-views.ts'
import { VIEW_NAME_LENGTH_MAX, VIEW_QUERY_LENGTH_MAX } from '../../lib/wire/values.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { toFleetView } from './_fleet-view-record.ts'

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
  errors: ['view-invalid', 'views-full', 'shared-views-full', 'forbidden', 'unauthorized'],
  async handle({ body, actor }, ctx) {
    const name = body.name.trim()
    const { query, shared: isShared } = body
    const isNamed = name !== '' && name.length <= VIEW_NAME_LENGTH_MAX && isStorableLine(name)
    if (!isNamed || query.length > VIEW_QUERY_LENGTH_MAX || !isStorableLine(query))
      return problem('view-invalid', { name_max: VIEW_NAME_LENGTH_MAX, query_max: VIEW_QUERY_LENGTH_MAX })
    // What everybody sees is for those who make things for others.
    if (isShared && !actor.permissions.has('config:create')) return problem('forbidden')
    const now = ctx.clock.now()
    const id = uuidv7(now, ctx.random)
    const saved = await ctx.db.transaction('fleet-view.save', (tx) =>
      saveFleetView(tx, actor.userId, { id, name, query, isShared }, now),
    )
    // Sessions are cached, so one can outlive its user for a short time.
    if (saved === null) return problem('unauthorized')
    if (saved === 'full') return problem('views-full', { max: FLEET_VIEWS_MAX })
    if (saved === 'shared-full') return problem('shared-views-full', { max: SHARED_VIEWS_MAX })
    return json(toFleetView(saved))
  },
})
