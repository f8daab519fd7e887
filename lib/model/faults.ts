/**
 * What can be wrong with something that was sent and that has one code of refusal for many faults, each with its
 * English sentence. `{max}` stands for the field of that name. The console has both languages for each
 * (`runtime/ui/i18n/faults.ts`).
 */
export const FAULTS = {
  cells_miscounted: '{count} cells, expected {expected}',
  cells_too_many: 'more than {max} cells',
  column_not_label: 'a column is no name of a label',
  column_twice: 'a column stands there twice',
  columns_miscounted: 'the list needs 1 to {max} columns of labels',
  config_empty: '{message}',
  first_cell_empty: 'the first cell names nothing',
  first_column_unknown: 'the first column must be one of {keys}',
  labels_miscounted: 'it needs 1 to {max} labels',
  label_unreadable: 'a cell is no label',
  list_empty: 'the list needs a heading and a line',
  list_lines_too_many: 'the list has more than {max} lines',
  list_too_long: 'the list exceeds {max} characters',
  lists_too_long: 'all lists together have {max} characters at most',
  lowered_too_many: 'one change lowers the bar of {max} workloads at most',
  lowered_too_often: 'within a day {max} changes at most may lower the bar of workloads that are to come',
  name_controls: 'the name has control characters',
  name_twice: '{name} stands there twice',
  patch_empty: 'the patch changes nothing',
  patch_pipeline_ambiguous: 'a pipeline edit needs exactly one of add and remove',
  patch_too_long: 'the patch exceeds {max} characters',
  placeholder_followed: '${muster:{name} is followed by neither } nor :-',
  placeholder_nameless: 'a ${muster:…} has no name of a variable',
  placeholder_nested: 'a ${muster:…} is nested too deeply',
  placeholder_open: 'a ${muster:…} is not closed',
  priority_out_of_range: 'the priority must be within ±{max}',
  quote_misplaced: 'a quote stands where none can be',
  rendered_differently: 'the rendered text does not read as the values that were put in',
  rule_keys_too_many: 'all rules together set {max} labels at most',
  rules_too_many: 'there are {max} rules at most',
  selector_beyond_identity: 'its selector may name identity/… only',
  selector_or_list: 'it needs a selector or a list',
  table_label_unset: 'the table of values needs a label that operators set, such as muster/site',
  table_row_bad: 'the table of values has a bad row',
  table_rows_too_many: 'the table of values has more than {max} rows',
  table_variable_undeclared: 'the table of values names "{name}", which is not declared',
  tag_unfit: 'a tag does not fit the value of a variable',
  text_unstorable: 'the text holds characters that cannot be stored',
  variable_declared_twice: 'variable "{name}" is declared twice',
  variable_default_idle: 'variable "{name}" is required, so its default never counts',
  variable_description_invalid: 'variable "{name}" needs a description of one line, at most {max} characters',
  variable_in_key: 'a variable cannot stand in a key',
  variable_in_secret: 'variable "{name}" stands at {path}, where a secret belongs; {advice}',
  variable_label_unknown: 'variable "{name}": {label} is no label',
  variable_missing: 'variable "{name}" has no value',
  variable_name_invalid: 'a variable needs a name of letters, digits and underscores',
  variable_name_unfit: 'a variable needs a name of at most 64 letters, digits and underscores',
  variable_not_boolean: 'variable "{name}" must be true or false',
  variable_not_duration: 'variable "{name}" must be a duration, such as 1m30s',
  variable_not_integer: 'variable "{name}" must be a whole number, such as 4317',
  variable_not_number: 'variable "{name}" must be a number, such as 0.25',
  variable_pattern_invalid: 'variable "{name}": {message}',
  variable_pattern_missing: 'variable "{name}" takes what agents report, so it needs a pattern',
  variable_secret: 'variable "{name}" looks like it holds a secret; {advice}',
  variable_too_long: 'variable "{name}" has more than {max} characters',
  variable_undeclared: 'variable "{name}" is not declared',
  variable_unmatched: 'variable "{name}" must match {pattern}',
  variable_unprintable: 'variable "{name}" must be one line without control characters',
  variables_too_many: 'a version has at most {max} variables',
  version_nameless: 'a version needs fleet_config_id and number',
  window_days_invalid: 'days of a window are numbers from 0 (Sunday) to 6',
  window_empty: 'a window must not begin and end at the same time',
  window_times_invalid: 'windows need from and to as HH:MM',
  yaml_empty: 'yaml is empty',
  yaml_invalid: 'invalid YAML: {message}',
  yaml_too_long: 'yaml exceeds {max} characters',
} as const

/** Where a fault is, said before it. */
export const FAULT_PLACES = {
  default: 'default of ',
  line: 'line {line}: ',
  table: 'the table of values: ',
} as const

/** What is wrong. */
export type FaultCode = keyof typeof FAULTS
/** Where it is. */
export type FaultPlace = keyof typeof FAULT_PLACES

type Fields = Readonly<Record<string, string | number>>

/** One fault, as the details of a refusal: its code, the fields of its sentence, and the sentence in English. */
export type Fault = Fields & { why: FaultCode; within?: FaultPlace; reason: string }

/** A sentence with its fields in their places. */
export const fillFault = (sentence: string, fields: Readonly<Record<string, unknown>>): string =>
  sentence.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(fields, name) ? String(fields[name]) : place,
  )

/** A fault with the fields that its sentence names. */
export const faultOf = (why: FaultCode, fields: Fields = {}): Fault => ({
  ...fields,
  why,
  reason: fillFault(FAULTS[why], fields),
})

/** The same fault, at this place. */
export const faultWithin = (within: FaultPlace, fault: Fault, fields: Fields = {}): Fault => ({
  ...fault,
  ...fields,
  within,
  reason: fillFault(FAULT_PLACES[within], fields) + fault.reason,
})
