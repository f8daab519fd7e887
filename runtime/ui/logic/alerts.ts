import { clusterOf } from '../../../lib/model/workload-states.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'

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
type Subject = Pick<WorkloadRecord, 'labels' | 'fingerprint_keys'>
type FindSubject = (id: string) => Subject | undefined

/**
 * What is likely to be behind an alert, beside its rule: the config that failed, what instances complain of, or the cluster
 * that workloads are lost in together; null where each alert has a cause of its own. That two drift in one cluster says
 * nothing.
 */
function commonOf({ rule, details = {} }: AlertRecord, workload: Subject | undefined): Common | null {
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

const isPressing = ({ severity, resolved_at: at }: AlertRecord): boolean => severity === 'critical' && !at

/** Alerts as they came, but those first that are critical and open: whoever is called at night looks at these. */
export const pressingFirst = (alerts: readonly AlertRecord[]): AlertRecord[] =>
  [...alerts].sort((a, b) => Number(isPressing(b)) - Number(isPressing(a)))

/** Alerts as the page shows them: groups, then the others in a table. */
export interface AlertBand {
  groups: AlertGroup[]
  others: AlertRecord[]
}

/** Open alerts from the most pressing down, whether or not they are grouped; all in one where no other group follows. */
export function bandAlerts(alerts: readonly AlertRecord[], subjectOf: FindSubject): AlertBand[] {
  const { groups, others } = groupAlerts(pressingFirst(alerts), subjectOf)
  const isPressingGroup = (group: AlertGroup) => group.alerts.some(isPressing)
  const rest = groups.filter((group) => !isPressingGroup(group))
  if (rest.length === 0) return [{ groups, others }]
  return [
    { groups: groups.filter(isPressingGroup), others: others.filter(isPressing) },
    { groups: rest, others: others.filter((alert) => !isPressing(alert)) },
  ]
}
