export type VersionStanding =
  | 'not_applicable'
  | 'unknown'
  | 'below_recommended'
  | 'at_recommended'
  | 'above_recommended'

export interface BlockingReason {
  code: string
  message: string
}

export interface UnsupportedComponent {
  workload_id: string
  display_name: string
  config_hash: string
  category: string
  component_type: string
  path: string
  available_hash?: string
  available_types?: string[]
}

export interface CompatibilityRow {
  workload_id: string
  display_name: string
  group: string
  status: string
  version: { reported: string; status: VersionStanding; comparable: boolean; reason?: string }
  available_components: { hash?: string; categories: string[]; component_types: Record<string, string[]> }
  required_components: { category: string; component_type: string; path: string }[]
  config: { hash?: string; source: 'active_or_applied' | 'none' }
  known_issues: { code: string; severity: string; affected_version: string; message: string }[]
  opamp: { accepts_remote_config: boolean; remote_config_status?: string; config_hash?: string }
  runnable: boolean
  blocking_reasons: BlockingReason[]
}

/** `GET /api/workloads/version-intelligence`: the fleet against a recommended version. */
export interface VersionIntelligence {
  schema_version: 'fleet-version-intelligence.v1'
  recommended_version: string
  version_matrix: {
    group: string
    type: string
    status: string
    version: string
    version_status: VersionStanding
    count: number
    workload_ids: string[]
  }[]
  compatibility_summary: {
    total_collectors: number
    runnable_count: number
    not_runnable_count: number
    not_runnable_collectors: {
      workload_id: string
      display_name: string
      blocking_reasons: BlockingReason[]
    }[]
  }
  compatibility_matrix: CompatibilityRow[]
  collectors_below_recommended: {
    workload_id: string
    display_name: string
    group: string
    version: string
    recommended_version: string
  }[]
  unsupported_config_components: UnsupportedComponent[]
  invalid_versions: {
    workload_id: string
    display_name: string
    version: string
    reason: 'empty_version' | 'invalid_semver'
  }[]
  recommendations: {
    action: 'upgrade_collector' | 'choose_older_config' | 'remove_component'
    reason: string
    workload_id?: string
    config_hash?: string
    components?: string[]
  }[]
}
