import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  number,
  optional,
  string,
  type,
} from 'superstruct'
import { ComparedWith, RiskLevel } from './plan.ts'
import { PushAftermath, PushOutcome, RevisionPhase, RevisionStatus, RolloutStatus } from './revisions.ts'
import { RolloutStageRequest } from './rollouts.ts'
import { listOf, named, note, type Sent } from './structs.ts'
import {
  APPROVAL_CLASSES,
  APPROVAL_STATUSES,
  APPROVAL_STEPS,
  DISCOUNTS,
  RETIRED_BY,
  RULE_REASONS,
} from './values.ts'

export const ApprovalStatus = named('ApprovalStatus', '', enums(APPROVAL_STATUSES))
export type ApprovalStatus = Infer<typeof ApprovalStatus>

export const ApprovalStep = named(
  'ApprovalStep',
  'One thing that happened to a request.',
  type({
    at: string(),
    who: note('E-mail; absent where it is not known any more.', optional(string())),
    by_token: note('Said of a comment that an API token made in that name.', optional(boolean())),
    what: enums(APPROVAL_STEPS),
    comment: optional(string()),
  }),
)
export type ApprovalStep = Infer<typeof ApprovalStep>

export const ApprovalOutcome = named(
  'ApprovalOutcome',
  'What became of the push of a request.',
  type({
    status: RevisionStatus,
    phase: RevisionPhase,
    outcome: PushOutcome,
    rollout_status: note('Of a push in stages: how they stand.', optional(RolloutStatus)),
    target_count: number(),
    applied_count: number(),
    failed_count: number(),
    aftermath: note('Only of a push that failed.', optional(PushAftermath)),
  }),
)
export type ApprovalOutcome = Infer<typeof ApprovalOutcome>

export const GivenApproval = named(
  'GivenApproval',
  'One person’s approval of a request.',
  type({
    by: string(),
    at: string(),
    comment: string(),
    sole_approver: note('Given while nobody else could approve anything.', optional(literal(true))),
    overtaken: note(
      'Of a request that waits: something else was pushed to the workload since, so this does not count until it is given again.',
      optional(literal(true)),
    ),
  }),
)

export const ApprovalTally = named(
  'ApprovalTally',
  'How far a change is approved, by the policy as it is now. The same count decides whether it may be pushed or started.',
  type({
    given: note('Approvals that count.', number()),
    discounted: note('Approvals that were given and do not count.', number()),
    needed: number(),
    own: note(
      'What an approval by whoever reads this would come to: `counts`, or why it would not count.',
      enums(['counts', ...DISCOUNTS]),
    ),
  }),
)
export type ApprovalTally = Infer<typeof ApprovalTally>

export const ApprovalRuleInForce = named(
  'ApprovalRuleInForce',
  'The rule of the approval policy that a change of many workloads is approved by, and why that one: the strictest, point by point, of all that hold.',
  type({
    approvals: note('How many it takes.', number()),
    author_counts: note('Whether one of its authors may be among those who approve it.', boolean()),
    valid_hours: note('How old an approval may be at the start; absent for any age.', optional(number())),
    sole_approver: note(
      'Only one person may approve, so an author counts whatever the policy says.',
      optional(literal(true)),
    ),
    because: array(
      type({
        why: note(
          '`production`: workloads of it are production; `may_reach_production`: newcomers that it reaches by itself may be; `kept_production`: one of them was until its labels were changed, which nobody has confirmed; `unlabelled` and `other`: what the policy asks where no trusted label names the environment, and where one names another than production, holds for every change of many; `given_before`: an approval was given under a stricter policy.',
          enums(RULE_REASONS),
        ),
        count: note('How many workloads it is about, where that is known.', optional(number())),
        like_production: note('The policy asks as much there as in production.', optional(literal(true))),
      }),
    ),
  }),
)
export type ApprovalRuleInForce = Infer<typeof ApprovalRuleInForce>

export const ApprovalHelp = named(
  'ApprovalHelp',
  'Who keeps the approval of whoever reads this from counting, and who could approve.',
  type({
    because: note(
      'The people because of whom `own` of the tally is what it is; empty where it counts, or where no right is held.',
      array(
        type({
          who: note('E-mail; absent where the account is gone, or with `by_provider`.', optional(string())),
          account_at: note(
            'When the one of both made or last changed the account of the other; for `shaped_since_request`, when the reader’s account was changed.',
            optional(string()),
          ),
          by_provider: note(
            'It was the identity provider that made or changed the reader’s account.',
            optional(literal(true)),
          ),
          is_new: note(
            'With `by_provider`: the reader’s account came after the request, with its first sign-in.',
            optional(literal(true)),
          ),
          same_text: note(
            'They did not ask for this request, but for the same text elsewhere, or earlier.',
            optional(literal(true)),
          ),
          of_text: note(
            'They did not ask for this campaign or version, but wrote its text, or asked for that before.',
            optional(literal(true)),
          ),
          asked_at: note(
            'When they asked for the same text elsewhere, or earlier, to those who are shown that workload.',
            optional(string()),
          ),
          withdrawn: note('They took that back: it counts all the same.', optional(literal(true))),
          workload_id: note('Where, to those who are shown that workload.', optional(string())),
          approval_id: optional(string()),
        }),
      ),
    ),
    unknown_authors: note(
      'Those whom the commits name that brought its text, and nobody here is called: whoever they are, their approval would count. Those of whom nobody knows any more who named them, and where, only to whoever may request everywhere; 50 at most.',
      optional(array(string())),
    ),
    could_approve: note(
      'E-mails of those whose approval would count; the first ten. Nobody where more have to approve than could together.',
      array(string()),
    ),
    could_approve_count: note(
      'Absent where more hold the right to approve than are looked at: others may be among them.',
      optional(number()),
    ),
    do_not_count: note(
      'Where nobody could: who else may approve all that it reaches, and why that would not count, in the words of `own` of the tally (`counts`: it would, and would not be enough); the first ten.',
      optional(
        array(
          type({
            who: string(),
            why: enums(['counts', ...DISCOUNTS]),
            by: note('Whose account is the reason; absent where it is none, or gone.', optional(string())),
            asked_at: note(
              'When that author asked for the same text elsewhere, or earlier; absent where it was for this very change.',
              optional(string()),
            ),
            withdrawn: note('The author took that back: it counts all the same.', optional(literal(true))),
          }),
        ),
      ),
    ),
  }),
)
export type ApprovalHelp = Infer<typeof ApprovalHelp>

const PossibleAsker = type({ who: string(), could_approve: array(string()) })

export const ApprovalOutlook = named(
  'ApprovalOutlook',
  'What would become of a request for a draft if whoever reads this made it now: before it is made.',
  type({
    approval_class: note('Which rule of the policy would hold.', enums(APPROVAL_CLASSES)),
    approvals_needed: number(),
    author_counts: note('Whether whoever asks may be among those who approve.', boolean()),
    help: ApprovalHelp,
    could_ask: note(
      'Where nobody could approve it: who else could ask, each with whose approval would count then; the first ten.',
      optional(array(PossibleAsker)),
    ),
    could_ask_reworded: note(
      'Where nobody could ask for this very text, which keeps the authors that it has anywhere: who could ask for it in other words, the reader among them.',
      optional(array(PossibleAsker)),
    ),
  }),
)
export type ApprovalOutlook = Infer<typeof ApprovalOutlook>

export const ApprovalRetirement = named(
  'ApprovalRetirement',
  'What took the place of a request that was retired.',
  type({
    what: enums(RETIRED_BY),
    approval_id: note('The newer request that was made, approved or pushed.', optional(string())),
    push_id: note('The push that did; absent where no push did.', optional(string())),
    campaign_id: optional(string()),
    fleet_config_id: note('Of a version that applies by itself.', optional(string())),
    version: optional(number()),
    name: note('Of the campaign, or of the fleet config.', optional(string())),
  }),
)
export type ApprovalRetirement = Infer<typeof ApprovalRetirement>

export const PushedRisk = named(
  'PushedRisk',
  'How risky a change was when it was pushed, as its plan said then.',
  type({
    severity: RiskLevel,
    reasons: array(string()),
    reason_codes: optional(array(string())),
    compared_with: note('What it was judged against; of nothing the risk is not known.', ComparedWith),
  }),
)
export type PushedRisk = Infer<typeof PushedRisk>

const summary = {
  id: string(),
  workload_id: string(),
  draft_hash: note("SHA-256 hex of the draft's bytes; what an approver approves.", string()),
  base_config_hash: note(
    "The workload's active config when it was requested; absent when none was active.",
    optional(string()),
  ),
  target_group: string(),
  target_env: string(),
  requester: string(),
  request_comment: string(),
  status: ApprovalStatus,
  approver: optional(string()),
  approval_comment: optional(string()),
  approved_by: optional(string()),
  approved_at: optional(string()),
  self_approved: optional(boolean()),
  approvals: note('Everybody who has approved it, the first one first.', array(GivenApproval)),
  approval_class: note(
    'Which rule of the policy holds; only of one that waits.',
    optional(enums(APPROVAL_CLASSES)),
  ),
  approvals_needed: note('By the policy as it is now; only of a request that waits.', optional(number())),
  author_counts: note(
    'Whether whoever requested it may be among them; only of one that waits.',
    optional(boolean()),
  ),
  approvals_short: note(
    'It was approved, and is no more: an approval got too old, or its approver lost the right.',
    optional(literal(true)),
  ),
  ends_at: note(
    'When it ends by itself if nobody says anything about it until then, and not before its approvals are too old by the approval policy. Only of a request that waits.',
    optional(string()),
  ),
  tally: note('Only of a request that waits to be approved or pushed.', optional(ApprovalTally)),
  help: note('The same; only of one request that is read by itself.', optional(ApprovalHelp)),
  nobody_can_approve: note(
    'It lacks an approval, and nobody’s would count as things stand, or not enough of them: it waits for nobody. Absent also where too many hold the right to approve to look at all.',
    optional(literal(true)),
  ),
  prod_target: boolean(),
  prod_confirmation: boolean(),
  prod_double_confirmed: boolean(),
  break_glass: boolean(),
  break_glass_reason: optional(string()),
  push_comment: optional(string()),
  config_hash: optional(string()),
  push_id: optional(string()),
  pushed_at: optional(string()),
  risk: note(
    'Only of a request that was pushed; absent of those from before this was kept.',
    optional(PushedRisk),
  ),
  outcome: note('Only of a request that was pushed.', optional(ApprovalOutcome)),
  closed_by: note('Whoever rejected or withdrew it, or decided what took its place.', optional(string())),
  retired_by: note(
    'What took its place; only of one that was retired, and not of those of long ago.',
    optional(ApprovalRetirement),
  ),
  closed_at: optional(string()),
  close_comment: optional(string()),
  timeline: note('What happened to it, the first thing first.', array(ApprovalStep)),
  created_at: string(),
  updated_at: string(),
}

export const ApprovalSummary = named(
  'ApprovalSummary',
  'A request to run a draft on a workload, and what became of it, without the draft. Holds comments: only for `config:request`.',
  type(summary),
)
export type ApprovalSummary = Infer<typeof ApprovalSummary>

export const ApprovalRecord = named(
  'ApprovalRecord',
  'A request to run a draft on a workload, and what became of it. Holds YAML: only for `config:request`.',
  type({
    ...summary,
    draft_yaml: note(
      'Empty of a request that ended unapproved, once its text is not kept any more.',
      string(),
    ),
  }),
)
export type ApprovalRecord = Infer<typeof ApprovalRecord>

export const ApprovalCreateRequest = named(
  'ApprovalCreateRequest',
  'Body of `POST …/config/approvals`.',
  type({
    draft_yaml: defaulted(string(), ''),
    target_group: defaulted(string(), ''),
    target_env: defaulted(string(), ''),
    comment: defaulted(string(), ''),
    prod_confirmation: defaulted(boolean(), false),
    retry_quarantined: note(
      'That the draft is known to have failed on this workload: without it such a draft is refused with `config_quarantined`.',
      defaulted(boolean(), false),
    ),
  }),
)
export type ApprovalCreateRequest = Sent<typeof ApprovalCreateRequest>

export const ApprovalApproveRequest = named(
  'ApprovalApproveRequest',
  'Body of `POST …/approve`.',
  type({ comment: defaulted(string(), '') }),
)
export type ApprovalApproveRequest = Sent<typeof ApprovalApproveRequest>

export const ApprovalCommentRequest = named(
  'ApprovalCommentRequest',
  'Body of `POST …/reject`, `POST …/withdraw` and `POST …/comments`; only a withdrawal may do without the comment.',
  type({ comment: defaulted(string(), '') }),
)
export type ApprovalCommentRequest = Sent<typeof ApprovalCommentRequest>

export const ApprovalPushRequest = named(
  'ApprovalPushRequest',
  'Body of `POST …/push`; `stages` only with the gate `config_safety.canary_rollout`.',
  type({
    comment: defaulted(string(), ''),
    prod_double_confirmed: defaulted(boolean(), false),
    break_glass: defaulted(boolean(), false),
    break_glass_reason: defaulted(string(), ''),
    stages: optional(listOf(100, RolloutStageRequest)),
  }),
)
export type ApprovalPushRequest = Sent<typeof ApprovalPushRequest>
