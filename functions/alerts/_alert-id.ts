import { string, type } from 'superstruct'
import { findAlert } from '../../lib/store/alerts.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { refuseWorkloads } from '../../runtime/reach.ts'
import type { Reply } from '../../runtime/reply.ts'

/** The path parameters of one alert. */
export const alertParams = type({ id: string() })

/** Whether a text can be an alert's id; the database is not asked for any other text. */
export const isAlertId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id)

/** The reply where the caller may not resolve the alerts of an alert's workload; null where that is allowed. */
export async function refuseAlert(ctx: Context, actor: Actor, id: string): Promise<Reply | null> {
  if (actor.permissions.has('alert:resolve')) return null
  const alert = await findAlert(ctx.db, id)
  return alert === null ? null : refuseWorkloads(actor, 'alert:resolve', ctx, [alert.workloadId])
}
