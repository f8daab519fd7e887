import { array, boolean, defaulted, enums, type Infer, number, optional, string, type } from 'superstruct'
import { Selector } from './selectors.ts'
import { named, note, recordOf, type Sent } from './structs.ts'

export const PushActivityDay = named(
  'PushActivityDay',
  'One UTC day of push activity.',
  type({
    day: note('`YYYY-MM-DD`.', string()),
    count: number(),
  }),
)
export type PushActivityDay = Infer<typeof PushActivityDay>

export const PushGroup = named(
  'PushGroup',
  'A named selector over trusted labels and identities.',
  type({
    id: string(),
    name: string(),
    description: optional(string()),
    selector: Selector,
  }),
)
export type PushGroup = Infer<typeof PushGroup>

export const PushGroupRequest = named(
  'PushGroupRequest',
  "Body of `POST /api/push-groups` and `PUT /api/push-groups/{id}` (there the path's id counts).",
  type({
    id: defaulted(string(), ''),
    name: defaulted(string(), ''),
    description: defaulted(string(), ''),
    selector: defaulted(Selector, () => ({})),
  }),
)
export type PushGroupRequest = Sent<typeof PushGroupRequest>

export const PushPreviewBucket = named(
  'PushPreviewBucket',
  '',
  enums(['remote_config_capable', 'read_only', 'incompatible', 'offline']),
)
export type PushPreviewBucket = Infer<typeof PushPreviewBucket>

const Text = defaulted(string(), '')

export const PushPreviewRequest = named(
  'PushPreviewRequest',
  'Body of `POST /api/pushes/preview`; exactly one of `group_id` and `selector`.',
  type({
    group_id: Text,
    selector: optional(Selector),
    config_content: Text,
    yaml: Text,
    config_id: Text,
  }),
)
export type PushPreviewRequest = Sent<typeof PushPreviewRequest>

export const PushPreview = named(
  'PushPreview',
  'Whom a group or a selector reaches.',
  type({
    group_id: optional(string()),
    selector_source: enums(['trusted_labels', 'collector_labels']),
    selector: Selector,
    targeted_count: number(),
    outside_scope_count: note(
      'Selected, and outside of the scope of whoever asks; absent for none.',
      optional(number()),
    ),
    breakdown: recordOf(['remote_config_capable', 'read_only', 'incompatible', 'offline'], number()),
    targets: array(
      type({
        workload_id: string(),
        display_name: string(),
        type: string(),
        version: optional(string()),
        status: string(),
        bucket: PushPreviewBucket,
        reason: optional(string()),
        accepts_remote_config: boolean(),
        last_seen_unix: optional(number()),
      }),
    ),
  }),
)
export type PushPreview = Infer<typeof PushPreview>
