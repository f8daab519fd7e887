import { judgeOutcome } from '../model/push-outcome.ts'
import type { AlertRow, EventRow, PlanRow, PushRow } from '../store/report-material.ts'
import type { FactValue } from '../wire/reports.ts'
import { type ItemDraft, removedText, toOptionalTime, toTime, userRef } from './section-items.ts'

const SHORT_HASH = 12

/** The facts that config history and current config share: a push and how far it got. */
function pushFacts(row: PushRow): Record<string, FactValue> {
  const outcome = outcomeBesides(row)
  const [p50, p90, p99, p100] = row.convergedMs
  return {
    workload_id: row.workloadId,
    config_id: row.hash,
    push_id: row.pushId,
    kind: row.kind,
    status: row.status,
    phase: row.phase,
    ...(outcome === null ? {} : { outcome }),
    pushed_by: row.pushedBy,
    label: row.label,
    submitted_at: toTime(row.submittedAt),
    applied_at: toOptionalTime(row.appliedAt),
    failed_at: toOptionalTime(row.failedAt),
    target_count: row.targetCount,
    applying_count: row.applyingCount,
    applied_count: row.appliedCount,
    failed_count: row.failedCount,
    no_status_count: row.stragglerCount,
    gone_count: row.goneCount,
    joined_count: row.joinedCount,
    converged_50_ms: p50 ?? null,
    converged_90_ms: p90 ?? null,
    converged_99_ms: p99 ?? null,
    converged_100_ms: p100 ?? null,
    approval_id: row.approvalId,
    rollback_of_push_id: row.rollbackOfPushId,
    failed_config_hash: row.failedHash,
    content_available: row.isContentAvailable,
    error_cause: row.errorCause,
    error_title: row.errorTitle,
    error_message: removedText(row.hasErrorText),
  }
}

/** What became of it where that is not what its status says: applied on a part of its targets, or given up. */
function outcomeBesides({ kind, status, phase, appliedCount, failedCount, stragglerCount }: PushRow) {
  const counts = { applied: appliedCount, failed: failedCount, straggler: stragglerCount }
  const outcome = judgeOutcome({ kind, status, phase, counts })
  return outcome === 'in_part' || outcome === 'aborted' ? outcome : null
}

function pushSummary(row: PushRow, workload: string): string {
  const { appliedCount, targetCount } = row
  const outcome = outcomeBesides(row)
  const state =
    outcome === 'in_part'
      ? `applied on ${appliedCount} of ${targetCount} instances`
      : outcome === 'aborted'
        ? `aborted with ${appliedCount} instances that keep it`
        : row.status
  return `${workload}: config ${row.hash.slice(0, SHORT_HASH)} ${state}${row.label === null ? '' : ` (${row.label})`}`
}

/** One push in a workload's history, with how it converged. `workload` is the workload's name. */
export function draftPush(row: PushRow, workload: string): ItemDraft {
  return {
    id: `config:${row.workloadId}:${row.hash}:${row.pushId}`,
    workloadId: row.workloadId,
    resource: 'config',
    resourceId: row.hash,
    observedAt: row.appliedAt ?? row.failedAt ?? row.submittedAt,
    severity: row.status,
    summary: pushSummary(row, workload),
    facts: pushFacts(row),
    contentHash: row.isContentAvailable ? row.hash : null,
  }
}

/** The newest push of a workload, whatever became of it. */
export function draftCurrentConfig(row: PushRow, workload: string): ItemDraft {
  const { workload_id, config_id, push_id, status, phase, ...more } = pushFacts(row)
  const facts = { workload_id: workload_id!, config_id: config_id!, config_hash: row.hash, push_id: push_id! }
  return {
    ...draftPush(row, workload),
    id: `current_config:${row.workloadId}:${row.hash}:${row.pushId}`,
    facts: { ...facts, status, phase, ...more },
  }
}

/** A change that was planned: who asked for it, who allowed it, and which components it adds and removes. */
export function draftPlan(row: PlanRow, workload: string): ItemDraft {
  return {
    id: `config_plan:${row.id}`,
    workloadId: row.workloadId,
    resource: 'config_plan',
    resourceId: row.id,
    observedAt: row.createdAt,
    severity: row.isBreakGlass ? 'warning' : null,
    summary: `${workload}: config ${row.draftHash.slice(0, SHORT_HASH)} ${row.status}${row.isBreakGlass ? ' by break-glass' : ''}`,
    facts: {
      workload_id: row.workloadId,
      status: row.status,
      draft_config_hash: row.draftHash,
      base_config_hash: row.baseHash,
      added_components: row.addedComponents,
      removed_components: row.removedComponents,
      target_group: row.targetGroup,
      target_env: row.targetEnv,
      is_production: row.isProduction,
      requested_by: userRef(row.requesterId),
      requested_at: toTime(row.createdAt),
      request_comment: row.requestComment,
      approved_by: userRef(row.approverId),
      approved_at: toOptionalTime(row.approvedAt),
      approval_comment: row.approvalComment,
      self_approved: row.approverId === null ? null : row.approverId === row.requesterId,
      pushed_at: toOptionalTime(row.pushedAt),
      push_comment: row.pushComment,
      push_id: row.pushId,
      break_glass: row.isBreakGlass,
      break_glass_reason: row.breakGlassReason,
    },
    contentHash: row.draftHash,
    // The e-mail addresses of requester and approver are left out.
    hasRemoved: true,
  }
}

/** An alert that fired in the period. */
export function draftAlert(row: AlertRow): ItemDraft {
  return {
    id: `alert:${row.id}`,
    workloadId: row.workloadId,
    resource: 'alert',
    resourceId: row.id,
    observedAt: row.firedAt,
    severity: row.severity,
    summary: row.message,
    facts: {
      workload_id: row.workloadId,
      rule: row.rule,
      resolved: row.resolvedAt !== null,
      resolved_at: toOptionalTime(row.resolvedAt),
    },
  }
}

/** An entry of a workload's lifecycle log. */
export function draftEvent(row: EventRow): ItemDraft {
  return {
    id: `event:${row.id}`,
    workloadId: row.workloadId,
    resource: 'event',
    resourceId: String(row.id),
    observedAt: row.occurredAt,
    summary: row.eventType,
    facts: {
      workload_id: row.workloadId,
      instance_uid: row.instanceUid,
      pod_name: row.podName,
      version: row.version,
      prev_version: row.prevVersion,
    },
  }
}
