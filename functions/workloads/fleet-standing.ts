import { overruledAt } from '../../lib/desired/overruled.ts'
import type { Workload } from '../../lib/fleet/state/model.ts'
import { toHoldRecord, toInGit } from '../../lib/fleet-configs/records.ts'
import type { Db } from '../../lib/store/db.ts'
import { listFleetWishes } from '../../lib/store/fleet-wishes.ts'
import { findFleetKeeper } from '../../lib/store/managed-fleet-configs.ts'
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
    const kept = await keptInGit(ctx.db, workload)
    const hold = fleetConfigs.holdOf(workload.id)
    const freeze = fleetConfigs.freezeOf(workload)
    return json({
      workload_id: workload.id,
      ...(config === null ? {} : { fleet_config: { id: config.id, name: config.name } }),
      ...(kept === null ? {} : { kept_in_git: kept }),
      rivals: rivals.map((id) => fleetConfigs.config(id)?.name ?? id),
      ...(hold === null ? {} : { hold: toHoldRecord(hold, ctx.clock.now()) }),
      ...(freeze === null ? {} : { freeze: { reason: freeze.reason, until: freeze.until.toISOString() } }),
    } satisfies FleetStanding)
  },
})

/** Who keeps a workload in Git by its fleet config, and whether it runs what is asked for there; null for nobody. */
async function keptInGit(
  db: Db,
  workload: Workload,
): Promise<NonNullable<FleetStanding['kept_in_git']> | null> {
  const keeper = await findFleetKeeper(db, workload.id)
  if (keeper === null) return null
  const [wish] = await listFleetWishes(db, { fleetConfigId: keeper.fleetConfigId, workloadId: workload.id })
  const overruled = overruledAt(wish ?? null, workload)
  return { ...toInGit(keeper), ...(overruled === null ? {} : { overruled }) }
}
