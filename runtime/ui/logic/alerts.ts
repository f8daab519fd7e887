import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { clusterOf } from './workloads.ts'

/** Alerts that have one cause, as far as alerts tell. */
export interface AlertGroup {
  key: string
  rule: AlertRecord['rule']
  /** What they have in common beside the rule: the start of a config's hash, or a cluster; '' for the rule alone. */
  common: string
  /** In the order in which they came. */
  alerts: readonly AlertRecord[]
}

/**
 * What is likely to be behind an alert, beside its rule: the config that failed, or the cluster that workloads are lost
 * in together; null where each alert has a cause of its own.
 */
function commonOf({ rule, details = {} }: AlertRecord, workload: WorkloadRecord | undefined): string | null {
  if (rule === 'push_failed') return String(details['config_hash'] ?? '').slice(0, 7) || null
  if (rule === 'version_outdated') return ''
  if (rule === 'workload_down' || rule === 'workload_unhealthy' || rule === 'config_drift')
    return workload === undefined ? null : clusterOf(workload) || null
  return null
}

/** Open alerts with one cause together, where there are two or more; the others as they came. */
export function groupAlerts(
  alerts: readonly AlertRecord[],
  workloads: ReadonlyMap<string, WorkloadRecord>,
): { groups: AlertGroup[]; others: AlertRecord[] } {
  const found = new Map<string, { rule: AlertRecord['rule']; common: string; alerts: AlertRecord[] }>()
  const keys = new Map<AlertRecord, string>()
  for (const alert of alerts) {
    const common = alert.resolved_at ? null : commonOf(alert, workloads.get(alert.workload_id))
    if (common === null) continue
    const key = `${alert.rule} ${common}`
    keys.set(alert, key)
    const known = found.get(key)
    if (known) known.alerts.push(alert)
    else found.set(key, { rule: alert.rule, common, alerts: [alert] })
  }
  const groups = [...found].flatMap(([key, group]) => (group.alerts.length > 1 ? { key, ...group } : []))
  const grouped = new Set(groups.map(({ key }) => key))
  return { groups, others: alerts.filter((alert) => !grouped.has(keys.get(alert) ?? '')) }
}

const isPressing = ({ severity, resolved_at: at }: AlertRecord): boolean => severity === 'critical' && !at

/** Alerts as they came, but those first that are critical and open: whoever is called at night looks at these. */
export const pressingFirst = (alerts: readonly AlertRecord[]): AlertRecord[] =>
  [...alerts].sort((a, b) => Number(isPressing(b)) - Number(isPressing(a)))
