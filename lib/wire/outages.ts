import { array, type Infer, number, string, type } from 'superstruct'
import { named, note } from './structs.ts'

export const Outage = named(
  'Outage',
  'Workloads that were lost within the same few minutes.',
  type({
    count: number(),
    since: note('When the first was lost of the minute in which most of them were.', string()),
    environments: note(
      'How many in which environment, most first; five at most. Empty is none that is known.',
      array(type({ name: string(), count: number() })),
    ),
    cluster: note('The cluster, where all are in one; else empty.', string()),
  }),
)
export type Outage = Infer<typeof Outage>
