import type { RolloutStatus } from './rollouts.ts'

/** What a revision's status may be; never back from a later one to an earlier one. */
export const REVISION_STATUSES = ['pending', 'applied', 'failed'] as const
export type RevisionStatus = (typeof REVISION_STATUSES)[number]

/** The finer state of a push, for display. */
export const REVISION_PHASES = [
  'submitted',
  'sent',
  'applying',
  'applied',
  'failed',
  'superseded',
  'no_status',
  'aborted',
] as const
export type RevisionPhase = (typeof REVISION_PHASES)[number]

/** What one instance did with a push. */
export const PUSH_INSTANCE_STATES = ['waiting', 'sent', 'applying', 'applied', 'failed', 'no_status'] as const
export type PushInstanceState = (typeof PUSH_INSTANCE_STATES)[number]

/** How a push went on one instance. Texts are redacted, and absent without `config:read_content`. */
export interface RevisionInstanceStatus {
  instance_uid: string
  pod_name?: string
  node?: string
  /** False for one that joined after the push was committed. */
  required: boolean
  status: PushInstanceState
  config_hash?: string
  updated_at: string
  error_cause?: string
  error_title?: string
  error_message?: string
  timed_out?: boolean
}

/** One step of a push. */
export interface RevisionTimelineEntry {
  state: string
  at: string
  message?: string
  terminal: boolean
  timed_out?: boolean
}

/** Instances that failed for the same cause. */
export interface RevisionErrorGroup {
  cause: string
  title: string
  severity: 'high' | 'medium'
  count: number
  first_seen_at: string
  last_seen_at: string
  retryable: boolean
  affected_instances?: string[]
  sample_message?: string
  sample_path?: string
  config_hash?: string
}

export const PUSH_AFTERMATHS = [
  'went_back',
  'going_back',
  'rollback_failed',
  'nowhere_to_go',
  'overtaken',
] as const

/** What was done about a push that failed. */
export interface PushAftermath {
  kind: (typeof PUSH_AFTERMATHS)[number]
  /** What it went back to, and the push that did it; absent when there was nothing to go back to. */
  config_hash?: string
  push_id?: string
  pushed_by?: string
  /** Live instances that report to run the failed config still. */
  running_count: number
}

/**
 * One push of a config to a workload. Lists, records and hub frames carry counts and error groups; only the
 * single revision has `instance_statuses` (the first 200, failed first) and, with `config:read_content`,
 * `content`.
 */
export interface RevisionRecord {
  workload_id: string
  config_id: string
  config_hash: string
  push_id: string
  /** Grows per workload; the newest push is the one with the highest. */
  seq: number
  status: RevisionStatus
  phase: RevisionPhase
  /** When it was submitted; the name is the contract's. */
  applied_at: string
  submitted_at: string
  sent_at?: string
  updated_at: string
  /** E-mail of whoever pushed it, or `auto-rollback`. */
  pushed_by?: string
  label?: string
  error_message?: string
  timed_out_waiting_for_opamp_status: boolean
  opamp_status_timeout_at?: string
  timeout_message?: string
  /** The push that this rollback takes back, by an operator or by itself. */
  rollback_of_push_id?: string
  /** The hash whose failure this rollback answers. */
  failed_config_hash?: string
  approval_id?: string
  /** The staged rollout that it is, and how that stands. */
  rollout_id?: string
  rollout_status?: RolloutStatus
  target_count: number
  applied_count: number
  failed_count: number
  pending_count: number
  timed_out_count: number
  no_status_count: number
  /** Instances that were left out at commit: not compatible or read-only. */
  excluded_count?: number
  error_groups?: RevisionErrorGroup[]
  /** Only of a push that failed. */
  aftermath?: PushAftermath
  timeline?: RevisionTimelineEntry[]
  instance_statuses?: RevisionInstanceStatus[]
  content?: string
  is_current: boolean
  is_previous: boolean
  is_last_known_good: boolean
  is_failed_candidate: boolean
  content_available: boolean
}

/** Body of `POST …/configs/{hash}/label`; an empty text clears the label. */
export interface LabelRequest {
  label: string
}
