import { trustedAmong } from '../model/labels.ts'
import { isProductionByLabels } from '../model/production.ts'
import { nameOf } from '../model/workload-names.ts'
import { clusterOf, environmentOf, placeOf } from '../model/workload-states.ts'
import type { Alert } from '../store/alerts.ts'
import type { AlertAbout, AlertRecord } from '../wire/alerts.ts'
import type { WorkloadRecord } from '../wire/workloads.ts'
import { type NextSteps, sayNextStep } from './next-step.ts'

/** How long after resolving an alert an operator may open it again. */
export const REOPEN_MS = 600_000

/**
 * Until when an operator may open an alert again, which may be over; null unless an operator resolved it and its cause
 * has stayed since.
 */
function reopenUntil(alert: Alert): Date | null {
  return alert.isQuiet && alert.resolvedAt !== null ? new Date(alert.resolvedAt.getTime() + REOPEN_MS) : null
}

/** What an alert says of its workload. */
export function toAlertAbout(workload: WorkloadRecord): AlertAbout {
  const { labels, trouble } = workload
  return {
    name: nameOf(workload),
    place: placeOf(workload),
    environment: environmentOf(workload),
    cluster: clusterOf(workload),
    is_production: isProductionByLabels({ labels, trustedLabels: trustedAmong(labels) }),
    ...(trouble?.kind === 'disconnected' && trouble.since !== undefined ? { lost_at: trouble.since } : {}),
  }
}

/** What an alert is told with beside what is stored of it. */
export interface AlertSurroundings {
  steps?: NextSteps
  about?: AlertAbout | null
}

/** An alert as the wire shows it; `resolved_at` is absent while it is open. */
export function toAlertRecord(
  alert: Alert,
  now: Date,
  { steps = null, about = null }: AlertSurroundings = {},
): AlertRecord {
  const until = reopenUntil(alert)
  return {
    id: alert.id,
    workload_id: alert.workloadId,
    rule: alert.rule,
    severity: alert.severity,
    message: alert.message,
    ...(Object.keys(alert.details).length === 0 ? {} : { details: { ...alert.details } }),
    ...(alert.resolvedAt === null
      ? { next: sayNextStep(alert, steps), ...(steps === null ? {} : { next_steps: [...steps] }) }
      : {}),
    ...(about === null ? {} : { about }),
    fired_at: alert.firedAt.toISOString(),
    ...(alert.resolvedAt === null ? {} : { resolved_at: alert.resolvedAt.toISOString() }),
    ...(alert.resolveReason === '' ? {} : { resolve_reason: alert.resolveReason }),
    ...(until === null || until < now ? {} : { reopen_until: until.toISOString() }),
  }
}

/** The body of a webhook call for a newly fired alert. */
export function toWebhookBody(alert: Alert): string {
  const { id, workload_id, rule, severity, message, fired_at, details } = toAlertRecord(alert, alert.firedAt)
  // An alert about no workload says in its details what it is about.
  const about = workload_id === '' && details !== undefined ? { details } : {}
  const record = { id, workload_id, rule, severity, message, fired_at, ...about }
  return JSON.stringify({ event: 'alert_fired', fired_at, alert: record })
}
