import { string, type } from 'superstruct'
import type { StoredFleetConfig } from '../../lib/store/fleet-configs.ts'
import type { Context } from '../../runtime/context.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

/** The path parameters of everything about one fleet config. */
export const fleetConfigParams = type({ id: string() })

/** The path parameters of one version. */
export const versionParams = type({ id: string(), number: string() })

/** A fleet config by its id; null when there is none. */
export const findFleetConfig = (ctx: Context, id: string): StoredFleetConfig | null =>
  ctx.fleetConfigs.config(id)

/** A version's number as sent; null when it can be none. */
export const readNumber = (text: string): number | null => (/^[1-9]\d{0,8}$/.test(text) ? Number(text) : null)

/** The reply to a change by hand of what is kept in Git; null where it is not. */
export function refuseManaged(ctx: Context, id: string): Reply | null {
  const managed = ctx.fleetConfigs.managedOf(id)
  return managed === null ? null : problem('fleet-config-managed', { owner: managed.owner })
}
