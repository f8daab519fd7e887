import { array, boolean, defaulted, enums, type Infer, optional, string, type } from 'superstruct'
import { RolloutStageRequest } from './rollouts.ts'
import { named, note, type Sent } from './structs.ts'
import { APPROVAL_STATUSES } from './values.ts'

export const ApprovalStatus = named('ApprovalStatus', '', enums(APPROVAL_STATUSES))
export type ApprovalStatus = Infer<typeof ApprovalStatus>

export const ApprovalRecord = named(
  'ApprovalRecord',
  'A request to run a draft on a workload, and what became of it. Holds YAML: only for `workload:push_config`.',
  type({
    id: string(),
    workload_id: string(),
    draft_yaml: string(),
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
    prod_target: boolean(),
    prod_confirmation: boolean(),
    prod_double_confirmed: boolean(),
    break_glass: boolean(),
    break_glass_reason: optional(string()),
    push_comment: optional(string()),
    config_hash: optional(string()),
    push_id: optional(string()),
    pushed_at: optional(string()),
    created_at: string(),
    updated_at: string(),
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
  }),
)
export type ApprovalCreateRequest = Sent<typeof ApprovalCreateRequest>

export const ApprovalApproveRequest = named(
  'ApprovalApproveRequest',
  'Body of `POST …/approve`.',
  type({ comment: defaulted(string(), '') }),
)
export type ApprovalApproveRequest = Sent<typeof ApprovalApproveRequest>

export const ApprovalPushRequest = named(
  'ApprovalPushRequest',
  'Body of `POST …/push`; `stages` only with the gate `config_safety.canary_rollout`.',
  type({
    comment: defaulted(string(), ''),
    prod_double_confirmed: defaulted(boolean(), false),
    break_glass: defaulted(boolean(), false),
    break_glass_reason: defaulted(string(), ''),
    stages: optional(array(RolloutStageRequest)),
  }),
)
export type ApprovalPushRequest = Sent<typeof ApprovalPushRequest>
