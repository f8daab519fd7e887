import type { Db } from './db.ts'
import type { ReportPeriod, ReportSlice } from './report-data.ts'
import type { PushRow } from './report-material.ts'

interface Row {
  push_id: string
  workload_id: string
  seq: number
  config_hash: string
  kind: string
  pushed_by: string
  status: string
  phase: string
  submitted_at: Date
  applied_at: Date | null
  failed_at: Date | null
  error_cause: string | null
  error_title: string | null
  has_error_text: boolean
  approval_id: string | null
  rollback_of_push_id: string | null
  failed_hash: string | null
  label: string | null
  target_count: number
  applying_count: number
  applied_count: number
  failed_count: number
  straggler_count: number
  gone_count: number
  joined_count: number
  converged_ms: number[] | null
}

/**
 * Pushes in the slice's order, newest first within a workload, with the time until shares of their targets had
 * applied them (null where they never did). An agent's own words are not read.
 */
export async function listReportPushes(db: Db, slice: ReportSlice, period: ReportPeriod): Promise<PushRow[]> {
  const rows = await db.query<Row>(
    `select p.*, l.label, convergence.ms as converged_ms
     from unnest($1::text[]) with ordinality as scope (id, n)
     cross join lateral (
       select push_id, workload_id, seq, config_hash, kind, pushed_by, status, phase, submitted_at, applied_at,
         failed_at, error_cause, error_title, coalesce(error_text, '') <> '' as has_error_text, approval_id,
         rollback_of_push_id, failed_hash, target_count, applying_count, applied_count, failed_count,
         straggler_count, gone_count, joined_count
       from pushes
       where workload_id = scope.id and ($2::timestamptz is null or submitted_at >= $2)
         and ($3::timestamptz is null or submitted_at <= $3)
       order by seq desc limit $4) as p
     left join revision_labels l on l.workload_id = p.workload_id and l.config_hash = p.config_hash
     left join lateral (
       select percentile_disc(array[0.5, 0.9, 0.99, 1]) within group (order by
           case when t.state = 'applied' and t.ended_at is not null
             then greatest(0, extract(epoch from t.ended_at - t.offered_at) * 1000)::float8
             else 'Infinity' end) as ms
       from push_targets t where t.push_id = p.push_id and t.is_target and not t.is_joiner) as convergence on true
     order by scope.n, p.seq desc`,
    [slice.workloadIds, period.since, period.until, slice.perWorkload],
  )
  return rows.map(toPush)
}

function toPush(row: Row): PushRow {
  return {
    pushId: row.push_id,
    workloadId: row.workload_id,
    seq: row.seq,
    hash: row.config_hash,
    kind: row.kind,
    pushedBy: row.pushed_by,
    status: row.status,
    phase: row.phase,
    submittedAt: row.submitted_at.getTime(),
    appliedAt: row.applied_at?.getTime() ?? null,
    failedAt: row.failed_at?.getTime() ?? null,
    errorCause: row.error_cause,
    errorTitle: row.error_title,
    hasErrorText: row.has_error_text,
    approvalId: row.approval_id,
    rollbackOfPushId: row.rollback_of_push_id,
    failedHash: row.failed_hash,
    label: row.label,
    // A push refers to its text, so the one cannot be without the other.
    isContentAvailable: true,
    targetCount: row.target_count,
    applyingCount: row.applying_count,
    appliedCount: row.applied_count,
    failedCount: row.failed_count,
    stragglerCount: row.straggler_count,
    goneCount: row.gone_count,
    joinedCount: row.joined_count,
    convergedMs: (row.converged_ms ?? []).map((ms) => (Number.isFinite(ms) ? Math.round(ms) : null)),
  }
}
