import { RecommendedVersion } from '../../lib/wire/version-intelligence.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { toRecommendedVersion } from './_recommended-version-record.ts'

/** The version that the fleet is measured by. */
export default defineHttp({
  route: 'GET /api/settings/recommended-version',
  summary: 'The version that fleet, versions, drift, alerts and reports are measured by.',
  access: signedIn(),
  gate: null,
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The version and where it comes from.', json: RecommendedVersion }],
  errors: [],
  async handle(_, ctx) {
    return json(toRecommendedVersion(ctx.recommendedVersion))
  },
})
