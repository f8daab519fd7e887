import { Features } from '../../lib/wire/capabilities.ts'
import { defineHttp, noBody, noParams, noQuery, publicAccess } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'

/** The capability document in its older form: a boolean for each capability. */
export default defineHttp({
  route: 'GET /api/features',
  summary: 'The features as booleans; the capability document is the canonical form.',
  access: publicAccess('discovery metadata, the same for everybody'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The features.', json: Features }],
  errors: [],
  handle(_, ctx) {
    const { capabilities } = ctx.edition.capabilities
    const features = Object.fromEntries(capabilities.map(({ id, state }) => [id, state === 'enabled']))
    return json({ features } satisfies Features)
  },
})
