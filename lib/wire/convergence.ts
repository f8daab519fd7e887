import { array, boolean, type Infer, nullable, number, optional, string, type } from 'superstruct'
import {
  ErrorParameters,
  PushAftermath,
  PushInstanceState,
  RevisionPhase,
  RevisionStatus,
} from './revisions.ts'
import { named, note } from './structs.ts'

export const ConvergenceTarget = named(
  'ConvergenceTarget',
  'One instance in a push, with the times we received.',
  type({
    instance_uid: string(),
    pod_name: optional(string()),
    version: optional(string()),
    state: PushInstanceState,
    joined_later: note('Joined after the commit, so it does not count in the times.', boolean()),
    offered_at: optional(string()),
    applying_at: optional(string()),
    ended_at: optional(string()),
    duration_ms: note(
      'Milliseconds from the commit, or from the start of its stage, to its end.',
      optional(number()),
    ),
    error_cause: optional(string()),
    error_title: optional(string()),
    error_parameters: ErrorParameters,
    error_message: note('Redacted; only with `config:read_content`.', optional(string())),
  }),
)
export type ConvergenceTarget = Infer<typeof ConvergenceTarget>

export const ConvergenceShared = named(
  'ConvergenceShared',
  'What the stragglers have in common, where they have something.',
  type({
    key: string(),
    value: string(),
    count: number(),
  }),
)
export type ConvergenceShared = Infer<typeof ConvergenceShared>

export const Convergence = named(
  'Convergence',
  '`GET /api/workloads/{id}/configs/{hash}/convergence`: how far a push got. Times are milliseconds from the commit, of a push in stages from the start of each instance’s own stage, by our receipt, null where that share was not reached. `targets` is one page; the next is in `Link`.',
  type({
    workload_id: string(),
    config_hash: string(),
    push_id: string(),
    status: RevisionStatus,
    phase: RevisionPhase,
    started_at: string(),
    ended_at: optional(string()),
    target_count: number(),
    waiting_count: number(),
    applying_count: number(),
    applied_count: number(),
    failed_count: number(),
    no_status_count: number(),
    joiner_count: number(),
    times_ms: type({
      p50: nullable(number()),
      p90: nullable(number()),
      p99: nullable(number()),
      p100: nullable(number()),
    }),
    stragglers: array(ConvergenceTarget),
    stragglers_share: array(ConvergenceShared),
    targets: array(ConvergenceTarget),
    joiners: array(ConvergenceTarget),
    aftermath: note(
      'Only of a push that failed, and of the automatic rollback that took one back.',
      optional(PushAftermath),
    ),
    rolled_back_by: note(
      "The rollback that answered this push's failure.",
      optional(
        type({
          push_id: string(),
          config_hash: string(),
          status: RevisionStatus,
          pushed_by: string(),
        }),
      ),
    ),
  }),
)
export type Convergence = Infer<typeof Convergence>
