import { array, type Infer, number, optional, string, type } from 'superstruct'
import { named, note } from './structs.ts'

export const ExportDestination = named(
  'ExportDestination',
  'Where workloads send data, by the configs that they are to run or, without one, that they report.',
  type({
    address: note('Host and port; absent where the exporter names none that is known.', optional(string())),
    exporter: note('The type of the exporter.', string()),
    signals: array(string()),
    workload_count: number(),
    instance_count: number(),
    workloads: note(
      'The first twenty.',
      array(type({ id: string(), display_name: string(), place: optional(string()) })),
    ),
  }),
)
export type ExportDestination = Infer<typeof ExportDestination>
