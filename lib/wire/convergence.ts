import type { PushAftermath, PushInstanceState, RevisionPhase, RevisionStatus } from './revisions.ts'

/** One instance in a push, with the times we received. */
export interface ConvergenceTarget {
  instance_uid: string
  pod_name?: string
  version?: string
  state: PushInstanceState
  /** Joined after the commit, so it does not count in the times. */
  joined_later: boolean
  offered_at?: string
  applying_at?: string
  ended_at?: string
  /** Milliseconds from the commit to its end. */
  duration_ms?: number
  error_cause?: string
  error_title?: string
  /** Redacted; only with `config:read_content`. */
  error_message?: string
}

/** What the stragglers have in common, where they have something. */
export interface ConvergenceShared {
  key: string
  value: string
  count: number
}

/**
 * `GET /api/workloads/{id}/configs/{hash}/convergence`: how far a push got. Times are milliseconds from the
 * commit by our receipt, null where that share was not reached. `targets` is one page; the next is in `Link`.
 */
export interface Convergence {
  workload_id: string
  config_hash: string
  push_id: string
  status: RevisionStatus
  phase: RevisionPhase
  started_at: string
  ended_at?: string
  target_count: number
  waiting_count: number
  applying_count: number
  applied_count: number
  failed_count: number
  no_status_count: number
  joiner_count: number
  times_ms: { p50: number | null; p90: number | null; p99: number | null; p100: number | null }
  stragglers: ConvergenceTarget[]
  stragglers_share: ConvergenceShared[]
  targets: ConvergenceTarget[]
  joiners: ConvergenceTarget[]
  /** Only of a push that failed. */
  aftermath?: PushAftermath
  /** The rollback that answered this push's failure. */
  rolled_back_by?: { push_id: string; config_hash: string; status: RevisionStatus; pushed_by: string }
}
