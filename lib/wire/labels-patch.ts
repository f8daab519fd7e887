import { boolean, defaulted, type Infer, number, object, optional, type } from 'superstruct'
import { Selector } from './selectors.ts'
import { named, note, type Sent, texts, textsByKey } from './structs.ts'

export const LabelsPatch = named(
  'LabelsPatch',
  'Body of `PATCH /api/workloads/labels`.',
  object({
    selector: note(
      'Needed unless workloads are named; where both are given, both are meant.',
      defaulted(Selector, () => ({})),
    ),
    workload_ids: note('At most 500.', optional(texts(1_000))),
    labels: note(
      'Trusted labels, without the prefix.',
      defaulted(textsByKey(1_000), () => ({})),
    ),
    dry_run: note('Only count.', defaulted(boolean(), false)),
  }),
)
export type LabelsPatch = Sent<typeof LabelsPatch>

export const LabelsPatched = named(
  'LabelsPatched',
  'How many workloads were, or would be, changed.',
  type({ changed_count: number() }),
)
export type LabelsPatched = Infer<typeof LabelsPatched>
