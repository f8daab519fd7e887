import type { RevisionRecord } from './revisions.ts'

export const DRIFT_STATUSES = [
  'remote_config_unsupported',
  'missing_effective_config',
  'heterogeneous_effective_config',
  'drifted',
  'pending_too_long',
  'in_sync',
] as const
export type DriftStatus = (typeof DRIFT_STATUSES)[number]

/** One workload's drift. */
export interface DriftItem {
  workload_id: string
  collector: string
  env: string
  version: string
  expected_config_hash?: string
  effective_config_hash?: string
  effective_config_hashes?: string[]
  drift_status: DriftStatus
  drift_reasons?: string[]
  last_push?: Partial<RevisionRecord>
  last_push_age_seconds?: number
  pending_too_long: boolean
  accepts_remote_config: boolean
  missing_effective_config: boolean
  unknown_incomplete_components: boolean
  group_heterogeneous_config: boolean
  has_config_drift_alert: boolean
  has_version_outdated_alert: boolean
  actions: Record<string, { enabled: boolean; reason: string }>
}

/** `GET /api/config-safety/drift`. */
export interface DriftOverview {
  generated_at: string
  summary: {
    total_collectors: number
    drifted_collectors: number
    pending_too_long: number
    missing_effective_config: number
    remote_config_unsupported: number
    outdated_versions: number
    unknown_incomplete_components: number
    heterogeneous_groups: number
  }
  items: DriftItem[]
}
