import {
  type AlertGroup,
  alertRank,
  type FindSubject,
  groupAlerts,
  isPressing,
} from '../../../lib/model/alert-groups.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'

/** Alerts in the order in which they are looked at; those that are equal in it as they came. */
export function pressingFirst(alerts: readonly AlertRecord[], subjectOf: FindSubject): AlertRecord[] {
  const ranks = new Map(alerts.map((alert) => [alert, alertRank(alert, subjectOf(alert.workload_id))]))
  return [...alerts].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
}

/** Alerts as the page shows them: groups, then the others in a table. */
export interface AlertBand {
  groups: AlertGroup[]
  others: AlertRecord[]
}

/** Open alerts from the most pressing down, whether or not they are grouped; all in one where no other group follows. */
export function bandAlerts(alerts: readonly AlertRecord[], subjectOf: FindSubject): AlertBand[] {
  const { groups, others } = groupAlerts(pressingFirst(alerts, subjectOf), subjectOf)
  const isPressingGroup = (group: AlertGroup) => group.alerts.some(isPressing)
  const rest = groups.filter((group) => !isPressingGroup(group))
  if (rest.length === 0) return [{ groups, others }]
  return [
    { groups: groups.filter(isPressingGroup), others: others.filter(isPressing) },
    { groups: rest, others: others.filter((alert) => !isPressing(alert)) },
  ]
}
