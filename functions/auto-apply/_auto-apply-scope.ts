import type { Permission } from '../../lib/model/permissions.ts'
import { listOpenAutoApplies } from '../../lib/store/auto-apply.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import type { Reply } from '../../runtime/reply.ts'
import { refuseSelection, requireFleetConfig } from '../fleet-configs/_fleet-config-path.ts'

/**
 * The reply to a decision about what applies by itself where the fleet config, or what is asked for or in force of it,
 * reaches beyond where the caller has a permission; null where it does not.
 */
export async function refuseAutoApply(
  ctx: Context,
  id: string,
  actor: Actor,
  permission: Permission,
): Promise<Reply | null> {
  const found = requireFleetConfig(ctx, id, actor, permission)
  if (!found.ok) return found.reply
  for (const { selector, priority } of await listOpenAutoApplies(ctx.db, id)) {
    const outside = refuseSelection(ctx, actor, permission, { id, selector, priority })
    if (outside !== null) return outside
  }
  return null
}
