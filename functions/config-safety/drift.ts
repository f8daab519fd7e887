import { isVersionOutdated } from '../../lib/alerts/rules.ts'
import { toDriftCollector } from '../../lib/fleet/drift-facts.ts'
import { buildDriftOverview } from '../../lib/fleet/drift-overview.ts'
import { listCurrentAlerts } from '../../lib/store/alerts.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { jsonText } from '../../runtime/reply.ts'
import { streamObject } from './stream-object.ts'

/** Which collectors do not run what they should, and why, worst first. */
export default defineHttp({
  route: 'GET /api/config-safety/drift',
  summary: 'Show the config drift of the fleet.',
  access: signedIn(),
  gate: 'config_safety.drift_dashboard',
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The overview.', contentType: 'application/json' }],
  errors: [],
  async handle(_request, ctx) {
    const open = new Set<string>()
    for (const alert of await listCurrentAlerts(ctx.db)) {
      if (alert.state === 'open') open.add(`${alert.rule}/${alert.workloadId}`)
    }
    const collectors = [...ctx.fleet.state.workloads.values()]
      .filter((workload) => workload.type === 'collector' && workload.archivedAt === null)
      .map((workload) =>
        toDriftCollector(workload, ctx.views.workload(workload, { withTexts: false }).current_config_push, {
          hasDriftAlert: open.has(`config_drift/${workload.id}`),
          hasVersionAlert: open.has(`version_outdated/${workload.id}`),
          isVersionOutdated: isVersionOutdated(workload.version, ctx.config.minAgentVersion),
        }),
      )
    return jsonText(streamObject(buildDriftOverview(collectors, ctx.clock.now())))
  },
})
