import type { AlertRecord } from '../wire/alerts.ts'
import type { WorkloadRecord } from '../wire/workloads.ts'
import { trustedAmong } from './labels.ts'
import { isProductionByLabels } from './production.ts'
import { clusterOf } from './workload-states.ts'

/** What alerts have in common beside their rule: a config that failed, why it fails, or a cluster. */
export type Common =
  | { kind: 'config'; hash: string }
  | { kind: 'cause'; cause: string; title: string }
  | { kind: 'cluster'; name: string }
  | { kind: 'rule' }

/** Alerts that have one cause, as far as alerts tell. */
export interface AlertGroup {
  key: string
  rule: AlertRecord['rule']
  common: Common
  /** In the order in which they came. */
  alerts: readonly AlertRecord[]
}

/** What is known of the workload of an alert. */
export type AlertSubject = Pick<WorkloadRecord, 'labels' | 'fingerprint_keys'>
export type FindSubject = (id: string) => AlertSubject | undefined

/**
 * What is likely to be behind an alert, beside its rule: the config that failed, what instances complain of, or the cluster
 * that workloads are lost in together; null where each alert has a cause of its own. That two drift in one cluster says
 * nothing.
 */
export function commonOf(
  { rule, details = {} }: Pick<AlertRecord, 'rule' | 'details'>,
  workload: AlertSubject | undefined,
): Common | null {
  const text = (key: string) => String(details[key] ?? '')
  if (rule === 'version_outdated') return { kind: 'rule' }
  if (rule === 'push_failed' || rule === 'config_drift') {
    const hash = text('config_hash').slice(0, 7)
    return hash === '' ? null : { kind: 'config', hash }
  }
  if (rule !== 'workload_down' && rule !== 'workload_unhealthy') return null
  if (text('cause') !== '') return { kind: 'cause', cause: text('cause'), title: text('cause_title') }
  const name = workload === undefined ? '' : clusterOf(workload)
  return name === '' ? null : { kind: 'cluster', name }
}

/** Open alerts with one cause together, where there are two or more; the others as they came. */
export function groupAlerts(
  alerts: readonly AlertRecord[],
  subjectOf: FindSubject,
): { groups: AlertGroup[]; others: AlertRecord[] } {
  const found = new Map<string, { rule: AlertRecord['rule']; common: Common; alerts: AlertRecord[] }>()
  const keys = new Map<AlertRecord, string>()
  for (const alert of alerts) {
    const common = alert.resolved_at ? null : commonOf(alert, subjectOf(alert.workload_id))
    if (common === null) continue
    const key = [alert.rule, ...Object.values(common)].join(' ')
    keys.set(alert, key)
    const known = found.get(key)
    if (known) known.alerts.push(alert)
    else found.set(key, { rule: alert.rule, common, alerts: [alert] })
  }
  const groups = [...found].flatMap(([key, group]) => (group.alerts.length > 1 ? { key, ...group } : []))
  const grouped = new Set(groups.map(({ key }) => key))
  return { groups, others: alerts.filter((alert) => !grouped.has(keys.get(alert) ?? '')) }
}

/** Alerts of what stands still until somebody decides. */
const WAITS: ReadonlySet<AlertRecord['rule']> = new Set([
  'campaign_halted',
  'rollout_halted',
  'auto_apply_held',
])

/** Whether an alert is critical and open: whoever is called at night looks at these. */
export const isPressing = ({ severity, resolved_at: at }: AlertRecord): boolean =>
  severity === 'critical' && !at

function bandOf(alert: AlertRecord): number {
  if (isPressing(alert)) return 0
  if (alert.resolved_at) return 2
  if (WAITS.has(alert.rule)) return 1
  return alert.rule === 'version_outdated' ? 3 : 2
}

/** Whether production is concerned, or may be: what is about no workload is about many, or about all. */
function reachesProduction({ workload_id: id, resolved_at: at }: AlertRecord, of?: AlertSubject): boolean {
  if (at) return false
  if (id === '') return true
  const { labels = {} } = of ?? {}
  return isProductionByLabels({ labels, trustedLabels: trustedAmong(labels) })
}

/**
 * The order in which alerts are looked at, the lowest first: the critical ones, then what waits for somebody to decide,
 * then all else, old versions last; of each of these production first. Those that were resolved stay as they came.
 */
export const alertRank = (alert: AlertRecord, workload?: AlertSubject): number =>
  bandOf(alert) * 2 + (reachesProduction(alert, workload) ? 0 : 1)
