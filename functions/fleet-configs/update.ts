import { isBoundByAutoApply } from '../../lib/fleet-configs/bound-by-auto-apply.ts'
import { FLEET_CONFIGS_WIDTH_MAX } from '../../lib/fleet-configs/fleet-configs.ts'
import { refuseByHand } from '../../lib/fleet-configs/kept-in-git.ts'
import { toFleetConfigRecord } from '../../lib/fleet-configs/records.ts'
import { storeDefinition } from '../../lib/fleet-configs/store-definition.ts'
import { stillCovers } from '../../lib/identity/still-may.ts'
import { lockFleetConfig } from '../../lib/store/fleet-configs.ts'
import { FleetConfigRecord, FleetConfigRequest } from '../../lib/wire/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { unlessRefused } from '../../runtime/reach.ts'
import { json, problem, problemOf } from '../../runtime/reply.ts'
import {
  findFleetConfig,
  fleetConfigParams,
  refuseManaged,
  refuseSelection,
  requireFleetConfig,
} from './_fleet-config-path.ts'
import { FLEET_CONFIG_ERRORS, readFleetConfig } from './_fleet-config-request.ts'

/**
 * Replace the name, description, selector and priority of a fleet config. Its versions stay, and nothing is pushed by
 * it.
 */
export default defineHttp({
  route: 'PUT /api/fleet-configs/:id',
  summary: 'Replace the name, description, selector and priority of a fleet config.',
  access: signedIn('config:create', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(FleetConfigRequest, { bytesMax: 65_536 }),
  replies: [{ status: 200, description: 'The fleet config as stored.', json: FleetConfigRecord }],
  errors: [
    ...FLEET_CONFIG_ERRORS,
    'auto-apply-in-force',
    'fleet-config-not-found',
    'fleet-config-managed',
    'fleet-config-outranks',
    'fleet-config-taken',
    'fleet-configs-too-wide',
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const read = readFleetConfig(body)
    if (!read.ok) return problemOf(read)
    const known = requireFleetConfig(ctx, params.id, actor, 'config:create')
    if (!known.ok) return known.reply
    const before = known.config
    const asking = await unlessRefused(ctx, actor, (caller) =>
      refuseSelection(ctx, caller, 'config:create', { id: before.id, ...read.fields }),
    )
    if (!asking.ok) return asking.reply
    const managed = refuseManaged(ctx, before.id)
    if (managed !== null) return managed
    if (ctx.fleetConfigs.isTooWide(before.id, read.fields.selector))
      return problem('fleet-configs-too-wide', { max: FLEET_CONFIGS_WIDTH_MAX })
    const stored = await ctx.db.change('fleet-config.update', asking.actor, async (tx) => {
      const stands = await lockFleetConfig(tx, before.id)
      // Somebody else may have widened the selector in this moment: what is not one's own is not taken back.
      if (stands !== null && !(await stillCovers(tx, actor, 'config:create', stands)))
        return { ok: false, code: 'out-of-scope' }
      const managed = await refuseByHand(tx, before.id)
      if (managed !== null) return managed
      if (stands !== null && (await isBoundByAutoApply(tx, stands, read.fields)))
        return { ok: false, code: 'auto-apply-in-force' }
      const change = { id: before.id, ...read.fields, updatedAt: ctx.clock.now() }
      if (!(await storeDefinition(tx, stands, change))) return { ok: false, code: 'fleet-config-taken' }
      await tx.record({
        action: 'fleet_config.update',
        resource: 'fleet_config',
        resourceId: before.id,
        detail: JSON.stringify(read.fields),
      })
      return { ok: true }
    })
    if (!stored.ok && stored.code === 'audit-unavailable') return auditUnavailable(stored)
    await ctx.fleetConfigs.load()
    const config = findFleetConfig(ctx, params.id)
    if (config === null) return problem('fleet-config-not-found')
    if (!stored.ok) return problemOf(stored)
    await ctx.fleetConfigs.storeMemberships()
    const counts = await ctx.fleetConfigs.counts()
    return json(toFleetConfigRecord(ctx.fleetConfigs, config, counts))
  },
})
