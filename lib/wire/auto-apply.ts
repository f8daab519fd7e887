import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  number,
  object,
  optional,
  string,
  type,
} from 'superstruct'
import { ApprovalHelp, ApprovalRuleInForce, ApprovalTally } from './approvals.ts'
import { CampaignApproval } from './campaigns.ts'
import { Selector } from './selectors.ts'
import { dictionary, named, note, type Sent } from './structs.ts'
import {
  AUTO_APPLY_END_CAUSES,
  AUTO_APPLY_GATES,
  AUTO_APPLY_REASONS,
  AUTO_APPLY_STATUSES,
  AUTO_APPLY_TARGET_STATES,
} from './values.ts'

export const AutoApplyStatus = named('AutoApplyStatus', '', enums(AUTO_APPLY_STATUSES))
export type AutoApplyStatus = Infer<typeof AutoApplyStatus>

export const AutoApplyReason = named(
  'AutoApplyReason',
  'Why a version that applies by itself leaves a workload alone that is under its fleet config.',
  enums(AUTO_APPLY_REASONS),
)
export type AutoApplyReason = Infer<typeof AutoApplyReason>

export const AutoApplyTargetState = named('AutoApplyTargetState', '', enums(AUTO_APPLY_TARGET_STATES))
export type AutoApplyTargetState = Infer<typeof AutoApplyTargetState>

export const AutoApplyEndCause = named('AutoApplyEndCause', '', enums(AUTO_APPLY_END_CAUSES))
export type AutoApplyEndCause = Infer<typeof AutoApplyEndCause>

/** What is requested: a version, and for which workloads. */
const WANTED = {
  number: note('The version.', defaulted(number(), 0)),
  selector: note("The fleet config's own where it is absent.", optional(Selector)),
  priority: note("The fleet config's own where it is absent.", optional(number())),
}

export const AutoApplyPlanRequest = named(
  'AutoApplyPlanRequest',
  'Body of `POST /api/fleet-configs/{id}/auto-apply/plan`.',
  type(WANTED),
)
export type AutoApplyPlanRequest = Sent<typeof AutoApplyPlanRequest>

export const AutoApplyRequest = named(
  'AutoApplyRequest',
  'Body of `POST /api/fleet-configs/{id}/auto-apply`. `plan_hash` names the plan that was looked at.',
  object({
    ...WANTED,
    plan_hash: defaulted(string(), ''),
    comment: defaulted(string(), ''),
    prod_confirmation: defaulted(boolean(), false),
  }),
)
export type AutoApplyRequest = Sent<typeof AutoApplyRequest>

export const AutoApplyDecision = named(
  'AutoApplyDecision',
  'Body of the decisions about what applies by itself; approving needs the `plan_hash` that was looked at.',
  type({ comment: defaulted(string(), ''), plan_hash: defaulted(string(), '') }),
)
export type AutoApplyDecision = Sent<typeof AutoApplyDecision>

export const AutoApplyPlan = named(
  'AutoApplyPlan',
  'Whom a version would reach by itself, as the fleet is now. Newcomers are not known yet.',
  type({
    planned_at: string(),
    number: number(),
    version_hash: string(),
    selector: Selector,
    priority: number(),
    under_count: note('Workloads that are under the fleet config then.', number()),
    reached_count: note('Those on older versions that it would be pushed to at once.', number()),
    current_count: note('Those that run it.', number()),
    reached: note('Names of some of those that it would be pushed to.', array(string())),
    left_out: note('By reason.', dictionary(number())),
    arriving_count: note('Workloads that only come under it by this change.', number()),
    leaving_count: note('Workloads that are under it no more by this change.', number()),
    production_count: number(),
    reaches_production: note('Whether workloads of production are reached, now or as newcomers.', boolean()),
    environments: array(string()),
    clusters: array(string()),
    campaign_ids: note('Campaigns that brought the version there and are done.', array(string())),
  }),
)
export type AutoApplyPlan = Infer<typeof AutoApplyPlan>

export const PlannedAutoApply = named(
  'PlannedAutoApply',
  'A plan with its hash, which a request names.',
  type({
    plan: AutoApplyPlan,
    plan_hash: string(),
    approval_rule: note('By which it would be approved now.', optional(ApprovalRuleInForce)),
  }),
)
export type PlannedAutoApply = Infer<typeof PlannedAutoApply>

export const AutoApplyHold = named(
  'AutoApplyHold',
  'Why it stopped by itself: what was found, and what was allowed.',
  type({
    gate: enums(AUTO_APPLY_GATES),
    value: number(),
    limit: number(),
    workload_ids: note('Some of those that it is about.', array(string())),
    approvers: note(
      'Of `approver_gone`: who approved it and may not any more, by e-mail; absent in those of older versions.',
      optional(array(string())),
    ),
    cause: note('What the last of them failed of, in the words of push errors.', optional(string())),
    title: optional(string()),
  }),
)
export type AutoApplyHold = Infer<typeof AutoApplyHold>

export const AutoApplyRecord = named(
  'AutoApplyRecord',
  'A version of a fleet config for newcomers: asked for, or in force, or over.',
  type({
    id: string(),
    fleet_config_id: string(),
    status: AutoApplyStatus,
    number: number(),
    selector: Selector,
    priority: number(),
    plan: AutoApplyPlan,
    plan_hash: string(),
    reaches_production: boolean(),
    requested_by: string(),
    requested_at: string(),
    request_comment: optional(string()),
    approvals: array(CampaignApproval),
    tally: note('Only of one that waits to be approved.', optional(ApprovalTally)),
    approval_rule: note(
      'The same: by which it is approved; only to those who may request configs.',
      optional(ApprovalRuleInForce),
    ),
    help: note('The same; only to those who may request configs.', optional(ApprovalHelp)),
    active_since: note('Newcomers are those that were first seen since.', optional(string())),
    hold: optional(AutoApplyHold),
    ends_at: note(
      'Only of one that is paused or stopped by itself: when it ends, unless somebody continues it.',
      optional(string()),
    ),
    counts: note('What it pushed, by state.', dictionary(number())),
    closed_by: optional(string()),
    close_comment: optional(string()),
    end_cause: optional(AutoApplyEndCause),
    ended_at: optional(string()),
    updated_at: string(),
  }),
)
export type AutoApplyRecord = Infer<typeof AutoApplyRecord>

export const AutoApplyState = named(
  'AutoApplyState',
  'Whether a version of a fleet config applies by itself, and what was asked for.',
  type({
    in_force: note('Absent where nothing applies by itself.', optional(AutoApplyRecord)),
    request: note('What waits for approval.', optional(AutoApplyRecord)),
    ended: note(
      'The last one, where nothing applies by itself since because nobody continued it.',
      optional(AutoApplyRecord),
    ),
    looked_at: note('When it was last worked out who is left out.', optional(string())),
    left_out: note('Workloads that are left out, by reason.', dictionary(number())),
  }),
)
export type AutoApplyState = Infer<typeof AutoApplyState>

export const AutoApplyTarget = named(
  'AutoApplyTarget',
  'What was pushed by itself to one workload.',
  type({
    workload_id: string(),
    workload_name: string(),
    workload_place: optional(string()),
    is_newcomer: boolean(),
    is_production: boolean(),
    state: AutoApplyTargetState,
    base_hash: optional(string()),
    result_hash: string(),
    push_id: string(),
    rollback_push_id: note('The push by which it got its former config.', optional(string())),
    rolled_back_by: note('The campaign whose roll-back takes it back.', optional(string())),
    cause: optional(string()),
    title: optional(string()),
    started_at: string(),
    ended_at: optional(string()),
  }),
)
export type AutoApplyTarget = Infer<typeof AutoApplyTarget>

export const AutoApplyLeftOut = named(
  'AutoApplyLeftOut',
  'A workload under the fleet config that the version does not reach by itself.',
  type({
    workload_id: string(),
    workload_name: string(),
    workload_place: optional(string()),
    reason: AutoApplyReason,
    detail: note('As which variable has no value.', optional(string())),
  }),
)
export type AutoApplyLeftOut = Infer<typeof AutoApplyLeftOut>
