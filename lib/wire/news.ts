import { boolean, enums, type Infer, number, optional, string, type } from 'superstruct'
import { named, note } from './structs.ts'
import { CHANGE_EVENTS } from './values.ts'

/** An event of a change that the webhook is told of. */
export type ChangeEvent = (typeof CHANGE_EVENTS)[number]

/**
 * The body of a webhook call about a change. No client sends or receives it: the schema documents it for those who run
 * the webhook.
 */
export const ChangeNewsBody = named(
  'ChangeNews',
  'Body of a call of `WEBHOOK_URL` about a change that waits for somebody, or its answer.',
  type({
    event: enums(CHANGE_EVENTS),
    at: string(),
    link: note('Where it is decided; absent without `MUSTER_PUBLIC_URL`.', optional(string())),
    change: type({
      kind: enums(['request', 'campaign', 'auto_apply']),
      id: string(),
      status: note('After what happened: a request with too few approvals is still `pending`.', string()),
      production: boolean(),
      by: note('E-mail of whoever did it.', string()),
      requested_by: optional(string()),
      reason: note('Why glass was broken, without secrets.', optional(string())),
      workload_id: note('This, its name, target and draft only of a request.', optional(string())),
      workload_name: optional(string()),
      target_group: optional(string()),
      target_env: optional(string()),
      draft_hash: optional(string()),
      name: note(
        'Of a campaign, or of the fleet config of which a version is to apply by itself.',
        optional(string()),
      ),
      version: note('Only of a version that is to apply by itself.', optional(number())),
      workload_count: note(
        'How many a campaign changes, or a version would reach at once; not of a request.',
        optional(number()),
      ),
    }),
  }),
)
export type ChangeNewsBody = Infer<typeof ChangeNewsBody>
