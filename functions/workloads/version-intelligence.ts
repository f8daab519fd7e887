import { optional, string, type } from 'superstruct'
import { VersionIntelligence } from '../../lib/wire/version-intelligence.ts'
import { defineHttp, noBody, noParams, signedIn } from '../../runtime/define.ts'
import { streamObject } from '../../runtime/json-stream.ts'
import { jsonText } from '../../runtime/reply.ts'
import { postureOf } from './_posture-of.ts'

/** How the fleet stands to a recommended version, and what each collector lacks for its config. */
export default defineHttp({
  route: 'GET /api/workloads/version-intelligence',
  summary: "Show the fleet's versions and what its configs need.",
  access: signedIn(),
  gate: 'config_safety.version_intelligence',
  params: noParams,
  query: type({ recommended_version: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The posture.', json: VersionIntelligence }],
  errors: [],
  async handle({ query }, ctx) {
    return jsonText(streamObject(await postureOf(ctx, query.recommended_version)))
  },
})
