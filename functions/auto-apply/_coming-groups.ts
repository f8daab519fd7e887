import { string, type } from 'superstruct'
import type { ComingGroups } from '../../lib/auto-apply/groups.ts'
import { listOpenAutoApplies } from '../../lib/store/auto-apply.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor, Sight } from '../../runtime/define.ts'
import { problem, type Reply } from '../../runtime/reply.ts'
import { requireTexts } from '../fleet-configs/_fleet-config-path.ts'

/** The path parameters of one group of workloads that a version would reach by itself. */
export const comingGroupParams = type({ id: string(), group: string() })

/** Codes with which the groups are refused. */
export const COMING_ERRORS = ['auto-apply-not-found', 'fleet-config-not-found', 'out-of-scope'] as const

/** The groups of what waits for approval, else of what is in force; the workloads that the caller is shown. */
export async function readComing(
  ctx: Context,
  id: string,
  actor: Actor,
  { sees }: Sight,
): Promise<{ ok: true; coming: ComingGroups } | { ok: false; reply: Reply }> {
  const found = await requireTexts(ctx, id, actor)
  if (!found.ok) return found
  const open = await listOpenAutoApplies(ctx.db, id)
  const asked = open.find(({ status }) => status === 'requested') ?? open[0]
  const coming = asked === undefined ? null : await ctx.autoApply.groups(asked, sees)
  return coming === null ? { ok: false, reply: problem('auto-apply-not-found') } : { ok: true, coming }
}
