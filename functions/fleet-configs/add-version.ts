import { refuseByHand } from '../../lib/fleet-configs/kept-in-git.ts'
import { readVersion, VERSION_ERRORS } from '../../lib/fleet-configs/read-version.ts'
import { toVersionRecord } from '../../lib/fleet-configs/records.ts'
import { storeVersion } from '../../lib/fleet-configs/store-version.ts'
import { stillCovers } from '../../lib/identity/still-may.ts'
import { listTakenBackVersions } from '../../lib/store/fleet-config-history.ts'
import { lockFleetConfig } from '../../lib/store/fleet-configs.ts'
import { FleetConfigVersion, FleetConfigVersionRequest } from '../../lib/wire/fleet-configs.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, jsonBody, noQuery, signedIn } from '../../runtime/define.ts'
import { created, problemOf } from '../../runtime/reply.ts'
import { fleetConfigParams, refuseManaged, requireFleetConfig } from './_fleet-config-path.ts'
import { readDraft } from './_version-request.ts'

/** Add a version. It never changes, and nothing is pushed by it. */
export default defineHttp({
  route: 'POST /api/fleet-configs/:id/versions',
  summary: 'Add a version to a fleet config.',
  access: signedIn('config:create', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: noQuery,
  body: jsonBody(FleetConfigVersionRequest, { valuesMax: 110_000 }),
  replies: [{ status: 201, description: 'The new version.', json: FleetConfigVersion }],
  errors: [
    'out-of-scope',
    'fleet-config-not-found',
    'fleet-config-managed',
    ...VERSION_ERRORS,
    'audit-unavailable',
  ],
  async handle({ params, body, actor }, ctx) {
    const found = requireFleetConfig(ctx, params.id, actor, 'config:create')
    if (!found.ok) return found.reply
    const { config } = found
    const managed = refuseManaged(ctx, config.id)
    if (managed !== null) return managed
    const draft = readDraft(body)
    const read = await readVersion(draft, ctx)
    if (!read.ok) return problemOf(read)
    const by = { author: actor.email, authorId: actor.userId, createdAt: ctx.clock.now() }
    const version = { fleetConfigId: config.id, hash: read.hash, ...draft, ...by }
    const stored = await ctx.db.change('fleet-config.version', actor, async (tx) => {
      const stands = await lockFleetConfig(tx, config.id)
      if (stands === null) return { ok: false, code: 'fleet-config-not-found' }
      if (!(await stillCovers(tx, actor, 'config:create', stands))) return { ok: false, code: 'out-of-scope' }
      // Git may have taken it since it was read.
      const managed = await refuseByHand(tx, config.id)
      if (managed !== null) return managed
      const next = await storeVersion(tx, { ...version, meaning: read.meaning })
      if (!next.ok) return next
      const { number } = next
      if (number === null) return { ok: false, code: 'fleet-config-not-found' }
      await tx.record({
        action: 'fleet_config.version',
        resource: 'fleet_config',
        resourceId: config.id,
        configHash: read.hash,
        detail: JSON.stringify({ number, comment: draft.comment.slice(0, 200) }),
      })
      return { ok: true, number }
    })
    if (!stored.ok) return stored.code === 'audit-unavailable' ? auditUnavailable(stored) : problemOf(stored)
    await ctx.fleetConfigs.load()
    return created(
      toVersionRecord({ ...version, number: stored.number }, await listTakenBackVersions(ctx.db, params.id)),
    )
  },
})
