import type { Workload } from '../fleet/state/model.ts'
import { inTurns } from '../turns.ts'
import type { LabelRuleRecord } from '../wire/label-rules.ts'
import { contradicts } from './preview.ts'
import { giveLabels, type LabelRule, labelsOfRule } from './rules.ts'

/** How many workloads a rule means, and on how many of them another rule or a label set by hand says otherwise. */
export interface RuleCounts {
  workloads: number
  overruled: number
  byHand: number
}

const CHUNK = 100

/** Count, for each rule, the workloads that it means, and those on which another rule or a label set by hand wins. */
export async function countRules(
  rules: readonly LabelRule[],
  workloads: Iterable<Workload>,
): Promise<Map<string, RuleCounts>> {
  const counts = new Map(rules.map(({ id }) => [id, { workloads: 0, overruled: 0, byHand: 0 }]))
  for await (const piece of inTurns(workloads, CHUNK)) {
    for (const { archivedAt, fingerprintKeys, handLabels } of piece) {
      if (archivedAt !== null) continue
      const { overruled } = giveLabels(rules, fingerprintKeys)
      for (const rule of rules) {
        const said = labelsOfRule(rule, fingerprintKeys)
        if (said === null) continue
        const count = counts.get(rule.id)!
        count.workloads++
        if (overruled.some(({ ruleId }) => ruleId === rule.id)) count.overruled++
        if (contradicts(handLabels, said)) count.byHand++
      }
    }
  }
  return counts
}

/** A rule as the wire shows it. */
export const toLabelRuleRecord = (
  rule: LabelRule,
  counts: RuleCounts | undefined,
  { withList }: { withList: boolean },
): LabelRuleRecord => ({
  id: rule.id,
  name: rule.name,
  priority: rule.priority,
  ...(rule.selector === null ? {} : { selector: rule.selector, labels: rule.labels }),
  ...(rule.rows === null
    ? {}
    : {
        list_key: rule.rows.key,
        list_labels: [...rule.rows.columns],
        list_count: rule.rows.labels.size,
      }),
  ...(withList && rule.list !== null ? { list: rule.list } : {}),
  workload_count: counts?.workloads ?? 0,
  overruled_count: counts?.overruled ?? 0,
  by_hand_count: counts?.byHand ?? 0,
  created_by: rule.createdBy,
  created_at: rule.createdAt.toISOString(),
  updated_by: rule.updatedBy,
  updated_at: rule.updatedAt.toISOString(),
})
