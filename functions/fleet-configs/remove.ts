import { refuseByHand } from '../../lib/fleet-configs/kept-in-git.ts'
import { stillCovers } from '../../lib/identity/still-may.ts'
import { endAutoApplies } from '../../lib/store/auto-apply.ts'
import { deleteFleetConfig, lockFleetConfig } from '../../lib/store/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, noQuery, signedIn } from '../../runtime/define.ts'
import { noContent, problem, problemOf } from '../../runtime/reply.ts'
import {
  findFleetConfig,
  fleetConfigParams,
  refuseManaged,
  requireFleetConfig,
} from './_fleet-config-path.ts'

/** Remove a fleet config that no workload is under, with its versions. */
export default defineHttp({
  route: 'DELETE /api/fleet-configs/:id',
  summary: 'Remove a fleet config that no workload is under.',
  access: signedIn('config:create', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: noBody,
  replies: [{ status: 204, description: 'The fleet config is gone.' }],
  errors: [
    'out-of-scope',
    'fleet-config-not-found',
    'fleet-config-managed',
    'fleet-config-in-use',
    'audit-unavailable',
  ],
  async handle({ params, actor }, ctx) {
    const found = requireFleetConfig(ctx, params.id, actor, 'config:create')
    if (!found.ok) return found.reply
    const { config } = found
    const managed = refuseManaged(ctx, config.id)
    if (managed !== null) return managed
    await ctx.fleetConfigs.storeMemberships()
    const count = (await ctx.fleetConfigs.counts()).get(config.id)?.under ?? 0
    if (count > 0) return problem('fleet-config-in-use', { count })
    const removed = await ctx.db.change('fleet-config.delete', actor, async (tx) => {
      const stands = await lockFleetConfig(tx, config.id)
      if (stands !== null && !(await stillCovers(tx, actor, 'config:create', stands)))
        return { ok: false, code: 'out-of-scope' }
      const managed = await refuseByHand(tx, config.id)
      if (managed !== null) return managed
      if (!(await deleteFleetConfig(tx, config.id))) return { ok: false, code: 'fleet-config-in-use' }
      await endAutoApplies(tx, {
        fleetConfigId: config.id,
        ids: null,
        cause: 'config_removed',
        by: actor.email,
        now: ctx.clock.now(),
      })
      await tx.record({
        action: 'fleet_config.delete',
        resource: 'fleet_config',
        resourceId: config.id,
        detail: JSON.stringify({ name: config.name, versions: config.newestVersion }),
      })
      return { ok: true }
    })
    if (!removed.ok && removed.code === 'audit-unavailable') return auditUnavailable(removed)
    await ctx.fleetConfigs.load()
    if (removed.ok) return noContent()
    if (removed.code === 'out-of-scope' || removed.code === 'fleet-config-managed') return problemOf(removed)
    return findFleetConfig(ctx, params.id) === null
      ? problem('fleet-config-not-found')
      : problem('fleet-config-in-use', { count: 1 })
  },
})
