import { classifyKey } from '../selectors/keys.ts'
import { type SelectableWorkload, valuesOf } from '../selectors/selector.ts'
import type { StoredValueTable, StoredVariable } from '../store/fleet-configs.ts'

/** What the values of a workload come from. */
export interface ValueSources {
  /** The values that were set on the workload itself, by variable. */
  own: Readonly<Record<string, string>>
  table: StoredValueTable | null
  workload: SelectableWorkload
  /**
   * Whether labels that agents report count. They do where somebody approved what came of them, and never where a
   * version goes to production by itself.
   */
  withReported: boolean
}

/**
 * The values of a version's variables for one workload: its own, else the table's, else a label's. Defaults are not
 * among them; whoever renders knows those, and refuses a variable that has neither.
 */
export function resolveValues(
  variables: readonly StoredVariable[],
  sources: ValueSources,
): Record<string, string> {
  const row = tableRow(sources)
  const values: Record<string, string> = {}
  for (const { name, label } of variables) {
    const value = ownOf(sources.own, name) ?? ownOf(row, name) ?? labelValue(label, sources)
    if (value !== undefined) values[name] = value
  }
  return values
}

function tableRow({ table, workload }: ValueSources): Readonly<Record<string, string>> {
  if (table === null) return {}
  const [value] = valuesOf(workload, table.label)
  return value !== undefined && Object.hasOwn(table.rows, value) ? table.rows[value]! : {}
}

function labelValue(label: string | null, { workload, withReported }: ValueSources): string | undefined {
  if (label === null) return undefined
  return classifyKey(label).class === 'reported' && !withReported ? undefined : valuesOf(workload, label)[0]
}

const ownOf = (values: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined
