import { type AlertGroup, alertRank, groupAlerts, isPressing } from '../../../lib/model/alert-groups.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'

/** Alerts in the order in which they are looked at; those that are equal in it as they came. */
export function pressingFirst(alerts: readonly AlertRecord[]): AlertRecord[] {
  const ranks = new Map(alerts.map((alert) => [alert, alertRank(alert)]))
  return [...alerts].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
}

/** Alerts as the page shows them: groups, then the others in a table. */
export interface AlertBand {
  kind: 'critical' | 'outage' | 'rest'
  groups: AlertGroup[]
  others: AlertRecord[]
}

const isOutage = ({ common }: AlertGroup): boolean => common.kind === 'outage'

/**
 * Open alerts from the most pressing down, whether or not they are grouped: what is critical of another kind than the
 * outages stands above these, as it would be lost below them. A band without any is left out; what is not critical
 * stands with the lone critical ones where no group would come between.
 */
export function bandAlerts(alerts: readonly AlertRecord[]): AlertBand[] {
  const { groups, others } = groupAlerts(pressingFirst(alerts))
  const outages = groups.filter(isOutage)
  const ofOutage = new Set(outages.map(({ rule }) => rule))
  const isFirst = (alert: AlertRecord) => isPressing(alert) && !ofOutage.has(alert.rule)
  const rest = groups.filter((group) => !isOutage(group) && !group.alerts.some(isFirst))
  if (outages.length === 0 && rest.length === 0) return [{ kind: 'rest', groups, others }]
  const bands: AlertBand[] = [
    {
      kind: 'critical',
      groups: groups.filter((group) => !isOutage(group) && group.alerts.some(isFirst)),
      others: others.filter(isFirst),
    },
    { kind: 'outage', groups: outages, others: [] },
    { kind: 'rest', groups: rest, others: others.filter((alert) => !isFirst(alert)) },
  ]
  return bands.filter((band) => band.groups.length + band.others.length > 0)
}
