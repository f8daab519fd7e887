import type { AlertRecord } from '../wire/alerts.ts'
import type { Outage } from '../wire/outages.ts'
import { findOutages, type Lost } from './outages.ts'
import { byBytes } from './text-order.ts'

/** What alerts have in common beside their rule: an outage, a config that failed, why it fails, or a cluster. */
export type Common =
  | { kind: 'outage'; outage: Outage }
  | { kind: 'config'; hash: string }
  | { kind: 'cause'; cause: string; title: string }
  | { kind: 'cluster'; name: string }
  | { kind: 'rule' }

/** What of an alert says which others have its cause, and how pressing it is. */
export type Groupable = Pick<
  AlertRecord,
  'workload_id' | 'rule' | 'severity' | 'details' | 'fired_at' | 'resolved_at' | 'about'
>

/** Alerts that have one cause, as far as alerts tell. */
export interface AlertGroup<A extends Groupable = AlertRecord> {
  key: string
  rule: AlertRecord['rule']
  common: Common
  /** In the order in which they came; those of an outage the worst first, then by name. */
  alerts: readonly A[]
}

/**
 * What is likely to be behind an alert, beside its rule: the config that failed, what instances complain of, or the cluster
 * that workloads are lost in together; null where each alert has a cause of its own. That two drift in one cluster says
 * nothing.
 */
export function commonOf({
  rule,
  details = {},
  about,
}: Pick<Groupable, 'rule' | 'details' | 'about'>): Common | null {
  const text = (key: string) => String(details[key] ?? '')
  if (rule === 'version_outdated') return { kind: 'rule' }
  if (rule === 'push_failed' || rule === 'config_drift') {
    const hash = text('config_hash').slice(0, 7)
    return hash === '' ? null : { kind: 'config', hash }
  }
  if (!mayBeOutage(rule)) return null
  if (text('cause') !== '') return { kind: 'cause', cause: text('cause'), title: text('cause_title') }
  const name = about?.cluster ?? ''
  return name === '' ? null : { kind: 'cluster', name }
}

/** Whether many alerts of a rule that came within the same minutes are one outage. */
const mayBeOutage = (rule: AlertRecord['rule']): boolean =>
  rule === 'workload_down' || rule === 'workload_unhealthy'

/** Since when it is so, as far as is known: an alert comes later than what it is about. */
export const sinceOf = ({ about, fired_at: at }: Pick<Groupable, 'about' | 'fired_at'>): string =>
  about?.lost_at ?? at

/** Since when and where something was lost, by an open alert without a cause of its own. */
function lostBy(alert: Groupable): Lost | null {
  if (alert.resolved_at || !mayBeOutage(alert.rule) || alert.details?.['cause']) return null
  const { environment = '', cluster = '' } = alert.about ?? {}
  return { since: sinceOf(alert), environment, cluster }
}

/** Open alerts without a cause of their own that came within the same minutes, where they are many. */
function groupOutages<A extends Groupable>(alerts: readonly A[]): AlertGroup<A>[] {
  const byRule = new Map<AlertRecord['rule'], A[]>()
  for (const alert of alerts) {
    if (!mayBeOutage(alert.rule)) continue
    const known = byRule.get(alert.rule)
    if (known) known.push(alert)
    else byRule.set(alert.rule, [alert])
  }
  return [...byRule].flatMap(([rule, own]) =>
    findOutages(own, lostBy).map(({ minute, outage, members }) => ({
      key: `${rule} outage ${minute}`,
      rule,
      common: { kind: 'outage' as const, outage },
      alerts: members.sort((a, b) => alertRank(a) - alertRank(b) || byName(a, b)),
    })),
  )
}

const byName = ({ about: a }: Groupable, { about: b }: Groupable): number =>
  byBytes(a?.name ?? '', b?.name ?? '')

/** Open alerts with one cause together, where there are two or more; the others as they came. */
export function groupAlerts<A extends Groupable>(
  alerts: readonly A[],
): { groups: AlertGroup<A>[]; others: A[] } {
  const outages = groupOutages(alerts)
  const keys = new Map<A, string>()
  for (const { key, alerts: own } of outages) for (const alert of own) keys.set(alert, key)
  const found = new Map<string, AlertGroup<A> & { alerts: A[] }>()
  for (const alert of alerts) {
    const common = alert.resolved_at || keys.has(alert) ? null : commonOf(alert)
    if (common === null) continue
    const key = [alert.rule, ...Object.values(common)].join(' ')
    keys.set(alert, key)
    const known = found.get(key)
    if (known) known.alerts.push(alert)
    else found.set(key, { key, rule: alert.rule, common, alerts: [alert] })
  }
  const groups = [...outages, ...[...found.values()].filter(({ alerts: own }) => own.length > 1)]
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
export const isPressing = ({ severity, resolved_at: at }: Groupable): boolean =>
  severity === 'critical' && !at

function bandOf(alert: Groupable): number {
  if (isPressing(alert)) return 0
  if (alert.resolved_at) return 4
  if (WAITS.has(alert.rule)) return 1
  return alert.rule === 'version_outdated' ? 3 : 2
}

/** Whether production is concerned, or may be: what is about no workload is about many, or about all. */
const reachesProduction = ({ workload_id: id, resolved_at: at, about }: Groupable): boolean =>
  !at && (id === '' || about?.is_production === true)

/**
 * The order in which alerts are looked at, the lowest first: the critical ones, then what waits for somebody to decide,
 * then all else, old versions last; of each of these production first. Those that were resolved stand behind all that is
 * open.
 */
export const alertRank = (alert: Groupable): number => bandOf(alert) * 2 + (reachesProduction(alert) ? 0 : 1)
