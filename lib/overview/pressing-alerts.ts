import { type AlertGroup, type AlertSubject, alertRank, groupAlerts } from '../model/alert-groups.ts'
import type { AlertRecord } from '../wire/alerts.ts'

/** An alert to look at, and those that have its cause, itself among them. */
export interface PressingAlert {
  alert: AlertRecord
  alike: readonly AlertRecord[]
}

/** What of a workload decides how pressing its alerts are. */
interface Parts {
  subjectOf(id: string): AlertSubject | undefined
  /** Whether what caused an alert has gone. */
  isOver(alert: AlertRecord): boolean
}

/**
 * The first `max` of what is to be looked at, in the order of the page of all alerts: those of one cause are one, however
 * many they are, and what is over comes last.
 */
export function choosePressing(
  alerts: readonly AlertRecord[],
  max: number,
  { subjectOf, isOver }: Parts,
): PressingAlert[] {
  const ranked = alerts
    .map((alert) => ({ alert, isOver: isOver(alert), rank: alertRank(alert, subjectOf(alert.workload_id)) }))
    .sort((a, b) => Number(a.isOver) - Number(b.isOver) || a.rank - b.rank)
    .map(({ alert }) => alert)
  const groupOf = new Map<AlertRecord, AlertGroup>()
  for (const group of groupAlerts(ranked, subjectOf).groups)
    for (const alert of group.alerts) groupOf.set(alert, group)
  const isFirst = (alert: AlertRecord) => (groupOf.get(alert)?.alerts[0] ?? alert) === alert
  return ranked
    .filter(isFirst)
    .slice(0, max)
    .map((alert) => ({ alert, alike: groupOf.get(alert)?.alerts ?? [alert] }))
}
