import { string, type } from 'superstruct'
import { refuseResolver } from '../../lib/changes/who-resolves-alerts.ts'
import { listAlertSubjects } from '../../lib/store/alerts.ts'
import type { Context } from '../../runtime/context.ts'
import type { Actor } from '../../runtime/define.ts'
import { refuseWorkloads, unlessRefused } from '../../runtime/reach.ts'
import { lacks, problem } from '../../runtime/reply.ts'

/** The path parameters of one alert. */
export const alertParams = type({ id: string() })

/** Whether a text can be an alert's id; the database is not asked for any other text. */
export const isAlertId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id)

/** Why alerts about people are not resolved by this caller. */
export const RESOLVER_ERRORS = ['session-required', 'forbidden', 'alert-needs-another'] as const

/**
 * The actor where the caller may resolve these alerts, or the reply where not: those of workloads where the caller may
 * there, those about people as `refuseResolver` says. Asked again in the transaction.
 */
export const mayResolve = (
  ctx: Context,
  actor: Actor,
  ids: readonly string[],
): ReturnType<typeof unlessRefused> =>
  unlessRefused(ctx, actor, async (caller, db) => {
    const alerts = await listAlertSubjects(db, ids)
    const mayManage = caller.permissions.has('settings:manage')
    const resolver = { userId: caller.userId, mayManage, isInPerson: caller.apiToken === null }
    const refused = await refuseResolver(db, resolver, alerts)
    if (refused?.code === 'forbidden') return lacks('settings:manage', 'forbidden')
    if (refused !== null) return problem(refused.code)
    if (caller.permissions.has('alert:resolve')) return null
    return refuseWorkloads(
      caller,
      'alert:resolve',
      ctx,
      alerts.map(({ workloadId }) => workloadId),
    )
  })
