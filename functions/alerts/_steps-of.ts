import { toAlertAbout } from '../../lib/alerts/alert-record.ts'
import type { NextSteps } from '../../lib/alerts/next-step.ts'
import type { Alert } from '../../lib/store/alerts.ts'
import { listWorkloadsWithWayBack } from '../../lib/store/ways-back.ts'
import type { AlertAbout } from '../../lib/wire/alerts.ts'
import type { Context } from '../../runtime/context.ts'

/** An alert with what can be done about its workload now, and what that is called. */
export interface AlertWithSteps {
  alert: Alert
  steps: NextSteps
  about: AlertAbout | null
}

/** What is said of the workload of an alert; null where the fleet has none of this id. */
export function aboutWorkloadOf(ctx: Context, id: string): AlertAbout | null {
  const workload = ctx.fleet.workload(id)
  return workload && toAlertAbout(ctx.views.workload(workload, { withTexts: false }))
}

const isAsked = ({ rule, resolvedAt }: Alert): boolean =>
  resolvedAt === null && (rule === 'workload_unhealthy' || rule === 'config_drift')

/** Alerts in their order, with what can be done now about those whose advice depends on it. */
export async function withSteps(ctx: Context, alerts: readonly Alert[]): Promise<AlertWithSteps[]> {
  const ids = alerts.filter(isAsked).map(({ workloadId }) => workloadId)
  const back = await listWorkloadsWithWayBack(ctx.db, [...new Set(ids)])
  const stepsOf = (alert: Alert): NextSteps => {
    if (!isAsked(alert)) return null
    if (ctx.fleet.workload(alert.workloadId)?.acceptsRemoteConfig !== true) return []
    return back.has(alert.workloadId) ? ['push', 'roll_back'] : ['push']
  }
  return alerts.map((alert) => ({
    alert,
    steps: stepsOf(alert),
    about: aboutWorkloadOf(ctx, alert.workloadId),
  }))
}
