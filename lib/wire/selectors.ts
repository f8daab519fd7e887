import { array, enums, type Infer, optional, string, type } from 'superstruct'
import { dictionary, named, note } from './structs.ts'
import { SELECTOR_OPERATORS } from './values.ts'

export const SelectorExpression = named(
  'SelectorExpression',
  'One condition on a label.',
  type({
    key: string(),
    operator: enums(SELECTOR_OPERATORS),
    values: note('At least one for `In` and `NotIn`, none for the others.', optional(array(string()))),
  }),
)
export type SelectorExpression = Infer<typeof SelectorExpression>

export const Selector = named(
  'Selector',
  'Which workloads are meant: those that meet all conditions. A key `muster/…` is a label that operators set, `identity/…` (host.name, service.name, cluster, namespace, kind, name) what the workload is made of, with globs (`*`, `?`) for its values; every other key, as types, versions and capabilities, is what agents report.',
  type({
    match_labels: optional(dictionary(string())),
    match_expressions: optional(array(SelectorExpression)),
    types: optional(array(string())),
    versions: optional(array(string())),
    capabilities: optional(array(string())),
  }),
)
export type Selector = Infer<typeof Selector>
