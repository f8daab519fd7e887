import { toVersionRecord } from '../../lib/fleet-configs/records.ts'
import { listTakenBackVersions } from '../../lib/store/fleet-config-history.ts'
import { findVersion } from '../../lib/store/fleet-configs.ts'
import { FleetConfigVersion } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { readNumber, requireTexts, versionParams } from './_fleet-config-path.ts'

/** One version with its text. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/versions/:number',
  summary: 'Read one version of a fleet config.',
  access: signedIn('config:read_content', 'handler'),
  gate: 'config_safety.campaigns',
  params: versionParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The version.', json: FleetConfigVersion }],
  errors: ['fleet-config-not-found', 'fleet-config-version-not-found'],
  async handle({ params, actor }, ctx) {
    const found = await requireTexts(ctx, params.id, actor)
    if (!found.ok) return found.reply
    const { config } = found
    const number = readNumber(params.number)
    const version = number === null ? null : await findVersion(ctx.db, config.id, number)
    return version === null
      ? problem('fleet-config-version-not-found')
      : json(toVersionRecord(found.cut(version), await listTakenBackVersions(ctx.db, config.id)))
  },
})
