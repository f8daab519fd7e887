import type { Permission } from '../../lib/model/permissions.ts'
import { listOpenAutoApplies } from '../../lib/store/auto-apply.ts'
import type { Db } from '../../lib/store/db.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { refuseOthers, unlessRefused } from '../../runtime/reach.ts'
import type { Reply } from '../../runtime/reply.ts'
import { refuseSelection, requireFleetConfig } from '../fleet-configs/_fleet-config-path.ts'

/**
 * The reply to a decision about what applies by itself where the fleet config, or what is asked for or in force of it,
 * reaches beyond where the caller has a permission; null where it does not.
 */
async function refuseAutoApply(
  ctx: Context,
  id: string,
  actor: Actor,
  permission: Permission,
  db: Db,
): Promise<Reply | null> {
  const found = requireFleetConfig(ctx, id, actor, permission)
  if (!found.ok) return found.reply
  for (const { selector, priority } of await listOpenAutoApplies(db, id)) {
    const outside = refuseSelection(ctx, actor, permission, { id, selector, priority })
    if (outside !== null) return outside
  }
  return null
}

/** The actor of a decision about what applies by itself, or the reply where it is refused; asked again in its transaction. */
export const mayChoose = (
  ctx: Context,
  id: string,
  actor: Actor,
  permission: Permission,
): ReturnType<typeof unlessRefused> =>
  unlessRefused(ctx, actor, (caller, db) => refuseAutoApply(ctx, id, caller, permission, db))

/** The same of withdrawing the request: by a token only what its holder asked for. */
export const mayWithdraw = (ctx: Context, id: string, actor: Actor): ReturnType<typeof unlessRefused> =>
  unlessRefused(ctx, actor, async (caller, db) => {
    const refused = await refuseAutoApply(ctx, id, caller, 'config:request', db)
    if (refused !== null) return refused
    const asked = (await listOpenAutoApplies(db, id)).find(({ status }) => status === 'requested')
    return asked === undefined ? null : refuseOthers(caller, asked.requestedById)
  })
