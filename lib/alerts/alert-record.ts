import type { Alert } from '../store/alerts.ts'
import type { AlertRecord } from '../wire/alerts.ts'

/** An alert as the wire shows it; `resolved_at` is absent while it is open. */
export function toAlertRecord(alert: Alert): AlertRecord {
  return {
    id: alert.id,
    workload_id: alert.workloadId,
    rule: alert.rule,
    severity: alert.severity,
    message: alert.message,
    ...(Object.keys(alert.details).length === 0 ? {} : { details: { ...alert.details } }),
    fired_at: alert.firedAt.toISOString(),
    ...(alert.resolvedAt === null ? {} : { resolved_at: alert.resolvedAt.toISOString() }),
  }
}

/** The body of a webhook call for a newly fired alert. */
export function toWebhookBody(alert: Alert): string {
  const { id, workload_id, rule, severity, message, fired_at } = toAlertRecord(alert)
  const record = { id, workload_id, rule, severity, message, fired_at }
  return JSON.stringify({ event: 'alert_fired', fired_at, alert: record })
}
