import type { NextSteps } from '../../lib/alerts/next-step.ts'
import type { Alert } from '../../lib/store/alerts.ts'
import { listWorkloadsWithWayBack } from '../../lib/store/ways-back.ts'
import type { Context } from '../../runtime/context.ts'

/** An alert with what can be done about its workload now. */
export interface AlertWithSteps {
  alert: Alert
  steps: NextSteps
}

const isAsked = ({ rule, resolvedAt }: Alert): boolean =>
  resolvedAt === null && (rule === 'workload_unhealthy' || rule === 'config_drift')

/** Alerts in their order, with what can be done now about those whose advice depends on it. */
export async function withSteps(ctx: Context, alerts: readonly Alert[]): Promise<AlertWithSteps[]> {
  const ids = alerts.filter(isAsked).map(({ workloadId }) => workloadId)
  const back = await listWorkloadsWithWayBack(ctx.db, [...new Set(ids)])
  return alerts.map((alert) => {
    if (!isAsked(alert)) return { alert, steps: null }
    if (ctx.fleet.workload(alert.workloadId)?.acceptsRemoteConfig !== true) return { alert, steps: [] }
    return { alert, steps: back.has(alert.workloadId) ? ['push', 'roll_back'] : ['push'] }
  })
}
