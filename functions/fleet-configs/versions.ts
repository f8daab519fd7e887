import { array, type } from 'superstruct'
import { toVersionSummary } from '../../lib/fleet-configs/records.ts'
import { listTakenBackVersions } from '../../lib/store/fleet-config-history.ts'
import { listVersions } from '../../lib/store/fleet-configs.ts'
import { FleetConfigVersionSummary } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { fleetConfigParams, requireTexts } from './_fleet-config-path.ts'

/** The versions of a fleet config without their texts, variables and values, the newest first. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/versions',
  summary: 'List the versions of a fleet config, without their texts, variables and values.',
  access: signedIn('config:read_content', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: type(pageQuery),
  body: noBody,
  replies: [{ status: 200, description: 'The versions.', json: array(FleetConfigVersionSummary) }],
  errors: ['fleet-config-not-found', ...PAGE_ERRORS],
  async handle({ params, query, target, actor }, ctx) {
    const found = await requireTexts(ctx, params.id, actor)
    if (!found.ok) return found.reply
    const { config } = found
    const rolledBack = await listTakenBackVersions(ctx.db, config.id)
    return listReply(query, target, {
      order: 'fleet_config_versions.number',
      key: ['number'],
      fetch: (page) => listVersions(ctx.db, config.id, page),
      keyOf: ({ number }) => [number],
      toWire: (version) => toVersionSummary(version, rolledBack),
    })
  },
})
