import { classifyKey } from '../selectors/keys.ts'
import { type SelectableWorkload, valuesOf } from '../selectors/selector.ts'
import type { StoredValueTable, StoredVariable, StoredVersion } from '../store/fleet-configs.ts'
import type { ChosenBy } from '../store/value-authors.ts'
import type { ValueChoice } from '../wire/campaigns.ts'

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

/** A value, and what chose it. */
interface Chosen {
  value: string
  by: ValueChoice
}

/**
 * The values of a version's variables for one workload, and what chose each: its own, else the table's, else a label's.
 * Defaults are not among them; whoever renders knows those, and refuses a variable that has neither.
 */
export function chooseValues(
  variables: readonly StoredVariable[],
  sources: ValueSources,
): { values: Record<string, string>; choices: Record<string, ValueChoice> } {
  const row = tableRow(sources)
  const values: Record<string, string> = {}
  const choices: Record<string, ValueChoice> = {}
  for (const { name, label } of variables) {
    const chosen = ownChoice(sources.own, name) ?? tableChoice(row, name) ?? labelChoice(label, sources)
    if (chosen === null) continue
    values[name] = chosen.value
    choices[name] = chosen.by
  }
  return { values, choices }
}

/** The values alone. */
export const resolveValues = (
  variables: readonly StoredVariable[],
  sources: ValueSources,
): Record<string, string> => chooseValues(variables, sources).values

/** What people can set on a workload that becomes part of this version there, or chooses a part. */
export function chosenBy({
  variables,
  valueTable,
}: Pick<StoredVersion, 'variables' | 'valueTable'>): ChosenBy {
  const labels = variables.flatMap(({ label }) => label ?? [])
  if (valueTable !== null && variables.length > 0) labels.push(valueTable.label)
  const trusted = labels.map(classifyKey).filter((key) => key.class === 'trusted')
  return {
    variables: variables.map(({ name }) => name),
    labels: [...new Set(trusted.map(({ name }) => name))],
  }
}

/** The row of the table that a label chooses; null where it chooses none. */
interface Row {
  label: string
  labelValue: string
  values: Readonly<Record<string, string>>
}

function tableRow({ table, workload }: ValueSources): Row | null {
  if (table === null) return null
  const [labelValue] = valuesOf(workload, table.label)
  if (labelValue === undefined || !Object.hasOwn(table.rows, labelValue)) return null
  return { label: table.label, labelValue, values: table.rows[labelValue]! }
}

function ownChoice(own: ValueSources['own'], name: string): Chosen | null {
  return Object.hasOwn(own, name) ? { value: own[name]!, by: { kind: 'own' } } : null
}

function tableChoice(row: Row | null, name: string): Chosen | null {
  if (row === null || !Object.hasOwn(row.values, name)) return null
  const { label, labelValue: label_value } = row
  return { value: row.values[name]!, by: { kind: 'table', label, label_value } }
}

function labelChoice(label: string | null, { workload, withReported }: ValueSources): Chosen | null {
  if (label === null || (classifyKey(label).class === 'reported' && !withReported)) return null
  const [value] = valuesOf(workload, label)
  return value === undefined ? null : { value, by: { kind: 'label', label } }
}
