import { array, boolean, type Infer, literal, number, optional, string, type } from 'superstruct'
import { named, note } from './structs.ts'

export const ApprovalRuleRecord = named(
  'ApprovalRule',
  'What an approval takes.',
  type({
    approvals: note('1 or 2.', number()),
    author_counts: note(
      'Whether whoever requested or wrote the text may be among those who approve it.',
      boolean(),
    ),
    valid_hours: note('How old an approval may be at the push; absent for any age.', optional(number())),
  }),
)
export type ApprovalRuleRecord = Infer<typeof ApprovalRuleRecord>

const CLASSES = {
  production: note('Where anybody’s word says production.', ApprovalRuleRecord),
  other: note('Where a trusted label names another environment.', ApprovalRuleRecord),
  unlabelled: note('Where no trusted label names an environment.', ApprovalRuleRecord),
}

export const ApprovalPolicyRequest = named(
  'ApprovalPolicyRequest',
  'Body of `PUT /api/approval-policy`. The policy that waits, asked for by a second person, counts at once.',
  type(CLASSES),
)
export type ApprovalPolicyRequest = Infer<typeof ApprovalPolicyRequest>

export const PendingApprovalPolicy = named(
  'PendingApprovalPolicy',
  'A policy that asks less and waits for a second person, or for its time.',
  type({
    ...CLASSES,
    by: string(),
    by_id: string(),
    asked_at: string(),
    effective_at: string(),
    needs_another: note(
      'True where somebody else than the reader has to confirm it, for the accounts of the two are tied; absent otherwise.',
      optional(literal(true)),
    ),
  }),
)

export const ApprovalPolicyRecord = named(
  'ApprovalPolicy',
  '`GET /api/approval-policy`.',
  type({
    ...CLASSES,
    sole_approver: note('Whether one person only may approve, so that the author counts.', boolean()),
    sole_approver_ends_with: note(
      'The groups whose next member may approve as well, which ends for good that the author counts; absent where nobody is alone.',
      optional(array(string())),
    ),
    lacks_second_person: note(
      'True where nobody counts for what somebody else asks for, because everybody who may approve made or changed the accounts of the others, or is alone again.',
      optional(boolean()),
    ),
    pending: optional(PendingApprovalPolicy),
    unreadable: note(
      'Where the stored policy is wrong, which cannot be read: until one is stored anew, the strictest is in force. Absent where it can be read.',
      optional(string()),
    ),
  }),
)
export type ApprovalPolicyRecord = Infer<typeof ApprovalPolicyRecord>
