import { optional, string, type } from 'superstruct'
import { toVersionOverview } from '../../lib/posture/version-overview.ts'
import { VERSION_VERDICTS } from '../../lib/wire/values.ts'
import { VersionOverview } from '../../lib/wire/version-intelligence.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { json } from '../../runtime/reply.ts'
import { postureOf } from './_posture-of.ts'

/** What the page about versions shows: the numbers of the whole fleet, and the first rows of each list. */
export default defineHttp({
  route: 'GET /api/workloads/version-overview',
  summary: "Sum the fleet's versions up, with the first collectors that cannot run their configs.",
  access: signedIn(),
  gate: 'config_safety.version_intelligence',
  params: noParams,
  query: type({ recommended_version: optional(string()), show: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The overview.', json: VersionOverview }],
  errors: [],
  async handle({ query }, ctx) {
    const show = VERSION_VERDICTS.find((verdict) => verdict === query.show) ?? 'cannot'
    return json(toVersionOverview(await postureOf(ctx, query.recommended_version), show))
  },
})
