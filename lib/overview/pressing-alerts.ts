import { type AlertGroup, alertRank, type Groupable, groupAlerts } from '../model/alert-groups.ts'

/** An alert to look at, and all of its cause where it is not alone. */
export interface PressingAlert<A extends Groupable> {
  alert: A
  group: AlertGroup<A> | null
}

/**
 * The first `max` of what is to be looked at, in the order of the page of all alerts: those of one cause are one, however
 * many they are, and what is over comes last.
 */
export function choosePressing<A extends Groupable>(
  alerts: readonly A[],
  max: number,
  isOver: (alert: A) => boolean,
): PressingAlert<A>[] {
  const ranked = alerts
    .map((alert) => ({ alert, isOver: isOver(alert), rank: alertRank(alert) }))
    .sort((a, b) => Number(a.isOver) - Number(b.isOver) || a.rank - b.rank)
    .map(({ alert }) => alert)
  const groupOf = new Map<A, AlertGroup<A>>()
  for (const group of groupAlerts(ranked).groups) for (const alert of group.alerts) groupOf.set(alert, group)
  const told = new Set<AlertGroup<A>>()
  const chosen: PressingAlert<A>[] = []
  for (const alert of ranked) {
    const group = groupOf.get(alert) ?? null
    if (chosen.length === max) break
    if (group !== null && told.has(group)) continue
    if (group !== null) told.add(group)
    chosen.push({ alert, group })
  }
  return chosen
}
