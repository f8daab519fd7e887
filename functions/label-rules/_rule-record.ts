import { countRules, toLabelRuleRecord } from '../../lib/label-rules/records.ts'
import type { LabelRuleRecord } from '../../lib/wire/label-rules.ts'
import type { Context } from '../../runtime/context.ts'

/** A rule in force with its list, as the wire shows it; null when there is none of this id. */
export async function findRuleRecord(ctx: Context, id: string): Promise<LabelRuleRecord | null> {
  const { rules } = ctx.labelRules
  const rule = rules.find((one) => one.id === id)
  if (rule === undefined) return null
  const counts = await countRules(rules, ctx.fleet.state.workloads.values())
  return toLabelRuleRecord(rule, counts.get(id), { withList: true })
}
