import { array, boolean, enums, type Infer, pick, type } from 'superstruct'
import { named, note } from './structs.ts'
import { WorkloadRecord } from './workloads.ts'

/** Which workloads are searched: those that take configs, or those that were ever pushed to. */
export const SearchedOnly = enums(['takes_configs', 'pushed'])
export type SearchedOnly = Infer<typeof SearchedOnly>

export const FoundWorkload = named(
  'FoundWorkload',
  'A workload that a search found, with what a line about it and its actions are made of, as in its record.',
  pick(WorkloadRecord, [
    'id',
    'display_name',
    'fingerprint_keys',
    'labels',
    'type',
    'accepts_remote_config',
    'current_config_push',
    'connected_instance_count',
    'trouble',
  ]),
)
export type FoundWorkload = Infer<typeof FoundWorkload>

export const FoundWorkloads = named(
  'FoundWorkloads',
  '`GET /api/fleet/search`: the first workloads by name that a search finds; archived ones are not searched.',
  type({
    workloads: array(FoundWorkload),
    has_more: note('Whether it finds more than these.', boolean()),
  }),
)
export type FoundWorkloads = Infer<typeof FoundWorkloads>
