import { array, optional, string, type } from 'superstruct'
import { toAutoApplyTarget } from '../../lib/auto-apply/record.ts'
import { listOpenAutoApplies } from '../../lib/store/auto-apply.ts'
import { listTargetsTakenBack } from '../../lib/store/auto-apply-roll-back.ts'
import { listAutoApplyTargets } from '../../lib/store/auto-apply-targets.ts'
import { AutoApplyTarget } from '../../lib/wire/auto-apply.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { listReply, PAGE_ERRORS, pageQuery } from '../../runtime/pagination.ts'
import { seesWorkloads } from '../../runtime/reach.ts'
import { problem } from '../../runtime/reply.ts'
import { findFleetConfig, fleetConfigParams } from '../fleet-configs/_fleet-config-path.ts'

/**
 * The pushes of the version in force that applies by itself, the newest first; with `rolled_back_by` those of any
 * version that the roll-back of this campaign takes back.
 */
export default defineHttp({
  route: 'GET /api/fleet-configs/:id/auto-apply/targets',
  summary: 'List what the version that applies by itself was pushed to.',
  access: signedIn('config:request', 'filtered'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: type({ ...pageQuery, rolled_back_by: optional(string()) }),
  body: noBody,
  replies: [{ status: 200, description: 'The pushes.', json: array(AutoApplyTarget) }],
  errors: ['fleet-config-not-found', ...PAGE_ERRORS],
  async handle({ params, query, target, sight }, ctx) {
    if (findFleetConfig(ctx, params.id) === null) return problem('fleet-config-not-found')
    const open = await listOpenAutoApplies(ctx.db, params.id)
    const inForce = open.find(({ status }) => status !== 'requested')
    return listReply(query, target, {
      order: 'auto_apply_targets.started_at',
      key: ['number', 'string'],
      async fetch({ after, limit }) {
        const position =
          after === null ? null : { startedAt: new Date(Number(after[0])), workloadId: String(after[1]) }
        if (query.rolled_back_by !== undefined) {
          const of = { fleetConfigId: params.id, rolledBackBy: query.rolled_back_by }
          return listTargetsTakenBack(ctx.db, of, { after: position, limit })
        }
        if (inForce === undefined) return []
        return listAutoApplyTargets(ctx.db, inForce.id, { after: position, limit })
      },
      isSeen: seesWorkloads(sight),
      keyOf: ({ startedAt, workloadId }) => [startedAt.getTime(), workloadId],
      toWire: toAutoApplyTarget,
    })
  },
})
