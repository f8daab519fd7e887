import { string, type } from 'superstruct'
import { listAlertWorkloads } from '../../lib/store/alerts.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { refuseWorkloads, unlessRefused } from '../../runtime/reach.ts'

/** The path parameters of one alert. */
export const alertParams = type({ id: string() })

/** Whether a text can be an alert's id; the database is not asked for any other text. */
export const isAlertId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id)

/**
 * The actor where the caller may resolve the alerts of these alerts' workloads, or the reply where not; asked again in
 * the transaction.
 */
export const mayResolve = (
  ctx: Context,
  actor: Actor,
  ids: readonly string[],
): ReturnType<typeof unlessRefused> =>
  unlessRefused(ctx, actor, async (caller, db) =>
    caller.permissions.has('alert:resolve')
      ? null
      : refuseWorkloads(caller, 'alert:resolve', ctx, await listAlertWorkloads(db, ids)),
  )
