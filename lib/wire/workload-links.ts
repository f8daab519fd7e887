import { array, type Infer, optional, string, type } from 'superstruct'
import { listOf, named, note } from './structs.ts'

export const WorkloadLink = named(
  'WorkloadLink',
  'A way from a workload to another program, such as a dashboard about it.',
  type({
    name: note('1 to 40 characters on one line, each name once.', string()),
    url: note(
      'An https URL, 1,000 characters at most. Behind its host it may have `{id}`, `{name}`, `{cluster}`, ' +
        '`{environment}` and `{label:KEY}`, which are filled in encoded.',
      string(),
    ),
  }),
)
export type WorkloadLink = Infer<typeof WorkloadLink>

export const WorkloadLinksRequest = named(
  'WorkloadLinksRequest',
  'Body of `PUT /api/settings/workload-links`: all links, 10 at most, in the order in which they are shown.',
  type({ links: listOf(1_000, WorkloadLink) }),
)
export type WorkloadLinksRequest = Infer<typeof WorkloadLinksRequest>

export const WorkloadLinks = named(
  'WorkloadLinks',
  'The links that every workload has, in the order in which they are shown.',
  type({
    links: array(WorkloadLink),
    updated_at: optional(string()),
    updated_by: note('The email of who stored them.', optional(string())),
  }),
)
export type WorkloadLinks = Infer<typeof WorkloadLinks>
