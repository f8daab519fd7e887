import { array, boolean, defaulted, enums, type Infer, number, optional, string, type } from 'superstruct'
import { anyOf, named, note, type Sent } from './structs.ts'

export const AdoptWorkload = named(
  'AdoptWorkload',
  'A workload that nothing was ever pushed to.',
  type({
    id: string(),
    display_name: string(),
    place: note(
      'Namespace with its cluster, or host: what tells workloads of one name apart.',
      optional(string()),
    ),
  }),
)
export type AdoptWorkload = Infer<typeof AdoptWorkload>

export const AdoptGroup = named(
  'AdoptGroup',
  'Workloads that nothing was ever pushed to and that report to run the same.',
  type({
    reported_config_hash: note(
      'Absent for those whose instances run different configs, or say nothing.',
      optional(string()),
    ),
    workload_count: number(),
    instance_count: number(),
    workloads: note('The first 20.', array(AdoptWorkload)),
  }),
)
export type AdoptGroup = Infer<typeof AdoptGroup>

export const AdoptCheckRequest = named(
  'AdoptCheckRequest',
  'Body of `POST /api/adopt/check`: the source text of what a group reports to run.',
  type({ reported_config_hash: defaulted(string(), ''), content: defaulted(string(), '') }),
)
export type AdoptCheckRequest = Sent<typeof AdoptCheckRequest>

export const AdoptCheck = named(
  'AdoptCheck',
  'Whether what a group reports holds everything that a text asks for.',
  type({
    effective_matches: anyOf([boolean(), enums(['unknown'])]),
    paths: note('Where it does not; never values.', array(string())),
    workload_count: number(),
    instance_count: note('Instances that would take the text when these workloads are taken over.', number()),
  }),
)
export type AdoptCheck = Infer<typeof AdoptCheck>
