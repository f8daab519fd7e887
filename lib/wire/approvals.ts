import type { RolloutStageRequest } from './rollouts.ts'

export const APPROVAL_STATUSES = ['pending', 'approved', 'pushed'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

/** A request to run a draft on a workload, and what became of it. Holds YAML: only for `workload:push_config`. */
export interface ApprovalRecord {
  id: string
  workload_id: string
  draft_yaml: string
  /** SHA-256 hex of the draft's bytes; what an approver approves. */
  draft_hash: string
  /** The workload's active config when it was requested; absent when none was active. */
  base_config_hash?: string
  target_group: string
  target_env: string
  requester: string
  request_comment: string
  status: ApprovalStatus
  approver?: string
  approval_comment?: string
  approved_by?: string
  approved_at?: string
  self_approved?: boolean
  prod_target: boolean
  prod_confirmation: boolean
  prod_double_confirmed: boolean
  break_glass: boolean
  break_glass_reason?: string
  push_comment?: string
  config_hash?: string
  push_id?: string
  pushed_at?: string
  created_at: string
  updated_at: string
}

/** Body of `POST …/config/approvals`. */
export interface ApprovalCreateRequest {
  draft_yaml: string
  target_group?: string
  target_env?: string
  comment?: string
  prod_confirmation?: boolean
}

/** Body of `POST …/approve`. */
export interface ApprovalApproveRequest {
  comment: string
}

/** Body of `POST …/push`; `stages` only with the gate `config_safety.canary_rollout`. */
export interface ApprovalPushRequest {
  comment?: string
  prod_double_confirmed?: boolean
  break_glass?: boolean
  break_glass_reason?: string
  stages?: RolloutStageRequest[]
}
