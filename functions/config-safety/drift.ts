import { sightOf } from '../../lib/fleet/views/fleet-views.ts'
import { rightsOn } from '../../lib/model/scopes.ts'
import { isVersionOutdated } from '../../lib/model/versions.ts'
import { toDriftCollector } from '../../lib/posture/drift-facts.ts'
import { buildDriftOverview, type DriftCollector } from '../../lib/posture/drift-overview.ts'
import { listCurrentAlerts } from '../../lib/store/alerts.ts'
import { listFleetWishes } from '../../lib/store/fleet-wishes.ts'
import { listManagedConfigs } from '../../lib/store/managed-configs.ts'
import { mapInTurns } from '../../lib/turns.ts'
import { DriftOverview } from '../../lib/wire/drift.ts'
import { defineHttp, noBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { streamObject } from '../../runtime/json-stream.ts'
import { jsonText } from '../../runtime/reply.ts'

/** Collectors looked at before others get their turn. */
const CHUNK = 200

/** Which collectors do not run what they should, and why, worst first. */
export default defineHttp({
  route: 'GET /api/config-safety/drift',
  summary: 'Show the config drift of the fleet.',
  access: signedIn(),
  gate: 'config_safety.drift_dashboard',
  params: noParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'The overview.', json: DriftOverview }],
  errors: [],
  async handle({ actor }, ctx) {
    const open = new Set<string>()
    for (const alert of await listCurrentAlerts(ctx.db)) {
      if (alert.state === 'open') open.add(`${alert.rule}/${alert.workloadId}`)
    }
    const listed = [...ctx.fleet.state.workloads.values()].filter(
      (workload) => workload.type === 'collector' && workload.archivedAt === null,
    )
    const { fleet } = ctx
    const now = ctx.clock.now()
    const kept = await listManagedConfigs(ctx.db, { owner: null, workloadId: null })
    const wishes = new Map<string, DriftCollector['wish']>()
    for (const { workloadId, ...wish } of await listFleetWishes(ctx.db)) wishes.set(workloadId, wish)
    // A workload that Git keeps by itself has that wish, also under a fleet config.
    for (const { workloadId, configHash, appliedAt } of kept)
      wishes.set(workloadId, { hash: configHash, since: appliedAt, carriers: new Set() })
    const collectors = await mapInTurns(listed, CHUNK, (workload) => {
      const {
        current_config_push: push,
        altered_instance_count: alteredCount = 0,
        altered_since: alteredSince,
      } = ctx.views.workload(workload, { withTexts: false })
      const reader = { texts: sightOf(rightsOn(actor.grants, workload.trustedLabels)), now }
      return toDriftCollector(workload, push, (...of) => fleet.isCompatible(...of), reader, {
        alteredCount,
        alteredSince,
        wish: wishes.get(workload.id) ?? null,
        hasDriftAlert: open.has(`config_drift/${workload.id}`),
        hasVersionAlert: open.has(`version_outdated/${workload.id}`),
        isVersionOutdated: isVersionOutdated(workload.version, ctx.recommendedVersion.version),
      })
    })
    return jsonText(streamObject(await buildDriftOverview(collectors, now)))
  },
})
