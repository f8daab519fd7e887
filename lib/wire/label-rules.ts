import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  integer,
  number,
  optional,
  string,
  type,
} from 'superstruct'
import { Selector } from './selectors.ts'
import { dictionary, named, note, type Sent, textsByKey } from './structs.ts'

const Text = defaulted(string(), '')

const RULE = {
  name: Text,
  priority: note(
    'Where two rules say different things under one key the highest counts, then the older rule.',
    defaulted(integer(), 0),
  ),
  selector: note('By `identity/…` alone; absent for a list.', optional(Selector)),
  labels: note(
    'Trusted labels, without the prefix; what the selector means gets them.',
    optional(textsByKey(1_000)),
  ),
  list: note(
    'CSV: the first line names an identity key (`host.name`) and then labels, each other line a host and its labels.',
    optional(string()),
  ),
}
const CONFIRM = {
  confirm_lowering: note(
    'Said where workloads, those to come included, would need less of an approval by it.',
    defaulted(boolean(), false),
  ),
}

export const LabelRuleRequest = named(
  'LabelRuleRequest',
  'Body of `POST /api/label-rules` and `PUT /api/label-rules/{id}`: a selector with labels, or a list.',
  type({ ...RULE, ...CONFIRM }),
)
export type LabelRuleRequest = Sent<typeof LabelRuleRequest>

export const LabelRulePreviewRequest = named(
  'LabelRulePreviewRequest',
  'Body of `POST /api/label-rules/preview`: a rule that is new, in the place of `id`, or `id` taken away.',
  type({
    ...RULE,
    id: optional(string()),
    remove: note('What taking `id` away would do.', defaulted(boolean(), false)),
  }),
)
export type LabelRulePreviewRequest = Sent<typeof LabelRulePreviewRequest>

export const LabelRuleRecord = named(
  'LabelRuleRecord',
  'Trusted labels for all workloads of some identity, those that are to come as well.',
  type({
    id: string(),
    name: string(),
    priority: number(),
    selector: optional(Selector),
    labels: optional(dictionary(string())),
    list: note('In the single record only.', optional(string())),
    list_key: note('The identity key that the list goes by.', optional(string())),
    list_labels: note('The labels that the list gives.', optional(array(string()))),
    list_count: note('Lines of the list.', optional(number())),
    workload_count: note('Workloads that it means now.', number()),
    overruled_count: note('Of these, those where a rule that counts more says otherwise.', number()),
    by_hand_count: note('Of these, those where an operator has set something else.', number()),
    created_by: string(),
    created_at: string(),
    updated_by: string(),
    updated_at: string(),
  }),
)
export type LabelRuleRecord = Infer<typeof LabelRuleRecord>

/** The classes of `lib/model/approval-policy.ts`. */
const ApprovalClass = enums(['production', 'other', 'unlabelled'])

export const LabelRuleChange = named(
  'LabelRuleChange',
  'What a change of the rules would do to one workload.',
  type({
    workload_id: string(),
    display_name: string(),
    place: note(
      'Namespace with its cluster, or host: what tells workloads of one name apart.',
      optional(string()),
    ),
    set: note('Labels that it would have, or have with another value.', dictionary(string())),
    removed: note('Labels that it would have no more.', array(string())),
    class_before: ApprovalClass,
    class_after: ApprovalClass,
    is_lowered: note('A change there would need less of an approval than now.', boolean()),
  }),
)
export type LabelRuleChange = Infer<typeof LabelRuleChange>

export const LabelRulePreview = named(
  'LabelRulePreview',
  'What a change of the rules would do. Nothing is stored by it.',
  type({
    workload_count: note('Workloads that the rule would mean.', number()),
    changed_count: note('Workloads whose labels would be others.', number()),
    lowered_count: note('Of these, those where a change would need less of an approval.', number()),
    moved_count: note('Of these, those that would be under another fleet config, or under none.', number()),
    by_hand_count: note('Workloads that it would mean where an operator has set something else.', number()),
    absent_count: note('Lines of the list that no workload is of yet.', number()),
    lowers_newcomers: note('Workloads that come later would need less of an approval.', boolean()),
    conflicts: note(
      'Other rules that say something else of the same workloads.',
      array(
        type({
          rule_id: string(),
          rule_name: string(),
          key: string(),
          workload_count: number(),
          wins: note('Whether the rule that is looked at counts more.', boolean()),
        }),
      ),
    ),
    changes: note('The first 100, those that are lowered first.', array(LabelRuleChange)),
  }),
)
export type LabelRulePreview = Infer<typeof LabelRulePreview>
