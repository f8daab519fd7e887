import { TRUSTED_PREFIX } from '../model/labels.ts'
import { compareVersions } from '../model/versions.ts'
import type { AuditCheck, RollbackRow, WorkloadRow } from '../store/report-material.ts'
import type { FactValue } from '../wire/reports.ts'
import { type ItemDraft, toOptionalTime } from './section-items.ts'

/** A workload, as it is `called` here, and its status. Of the labels that agents reported only the number is shown. */
export function draftWorkload(row: WorkloadRow, called: string): ItemDraft {
  const labels = Object.fromEntries(
    Object.entries(row.trustedLabels).map(([key, value]) => [`${TRUSTED_PREFIX}${key}`, value]),
  )
  return {
    id: `workload:${row.id}`,
    workloadId: row.id,
    resource: 'workload',
    resourceId: row.id,
    observedAt: row.lastSeenAt,
    summary: called,
    facts: {
      display_name: row.displayName,
      type: row.type,
      version: row.version,
      status: row.status,
      accepts_remote_config: row.acceptsRemoteConfig,
      active_config_hash: row.activeHash ?? '',
      archived_at: toOptionalTime(row.archivedAt),
      labels,
      removed_label_count: row.agentLabelCount,
    },
    hasRemoved: row.agentLabelCount > 0,
  }
}

/**
 * `unknown` where nothing was pushed or nothing is reported; else what the report says about the active config, `altered`
 * where instances run something else than what they said that they applied.
 */
function driftStatus(row: WorkloadRow): string {
  if (row.activeHash === null || row.remoteStatus === null) return 'unknown'
  if (row.remoteStatus === 'applying') return 'applying'
  const isApplied = row.remoteStatus === 'applied' && row.remoteHash === row.activeHash
  return !isApplied ? 'drifted' : row.alteredCount > 0 ? 'altered' : 'in_sync'
}

/** Whether a workload runs what it should run. */
export function draftDrift(row: WorkloadRow, called: string): ItemDraft {
  const status = driftStatus(row)
  return {
    id: `drift:${row.id}`,
    workloadId: row.id,
    resource: 'workload',
    resourceId: row.id,
    severity: status === 'drifted' || status === 'altered' ? 'warning' : null,
    summary: `${called}: ${status}`,
    facts: {
      drift_status: status,
      expected_config_hash: row.activeHash ?? '',
      effective_config_hash: row.remoteHash ?? '',
      remote_config_status: row.remoteStatus ?? 'none',
      ...(row.alteredCount === 0
        ? {}
        : { altered_instance_count: row.alteredCount, altered_since: toOptionalTime(row.alteredSince) }),
    },
  }
}

/** The version of a workload, compared with the minimum version where there is one. */
export function draftVersion(row: WorkloadRow, minAgentVersion: string, called: string): ItemDraft {
  const order =
    row.version === '' || minAgentVersion === '' ? null : compareVersions(row.version, minAgentVersion)
  const isOutdated = order === null ? null : order < 0
  return {
    id: `version:${row.id}`,
    workloadId: row.id,
    resource: 'workload',
    resourceId: row.id,
    severity: row.version === '' || isOutdated ? 'warning' : null,
    summary: `${called}: ${row.version === '' ? 'version not reported' : row.version}`,
    facts: {
      version: row.version,
      type: row.type,
      minimum_version: minAgentVersion === '' ? null : minAgentVersion,
      is_outdated: isOutdated,
    },
  }
}

/** What a workload would go back to if its next push failed. */
export function draftRollback(row: RollbackRow, workload: WorkloadRow, called: string): ItemDraft {
  const isReady = row.targetHash !== null
  const facts: Record<string, FactValue> = {
    workload_id: workload.id,
    ready: isReady,
    current_config_hash: workload.activeHash ?? '',
    quarantined_config_hashes: row.quarantinedHashes,
  }
  if (isReady) {
    facts['target_kind'] = row.targetKind
    facts['target_config_id'] = row.targetHash
    facts['target_config_hash'] = row.targetHash
    facts['content_available'] = row.isContentAvailable
  }
  return {
    id: `rollback:${workload.id}`,
    workloadId: workload.id,
    resource: isReady ? 'config' : 'workload',
    resourceId: row.targetHash ?? workload.id,
    observedAt: row.targetAppliedAt,
    severity: isReady ? null : 'warning',
    summary: `${called}: ${isReady ? 'ready to roll back' : 'no rollback target'}`,
    facts,
  }
}

/** What checking the whole audit chain found. Its head shows later whether the chain was cut off. */
export function draftAudit(check: AuditCheck): ItemDraft {
  return {
    id: 'audit_verification:chain',
    workloadId: '',
    resource: 'audit',
    resourceId: 'chain',
    severity: check.isIntact ? 'info' : 'critical',
    summary: check.isIntact
      ? `Audit chain intact up to record ${check.headSeq}`
      : `Audit chain broken at record ${check.firstBadSeq ?? 0}`,
    facts: {
      status: check.isIntact ? 'verified' : 'broken',
      verified_records: check.checkedCount,
      head_seq: check.headSeq,
      head_hash: check.headHash,
      first_bad_seq: check.firstBadSeq,
      reason: check.reason,
      scope_records_by_action: check.actionCounts,
    },
  }
}
