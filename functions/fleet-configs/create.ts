import { FLEET_CONFIGS_MAX, FLEET_CONFIGS_WIDTH_MAX } from '../../lib/fleet-configs/fleet-configs.ts'
import { toFleetConfigRecord } from '../../lib/fleet-configs/records.ts'
import { uuidv7 } from '../../lib/ids.ts'
import { insertFleetConfig, type StoredFleetConfig } from '../../lib/store/fleet-configs.ts'
import { FleetConfigRecord, FleetConfigRequest } from '../../lib/wire/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { unlessRefused } from '../../runtime/reach.ts'
import { created, problem, problemOf } from '../../runtime/reply.ts'
import { refuseSelection } from './_fleet-config-path.ts'
import { FLEET_CONFIG_ERRORS, readFleetConfig } from './_fleet-config-request.ts'

/** Create a fleet config. It has no version yet, and nothing is pushed by it. */
export default defineHttp({
  route: 'POST /api/fleet-configs',
  summary: 'Create a fleet config.',
  access: signedIn('config:create', 'handler'),
  gate: 'config_safety.campaigns',
  params: noParams,
  query: noQuery,
  body: jsonBody(FleetConfigRequest, { bytesMax: 65_536 }),
  replies: [{ status: 201, description: 'The new fleet config.', json: FleetConfigRecord }],
  errors: [
    ...FLEET_CONFIG_ERRORS,
    'fleet-config-outranks',
    'fleet-config-taken',
    'fleet-configs-too-many',
    'fleet-configs-too-wide',
    'audit-unavailable',
  ],
  async handle({ body, actor }, ctx) {
    const read = readFleetConfig(body)
    if (!read.ok) return problemOf(read)
    const asking = await unlessRefused(ctx, actor, (caller) =>
      refuseSelection(ctx, caller, 'config:create', { id: null, ...read.fields }),
    )
    if (!asking.ok) return asking.reply
    if (ctx.fleetConfigs.configs.length >= FLEET_CONFIGS_MAX)
      return problem('fleet-configs-too-many', { max: FLEET_CONFIGS_MAX })
    if (ctx.fleetConfigs.isTooWide(null, read.fields.selector))
      return problem('fleet-configs-too-wide', { max: FLEET_CONFIGS_WIDTH_MAX })
    const now = ctx.clock.now()
    const config: StoredFleetConfig = {
      id: uuidv7(now, ctx.random),
      ...read.fields,
      newestVersion: 0,
      createdBy: actor.email,
      createdAt: now,
      updatedAt: now,
    }
    const stored = await ctx.db.change('fleet-config.create', asking.actor, async (tx) => {
      if (!(await insertFleetConfig(tx, config))) return { ok: false, code: 'fleet-config-taken' }
      await tx.record({
        action: 'fleet_config.create',
        resource: 'fleet_config',
        resourceId: config.id,
        detail: JSON.stringify(read.fields),
      })
      return { ok: true }
    })
    if (!stored.ok)
      return stored.code === 'audit-unavailable' ? auditUnavailable(stored) : problem(stored.code)
    await ctx.fleetConfigs.load()
    await ctx.fleetConfigs.storeMemberships()
    const counts = await ctx.fleetConfigs.counts()
    return created(toFleetConfigRecord(ctx.fleetConfigs, config, counts))
  },
})
