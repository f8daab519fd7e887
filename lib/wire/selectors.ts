import { enums, type Infer, object, optional, string } from 'superstruct'
import { listOf, named, note, texts, textsByKey } from './structs.ts'
import { SELECTOR_OPERATORS } from './values.ts'

export const SelectorExpression = named(
  'SelectorExpression',
  'One condition on a label.',
  object({
    key: string(),
    operator: enums(SELECTOR_OPERATORS),
    values: note('At least one for `In` and `NotIn`, none for the others.', optional(texts(1_000))),
  }),
)
export type SelectorExpression = Infer<typeof SelectorExpression>

export const Selector = named(
  'Selector',
  'Which workloads are meant: those that meet all conditions. A key `muster/…` is a label that operators set, `identity/…` (host.name, service.name, cluster, namespace, kind, name) what the workload is made of, with globs (`*`, `?`) for its values; every other key, as types, versions and capabilities, is what agents report.',
  object({
    match_labels: optional(textsByKey(1_000)),
    match_expressions: optional(listOf(200, SelectorExpression)),
    types: optional(texts(1_000)),
    versions: optional(texts(1_000)),
    capabilities: optional(texts(1_000)),
  }),
)
export type Selector = Infer<typeof Selector>
