import type { PushAftermath, RevisionErrorGroup } from './revisions.ts'

export const ROLLOUT_STATUSES = [
  'running',
  'halted',
  'succeeded',
  'promoted',
  'aborted',
  'rollback_started',
  'stopped',
  'failed',
] as const
export type RolloutStatus = (typeof ROLLOUT_STATUSES)[number]

export const ROLLOUT_GATES = ['no_failure', 'health', 'drift'] as const
export type RolloutGateName = (typeof ROLLOUT_GATES)[number]

/** One wanted stage: how many instances in all shall run the config when it is done. Exactly one of the two. */
export interface RolloutStageRequest {
  count?: number
  percentage?: number
  /** How long the gates must hold before the next stage starts. */
  dwell_seconds?: number
  gates?: RolloutGateName[]
}

/** One gate of a stage: what was measured against what is allowed. */
export interface RolloutGate {
  name: RolloutGateName
  value: number
  limit: number
  passed: boolean
}

/** One stage of a rollout. */
export interface RolloutStage {
  index: number
  count?: number
  percentage?: number
  target_count: number
  dwell_seconds: number
  status: 'waiting' | 'running' | 'dwelling' | 'done' | 'halted' | 'aborted' | 'failed'
  started_at?: string
  converged_at?: string
  ended_at?: string
  counts: { pending: number; applying: number; applied: number; failed: number }
  gates: RolloutGate[]
}

/** One member of a stage that was started. */
export interface RolloutTarget {
  instance_uid: string
  pod_name?: string
  stage: number
  status: string
  stop_reason?: string
  error_cause?: string
  error_title?: string
  /** Redacted; only with `config:read_content`. */
  error_message?: string
  updated_at: string
}

/** A staged rollout. Never any YAML. */
export interface RolloutRecord {
  id: string
  workload_id: string
  config_hash: string
  push_id: string
  approval_id?: string
  status: RolloutStatus
  stages: RolloutStage[]
  /** The stage that runs, or halted, or ended last. */
  stage_index: number
  targets: RolloutTarget[]
  counts: { pending: number; applying: number; applied: number; failed: number }
  stop_reasons?: string[]
  /** Why it halted: which gate, its value, and where. */
  halt?: {
    gate: string
    value: number
    limit: number
    stage: number
    instance_uids: string[]
    message: string
  }
  /** Why instances could not apply it, the gravest first. */
  error_groups?: RevisionErrorGroup[]
  /** What was done about it; only once its push has failed. */
  aftermath?: PushAftermath
  /** While it can be rolled back: what its members would return to; absent when there is nothing. */
  rollback_target_hash?: string
  actor?: string
  created_at: string
  updated_at: string
  promoted_at?: string
  aborted_at?: string
  rolled_back_at?: string
}
