import { type AlertGroup, alertRank, groupAlerts, isPressing } from '../../../lib/model/alert-groups.ts'
import type { AlertRecord } from '../../../lib/wire/alerts.ts'

/** Alerts in the order in which they are looked at; those that are equal in it as they came, the newest first. */
export function pressingFirst(alerts: readonly AlertRecord[]): AlertRecord[] {
  const ranks = new Map(alerts.map((alert) => [alert, alertRank(alert)]))
  return [...alerts].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0))
}

/** Alerts as the page shows them: groups, then the others in a table. */
export interface AlertBand {
  kind: 'critical' | 'outage' | 'lost' | 'rest'
  groups: AlertGroup[]
  others: AlertRecord[]
}

const isOutage = ({ common }: AlertGroup): boolean => common.kind === 'outage'
const isCritical = ({ alerts }: AlertGroup): boolean => alerts.some(isPressing)

/** Groups by the worst of each; of those that are equally bad the newest first. */
function worstFirst(groups: readonly AlertGroup[]): AlertGroup[] {
  const keyed = groups.map((group) => {
    const rank = group.alerts.reduce((worst, alert) => Math.min(worst, alertRank(alert)), Number.MAX_VALUE)
    const newest =
      group.alerts
        .map(({ fired_at: at }) => at)
        .sort()
        .at(-1) ?? ''
    return { group, rank, newest }
  })
  keyed.sort((a, b) => a.rank - b.rank || (a.newest > b.newest ? -1 : a.newest < b.newest ? 1 : 0))
  return keyed.map(({ group }) => group)
}

/**
 * Open alerts from the most pressing down, whether or not they are grouped: what is critical of another kind than the
 * outages stands above these, as it would be lost below them, and no group of warnings above anything that is critical. A
 * band without any is left out; what is not critical stands with the lone critical ones where no group would come between.
 */
export function bandAlerts(alerts: readonly AlertRecord[]): AlertBand[] {
  const found = groupAlerts(pressingFirst(alerts))
  const groups = worstFirst(found.groups)
  const outages = groups.filter((group) => isOutage(group) && isCritical(group))
  const ofOutage = new Set(outages.map(({ rule }) => rule))
  const bandOf = (rule: AlertRecord['rule'], pressing: boolean): AlertBand['kind'] =>
    !pressing ? 'rest' : ofOutage.has(rule) ? 'lost' : 'critical'
  const kindOf = (group: AlertGroup) =>
    isOutage(group) && isCritical(group) ? 'outage' : bandOf(group.rule, isCritical(group))
  if (outages.length === 0 && groups.every(isCritical))
    return [{ kind: 'rest', groups, others: found.others }]
  return (['critical', 'outage', 'lost', 'rest'] as const)
    .map((kind) => ({
      kind,
      groups: groups.filter((group) => kindOf(group) === kind),
      others: found.others.filter((alert) => bandOf(alert.rule, isPressing(alert)) === kind),
    }))
    .filter((band) => band.groups.length + band.others.length > 0)
}
