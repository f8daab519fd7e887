import { array, type Infer, number, pick, string, type } from 'superstruct'
import { named, note } from './structs.ts'
import { WorkloadRecord } from './workloads.ts'

export const NamedWorkload = named(
  'NamedWorkload',
  'What a line about a workload is made of, as in its record.',
  pick(WorkloadRecord, [
    'id',
    'display_name',
    'fingerprint_keys',
    'labels',
    'connected_instance_count',
    'trouble',
  ]),
)
export type NamedWorkload = Infer<typeof NamedWorkload>

export const FleetNames = named(
  'FleetNames',
  '`GET /api/fleet/names`: what workloads are called, for whatever names them by their ids alone.',
  type({
    workloads: note(
      'Those that were asked for, archived ones too; what is gone is left out.',
      array(NamedWorkload),
    ),
    shared_names: note(
      'Names that several workloads have: these are told apart by their namespace or host. Archived workloads do not count; at most 5,000.',
      array(string()),
    ),
    count: note('Workloads of the fleet; archived ones do not count.', number()),
  }),
)
export type FleetNames = Infer<typeof FleetNames>
