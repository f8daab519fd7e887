import { toHoldRecord } from '../../lib/fleet-configs/records.ts'
import { FleetStanding } from '../../lib/wire/fleet-configs.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'
import { findWorkload, workloadParams } from './_workload-path.ts'

/** Under which fleet config a workload is, whether it is held, and whether a push to it needs the glass broken. */
export default defineHttp({
  route: 'GET /api/workloads/:id/fleet-config',
  summary: 'Say where a workload stands among fleet configs, holds and freezes.',
  access: signedIn(null, 'workload'),
  gate: null,
  params: workloadParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 200, description: 'Where it stands.', json: FleetStanding }],
  errors: ['workload-not-found'],
  async handle({ params }, ctx) {
    const workload = findWorkload(ctx, params.id)
    if (workload === null) return problem('workload-not-found')
    const { fleetConfigs } = ctx
    const { configId, rivals } = fleetConfigs.membershipOf(workload)
    const config = configId === null ? null : fleetConfigs.config(configId)
    const hold = fleetConfigs.holdOf(workload.id)
    const freeze = fleetConfigs.freezeOf(workload)
    return json({
      workload_id: workload.id,
      ...(config === null ? {} : { fleet_config: { id: config.id, name: config.name } }),
      rivals: rivals.map((id) => fleetConfigs.config(id)?.name ?? id),
      ...(hold === null ? {} : { hold: toHoldRecord(hold, ctx.clock.now()) }),
      ...(freeze === null ? {} : { freeze: { reason: freeze.reason, until: freeze.until.toISOString() } }),
    } satisfies FleetStanding)
  },
})
