export const ALERT_RULES = ['workload_down', 'config_drift', 'version_outdated'] as const
export type AlertRule = (typeof ALERT_RULES)[number]
export type AlertSeverity = 'warning' | 'critical'

/** One alert; open while `resolved_at` is absent. */
export interface AlertRecord {
  id: string
  workload_id: string
  rule: AlertRule
  severity: AlertSeverity
  message: string
  fired_at: string
  resolved_at?: string
}

/** Answer of `POST /api/alerts/{id}/resolve`. */
export interface AlertResolved {
  status: 'resolved'
}
