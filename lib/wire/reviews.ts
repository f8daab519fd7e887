import { array, boolean, defaulted, enums, type Infer, optional, string, type } from 'superstruct'
import { named, note, type Sent } from './structs.ts'
import { APPROVAL_CLASSES, DISCOUNTS, REVIEW_KINDS } from './values.ts'

export const ReviewKind = named(
  'ReviewKind',
  'Glass that was broken, a rollback, a pin, labels or a label rule by which other rules hold for approvals, or a campaign that was taken back.',
  enums(REVIEW_KINDS),
)

export const ReviewRecord = named(
  'Review',
  'Something that was done without an approval. It is listed until somebody else has looked at it.',
  type({
    id: string(),
    kind: ReviewKind,
    workload_id: note('Empty where it is a label rule or a campaign.', string()),
    campaign_id: note('The campaign that was taken back.', optional(string())),
    config_hash: note('What was pushed or pinned.', optional(string())),
    push_id: optional(string()),
    approval_id: note('The request for which the glass was broken.', optional(string())),
    kept_classes: note(
      'Of labels: the classes that the workload had; of a label rule: those that newcomers would have had. Approvals follow the strictest of them and of its own.',
      optional(array(enums(APPROVAL_CLASSES))),
    ),
    kept_until: note('Of labels: until then, or until somebody else accepts them.', optional(string())),
    reason: string(),
    done_by: string(),
    author_ids: note('The accounts of whoever did it, none of which may look at it.', array(string())),
    done_at: string(),
    own: note(
      'Of an open one in a list: what a look by whoever reads this would come to: `counts`, or why it would not, in the words of the tally of approvals.',
      optional(enums(['counts', ...DISCOUNTS])),
    ),
    reviewed_by: optional(string()),
    reviewed_at: optional(string()),
    comment: optional(string()),
    accepted: note('Whether whoever looked found it in order.', optional(boolean())),
  }),
)
export type ReviewRecord = Infer<typeof ReviewRecord>

export const ReviewRequest = named(
  'ReviewRequest',
  'Body of `POST /api/reviews/{id}`. A config that was accepted counts as approved where it was pushed.',
  type({ comment: defaulted(string(), ''), accepted: boolean() }),
)
export type ReviewRequest = Sent<typeof ReviewRequest>
