import type { ErrorBody, ValidationErrorWire } from './errors.ts'
import type { PolicyFinding } from './policy.ts'

/** 202 of `POST /api/workloads/{id}/configs/{hash}/rollback`. */
export interface RollbackAccepted {
  schema_version: 'guided-rollback-action.v1'
  request_id: string
  status: 'accepted'
  message: string
  workload_id: string
  target_hash: string
  config_hash: string
  push_id: string
  history_row: {
    workload_id: string
    config_id: string
    applied_at: string
    status: 'pending'
    pushed_by: string
  }
  status_url: string
  timeout_seconds: number
  audit: { event: 'config.rollback'; emitted: true }
  /** Policies do not block a rollback; what they would have said is told. */
  policy_findings: PolicyFinding[]
}

/** 202 of `POST /api/workloads/{id}/rollback`. */
export interface DefaultRollbackAccepted {
  status: 'rollback initiated'
  config_hash: string
  push_id: string
  target_kind: 'last_known_good' | 'previous'
  policy_findings: PolicyFinding[]
}

/** A refusal of the rollback family. */
export interface RollbackError extends ErrorBody {
  retryable: boolean
  details?: Record<string, unknown>
}

/** One side of a rollback, with YAML. */
export interface RollbackConfig {
  hash: string
  content_available: boolean
  content?: string
  content_sha256?: string
  source: 'active_config' | 'history'
  metadata: {
    known_good: boolean
    label?: string
    applied_at?: string
    pushed_by?: string
    previous_status?: string
    error_message?: string
  }
}

/** `GET /api/workloads/{id}/rollback/prepare`; holds YAML. */
export interface RollbackPrepare {
  schema_version: 'guided-rollback-prepare.v1'
  workload: Record<string, unknown>
  target_ref: {
    selector: 'hash' | 'known_good'
    source: string
    workload_id: string
    target_hash: string
    known_good: boolean
    known_good_source: string
  }
  current_config: RollbackConfig
  target_config: RollbackConfig
  diff: {
    direction: 'current_to_target'
    target_hash: string
    base_hash?: string
    status: 'available' | 'empty' | 'unavailable'
    computation: string
    raw_diff?: {
      format: 'unified'
      language: 'yaml'
      base_label: string
      target_label: string
      text: string
      truncated: boolean
    }
    inputs?: { current_content_available: boolean; target_content_available: boolean }
    message?: string
  }
  validation: {
    status: 'valid' | 'valid_with_warnings' | 'invalid'
    valid: boolean
    can_confirm: boolean
    checked_at: string
    validator_version: string
    inputs: Record<string, unknown>
    findings: (ValidationErrorWire & { severity: string; blocking: boolean; source: string })[]
    unavailable_components: {
      category: string
      component_id: string
      component_type: string
      path?: string
      available?: string[]
      blocking: true
    }[]
  }
  action: {
    can_submit: boolean
    submit_url: string
    method: 'POST'
    requires_confirmation: true
    confirmation_label: string
    blocking_reasons: string[]
    warnings: string[]
  }
  status_context: { initial_remote_config_status?: unknown; timeout_seconds: number }
}

/** `GET /api/workloads/{id}/rollback/status`. */
export interface RollbackStatus {
  schema_version: 'guided-rollback-status.v1'
  request_id: string
  workload_id: string
  target_hash: string
  target_label?: string
  target_status: string
  target_applied_at: string
  target_submitted_at: string
  target_pushed_by: string
  request_status: 'accepted'
  apply_status: 'accepted' | 'applying' | 'applied' | 'failed' | 'unknown'
  terminal: boolean
  terminal_status?: string
  started_at: string
  elapsed_ms: number
  timeout_seconds: number
  timed_out: boolean
  last_known_status: string
}

/** The pinned known-good config of a workload. */
export interface KnownGoodRecord {
  workload_id: string
  config_id: string
  marked_at: string
  marked_by?: string
  source_applied_at?: string
  replaced_config_id?: string
  replace_reason?: string
  content_available: boolean
}

/** Body of `POST …/configs/{hash}/known-good`. */
export interface KnownGoodRequest {
  replace_reason?: string
  if_current_known_good?: string
  force?: boolean
}

/** Answer of `POST …/configs/{hash}/known-good`. */
export interface KnownGoodMarked {
  changed: boolean
  replaced_config_id: string
  known_good: KnownGoodRecord
}
