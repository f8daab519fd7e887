import { string, type } from 'superstruct'
import { findOutranked } from '../../lib/fleet-configs/outranked.ts'
import type { Permission } from '../../lib/model/permissions.ts'
import { scopesOf } from '../../lib/model/scopes.ts'
import type { StoredFleetConfig } from '../../lib/store/fleet-configs.ts'
import type { Selector } from '../../lib/wire/selectors.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { refuseReach } from '../../runtime/reach.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

/** The path parameters of everything about one fleet config. */
export const fleetConfigParams = type({ id: string() })

/** The path parameters of one version. */
export const versionParams = type({ id: string(), number: string() })

/** A fleet config by its id; null when there is none. */
export const findFleetConfig = (ctx: Context, id: string): StoredFleetConfig | null =>
  ctx.fleetConfigs.config(id)

/** A fleet config that selects only workloads on which the caller has a permission, or the reply that refuses it. */
export function requireFleetConfig(
  ctx: Context,
  id: string,
  actor: Actor,
  permission: Permission,
): { ok: true; config: StoredFleetConfig } | { ok: false; reply: Reply } {
  const config = findFleetConfig(ctx, id)
  if (config === null) return { ok: false, reply: problem('fleet-config-not-found') }
  const outside = refuseReach(actor, permission, config)
  return outside === null ? { ok: true, config } : { ok: false, reply: outside }
}

/**
 * The reply where a selector reaches beyond where the caller has a permission, or would outrank a fleet config of
 * others; null where it does neither. `id` is null for a new fleet config.
 */
export function refuseSelection(
  ctx: Context,
  actor: Actor,
  permission: Permission,
  wanted: { id: string | null; selector: Selector; priority: number },
): Reply | null {
  const outside = refuseReach(actor, permission, wanted)
  if (outside !== null) return outside
  const other = findOutranked(ctx.fleetConfigs.configs, wanted, scopesOf(actor.grants, permission))
  return other === null
    ? null
    : problem('fleet-config-outranks', { name: other.name, priority: other.priority })
}

/** A version's number as sent; null when it can be none. */
export const readNumber = (text: string): number | null => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null)

/** The reply to a change by hand of what is kept in Git; null where it is not. */
export function refuseManaged(ctx: Context, id: string): Reply | null {
  const managed = ctx.fleetConfigs.managedOf(id)
  return managed === null ? null : problem('fleet-config-managed', { owner: managed.owner })
}
