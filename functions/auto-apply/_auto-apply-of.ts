import type { AutoApplyReader } from '../../lib/auto-apply/auto-apply.ts'
import type { AutoApplyOutcome } from '../../lib/auto-apply/decisions.ts'
import type { WantedAutoApply } from '../../lib/auto-apply/plan.ts'
import { PRIORITY_MAX } from '../../lib/model/priorities.ts'
import { PRODUCTION_UNCONFIRMED } from '../../lib/model/production.ts'
import type { Refusal } from '../../lib/model/refusal.ts'
import { FLEET_CONFIG_RULES, readSelector, type SelectorRefusal } from '../../lib/selectors/read-selector.ts'
import type { StoredFleetConfig } from '../../lib/store/fleet-configs.ts'
import type { Selector } from '../../lib/wire/selectors.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { sightBy } from '../../runtime/reach.ts'
import { json, problem, problemOf, type Reply } from '../../runtime/reply.ts'
import { isPriority } from '../fleet-configs/_fleet-config-request.ts'

/** Somebody as a reader of versions that apply by themselves. */
export function autoApplyReader(ctx: Context, actor: Actor): AutoApplyReader {
  const { scopes, sees } = sightBy('config:request', actor, ctx)
  const { userId } = actor
  return { userId, sees: scopes === null ? () => true : scopes.length === 0 ? null : sees }
}

/** The reply to a decision: what it was about, as it is now. Browsers are told as well. */
export async function replyToChoice(
  ctx: Context,
  actor: Actor,
  outcome: AutoApplyOutcome,
  status = 200,
): Promise<Reply> {
  if (outcome.ok) {
    // An approval may have changed the selector and the priority of the fleet config.
    await ctx.fleetConfigs.load()
    await ctx.fleetConfigs.storeMemberships()
    ctx.autoApply.decided(outcome.autoApply)
    return json(await ctx.autoApply.record(outcome.autoApply, autoApplyReader(ctx, actor)), status)
  }
  if (outcome.code === 'audit-unavailable') return auditUnavailable(outcome)
  if (outcome.code === 'production-confirmation-required')
    return problem(outcome.code, PRODUCTION_UNCONFIRMED)
  return problemOf(outcome)
}

/**
 * Check the version, selector and priority that are asked for. Selector and priority are those of the fleet config
 * where none are sent.
 */
export function readWantedAutoApply(
  config: StoredFleetConfig,
  asked: { number: number; selector?: Selector | undefined; priority?: number | undefined },
):
  | { ok: true; wanted: WantedAutoApply }
  | SelectorRefusal
  | Refusal<'priority-invalid' | 'fleet-config-version-not-found'> {
  const { number, priority = config.priority } = asked
  if (!Number.isInteger(number) || number < 1 || number > config.newestVersion)
    return { ok: false, code: 'fleet-config-version-not-found' }
  if (!isPriority(priority)) return { ok: false, code: 'priority-invalid', details: { max: PRIORITY_MAX } }
  if (asked.selector === undefined)
    return { ok: true, wanted: { number, priority, selector: config.selector } }
  const read = readSelector(asked.selector, FLEET_CONFIG_RULES)
  return read.ok ? { ok: true, wanted: { number, priority, selector: read.selector } } : read
}
