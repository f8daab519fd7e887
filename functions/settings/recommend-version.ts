import { isComparable } from '../../lib/model/versions.ts'
import { storeRecommendedVersion } from '../../lib/posture/recommended-version.ts'
import { RecommendedVersion, RecommendedVersionRequest } from '../../lib/wire/version-intelligence.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { toRecommendedVersion } from './_recommended-version-record.ts'

const VERSION_LENGTH_MAX = 64

/** Recommend a version; an empty one leaves it to the environment again. */
export default defineHttp({
  route: 'PUT /api/settings/recommended-version',
  summary: 'Store the version that the fleet is measured by.',
  access: signedIn('settings:manage', 'nothing'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(RecommendedVersionRequest, { bytesMax: 4_096 }),
  replies: [{ status: 200, description: 'The version that counts now.', json: RecommendedVersion }],
  errors: ['version-invalid', 'audit-unavailable'],
  async handle({ body, actor }, ctx) {
    const value = body.version.trim()
    if (value.length > VERSION_LENGTH_MAX || (value !== '' && !isComparable(value)))
      return problem('version-invalid')
    const { recommendedVersion } = ctx
    const stored = await ctx.db.change('settings.recommend-version', actor, async (tx) => {
      const updatedBy = actor.email
      await storeRecommendedVersion(tx, { value, updatedAt: ctx.clock.now(), updatedBy })
      await tx.record({
        action: 'settings.recommended_version',
        resource: 'settings',
        resourceId: 'recommended_version',
        detail: JSON.stringify({ from: recommendedVersion.version, to: value }),
      })
      return { ok: true }
    })
    if (!stored.ok) return auditUnavailable(stored)
    await recommendedVersion.reload()
    return json(toRecommendedVersion(recommendedVersion))
  },
})
