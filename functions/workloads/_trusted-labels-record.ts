import { giveLabels } from '../../lib/label-rules/rules.ts'
import type { TrustedLabels } from '../../lib/wire/workloads.ts'
import type { Context } from '../../runtime/context.ts'

/**
 * The trusted labels of a workload, and where each is from; where one is read, until when the stricter rule for approvals holds
 * after they were changed.
 */
export function toTrustedLabels(
  { fleet, labelRules }: Context,
  id: string,
  stricterUntil: Date | null = null,
): TrustedLabels {
  const workload = fleet.workload(id)
  const labels = workload?.handLabels ?? {}
  const { labels: given, givers } = giveLabels(labelRules.rules, workload?.fingerprintKeys ?? {})
  const names = new Map(labelRules.rules.map((rule) => [rule.id, rule.name]))
  return {
    workload_id: id,
    labels,
    rule_labels: Object.fromEntries(
      Object.entries(given).map(([key, value]) => {
        const ruleId = givers.get(key) ?? ''
        const isOverruled = Object.hasOwn(labels, key) && labels[key] !== value
        return [
          key,
          { value, rule_id: ruleId, rule_name: names.get(ruleId) ?? '', is_overruled: isOverruled },
        ]
      }),
    ),
    ...(stricterUntil === null ? {} : { stricter_until: stricterUntil.toISOString() }),
  }
}
