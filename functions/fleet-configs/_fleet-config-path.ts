import { string, type } from 'superstruct'
import type { Workload } from '../../lib/fleet/state/model.ts'
import { findOutranked } from '../../lib/fleet-configs/outranked.ts'
import type { Permission } from '../../lib/model/permissions.ts'
import { type ReadablePart, readablePart, scopesOf } from '../../lib/model/scopes.ts'
import { toSelectable, valuesOf } from '../../lib/selectors/selector.ts'
import type { StoredFleetConfig, StoredVersion } from '../../lib/store/fleet-configs.ts'
import type { Selector } from '../../lib/wire/selectors.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { coversReach, holdsOn, refuseReach } from '../../runtime/reach.ts'
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

/** What may be read of the versions of a fleet config: all, or what is about workloads on which the caller may read. */
interface ReadableConfig {
  config: StoredFleetConfig
  /** A version without what is about workloads outside. */
  cut<V extends StoredVersion>(version: V): V
}

/** The workloads under a fleet config on which the caller has a permission. */
const ownUnder = async (
  ctx: Context,
  id: string,
  actor: Actor,
  permission: Permission,
): Promise<Workload[]> =>
  (await ctx.fleetConfigs.under(id)).filter((workload) => holdsOn(actor, permission, ctx, workload.id))

/** How much of the texts of a fleet config the caller has to do with, by a permission on configs. */
export async function readablePartOf(
  ctx: Context,
  config: StoredFleetConfig,
  actor: Actor,
  permission: Permission,
): Promise<{ part: ReadablePart; own: readonly Workload[] }> {
  if (coversReach(actor, permission, config)) return { part: readablePart(true, false), own: [] }
  const own = await ownUnder(ctx, config.id, actor, permission)
  return { part: readablePart(false, own.length > 0), own }
}

/** A fleet config whose texts the caller may read (`ReadablePart`), or the reply that refuses it. */
export async function requireTexts(
  ctx: Context,
  id: string,
  actor: Actor,
): Promise<({ ok: true } & ReadableConfig) | { ok: false; reply: Reply }> {
  const config = findFleetConfig(ctx, id)
  if (config === null) return { ok: false, reply: problem('fleet-config-not-found') }
  const { part, own } = await readablePartOf(ctx, config, actor, 'config:read_content')
  if (part === 'none') return { ok: false, reply: problem('out-of-scope') }
  return { ok: true, config, cut: (version) => (part === 'whole' ? version : keepRows(version, own)) }
}

/** A version with the rows of its table that are of these workloads. */
function keepRows<V extends StoredVersion>(version: V, workloads: readonly Workload[]): V {
  const { valueTable } = version
  if (valueTable === null) return version
  const { label, rows } = valueTable
  const values = new Set(workloads.flatMap((workload) => valuesOf(toSelectable(workload), label)))
  const kept = Object.entries(rows).filter(([value]) => values.has(value))
  return { ...version, valueTable: { label, rows: Object.fromEntries(kept) } }
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
