import { defaulted, string, type } from 'superstruct'
import { releaseDesiredFleet } from '../../lib/desired/apply-fleet.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { defineHttp, noBody, signedIn } from '../../runtime/define.ts'
import { coversReach, unlessRefused } from '../../runtime/reach.ts'
import { noContent, problem, problemOf } from '../../runtime/reply.ts'
import {
  findFleetConfig,
  fleetConfigParams,
  requireFleetConfig,
} from '../fleet-configs/_fleet-config-path.ts'

/**
 * Let a fleet config that is kept in Git be changed by hand again. Its versions and what runs stay. The account that
 * proposed what Git holds may do so, or a person who may break the glass.
 */
export default defineHttp({
  route: 'DELETE /api/fleet-configs/:id/desired',
  summary: 'Leave a fleet config to people again; its versions and what runs stay.',
  access: signedIn('workload:push_config', 'handler'),
  gate: 'config_safety.campaigns',
  params: fleetConfigParams,
  query: type({ owner: defaulted(string(), '') }),
  body: noBody,
  replies: [{ status: 204, description: 'Git keeps it no longer.' }],
  errors: [
    'forbidden',
    'session-required',
    'fleet-config-not-found',
    'not-managed',
    'managed-elsewhere',
    'campaign-not-found',
    'campaign-plan-changed',
    'audit-unavailable',
  ],
  async handle({ params, query, actor }, ctx) {
    const asking = await unlessRefused(ctx, actor, (caller) => {
      const found = requireFleetConfig(ctx, params.id, caller, 'workload:push_config')
      return found.ok ? null : found.reply
    })
    if (!asking.ok) return asking.reply
    const config = findFleetConfig(ctx, params.id)
    const mayOverrule =
      actor.apiToken === null && config !== null && coversReach(actor, 'config:break_glass', config)
    const outcome = await releaseDesiredFleet(
      { ...ctx.campaigns.parts, fleetConfigs: ctx.fleetConfigs },
      { fleetConfigId: params.id, owner: query.owner, actor: asking.actor, mayOverrule },
    )
    if (outcome.ok) {
      for (const campaign of outcome.changed) ctx.campaigns.decided(campaign)
      return noContent()
    }
    if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
    if (outcome.code === 'not-its-pipeline')
      return problem(actor.apiToken === null ? 'forbidden' : 'session-required')
    return problemOf({ ...outcome, code: outcome.code })
  },
})
