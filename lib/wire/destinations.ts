import { array, boolean, type Infer, number, optional, string, type } from 'superstruct'
import { ErrorParameters } from './revisions.ts'
import { named, note } from './structs.ts'

export const ExportDestination = named(
  'ExportDestination',
  'Where workloads send data, by the configs that they are to run or, without one, that they report.',
  type({
    address: note('Host and port; absent where the exporter names none that is known.', optional(string())),
    likely: note(
      'The workload that it likely is, by its name; absent where none is called so or it may be another.',
      optional(type({ id: string(), display_name: string(), place: optional(string()) })),
    ),
    exporter: note('The type of the exporter.', string()),
    signals: array(string()),
    workload_count: number(),
    instance_count: number(),
    failing: note(
      'That connected instances say now that they cannot send there: of how many workloads, and what the first says.',
      optional(
        type({
          workload_count: number(),
          error_cause: optional(string()),
          error_title: optional(string()),
          error_parameters: ErrorParameters,
        }),
      ),
    ),
    workloads: note(
      'The first twenty, those that cannot send before the others.',
      array(
        type({
          id: string(),
          display_name: string(),
          place: optional(string()),
          is_failing: optional(boolean()),
        }),
      ),
    ),
  }),
)
export type ExportDestination = Infer<typeof ExportDestination>
