import { array, enums, optional, type } from 'superstruct'
import { placeOf } from '../../lib/model/places.ts'
import { AutoApplyLeftOut } from '../../lib/wire/auto-apply.ts'
import { AUTO_APPLY_REASONS } from '../../lib/wire/values.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { problem } from '../../runtime/reply.ts'
import { findFleetConfig, fleetConfigParams } from '../fleet-configs/_fleet-config-path.ts'

/** The workloads under a fleet config that its version does not reach by itself, by their ids. */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/auto-apply/left-out',
  summary: 'List the workloads that the version that applies by itself leaves alone, and why.',
  access: signedIn(),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: type({ ...pageQuery, reason: optional(enums(AUTO_APPLY_REASONS)) }),
  body: noBody,
  replies: [{ status: 200, description: 'The workloads.', json: array(AutoApplyLeftOut) }],
  errors: ['fleet-config-not-found', ...PAGE_ERRORS],
  async handle({ params, query, target }, ctx) {
    if (findFleetConfig(ctx, params.id) === null) return problem('fleet-config-not-found')
    const leftOut = [...(await ctx.autoApply.leftOut(params.id))]
      .filter(([, { reason }]) => query.reason === undefined || query.reason === reason)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    return listReply(query, target, {
      order: 'auto_apply_left_out.id',
      key: ['string'],
      async fetch({ after, limit }) {
        const from = after === null ? 0 : leftOut.findIndex(([id]) => id > String(after[0]))
        return from === -1 ? [] : leftOut.slice(from, from + limit)
      },
      keyOf: ([id]) => [id],
      toWire: ([id, { reason, variable }]) => {
        const workload = ctx.fleet.workload(id)
        const place = placeOf(workload?.fingerprintKeys ?? {})
        return {
          workload_id: id,
          workload_name: workload?.displayName ?? id,
          ...(place === '' ? {} : { workload_place: place }),
          reason,
          ...(variable === undefined ? {} : { detail: variable }),
        }
      },
    })
  },
})
