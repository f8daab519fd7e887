import { array, boolean, defaulted, type Infer, number, optional, string, type } from 'superstruct'
import { Selector } from './selectors.ts'
import { dictionary, named, note, type Sent } from './structs.ts'

export const LabelsPatch = named(
  'LabelsPatch',
  'Body of `PATCH /api/workloads/labels`.',
  type({
    selector: note(
      'Needed unless workloads are named; where both are given, both are meant.',
      defaulted(Selector, () => ({})),
    ),
    workload_ids: note('At most 500.', optional(array(string()))),
    labels: note(
      'Trusted labels, without the prefix.',
      defaulted(dictionary(string()), () => ({})),
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
