import { boolean, enums, type Infer, number, optional, string, type } from 'superstruct'
import { named, note } from './structs.ts'
import { CHANGE_EVENTS } from './values.ts'

export type ChangeEvent = (typeof CHANGE_EVENTS)[number]

/** What the webhook is called with. No client sends or is answered this: it is written down for whoever receives it. */
export const ChangeNewsBody = named(
  'ChangeNews',
  'Body of a call of `WEBHOOK_URL` about a change that waits for somebody, or its answer.',
  type({
    event: enums(CHANGE_EVENTS),
    at: string(),
    link: note('Where it is decided; absent without `MUSTER_PUBLIC_URL`.', optional(string())),
    change: type({
      kind: enums(['request', 'campaign']),
      id: string(),
      status: note('After what happened: a request with too few approvals is still `pending`.', string()),
      production: boolean(),
      by: note('E-mail of whoever did it.', string()),
      requested_by: optional(string()),
      reason: note('Why glass was broken, without secrets.', optional(string())),
      workload_id: note('This and what follows only of a request.', optional(string())),
      workload_name: optional(string()),
      target_group: optional(string()),
      target_env: optional(string()),
      draft_hash: optional(string()),
      name: note('This and what follows only of a campaign.', optional(string())),
      workload_count: optional(number()),
    }),
  }),
)
export type ChangeNewsBody = Infer<typeof ChangeNewsBody>
