import type { PolicyEvaluation } from './policy.ts'

export type RiskLevel = 'none' | 'low' | 'medium' | 'high'

/** How risky a change is, and for how many. */
export interface RiskScore {
  severity: RiskLevel
  reasons: string[]
  applies_to_count: number
}

/** An instance that a push would leave out. */
export interface PlanExcludedInstance {
  instance_uid: string
  pod_name?: string
  reason: 'read_only' | 'not_a_collector' | 'component_missing' | string
  /** Component types its build lacks. */
  missing_components?: string[]
}

/** What a push would do on one workload. */
export interface PlanTarget {
  workload_id: string
  display_name: string
  type: string
  accepts_remote_config: boolean
  read_only: boolean
  validation_status: 'ok' | 'failed'
  validation_errors?: string[]
  components_missing_count: number
  high_risk_change_count: number
  excluded: boolean
  exclusion_reasons: string[]
  hard_failures: string[]
  active_config_hash?: string
  active_config_unavailable: boolean
}

/** Answer of `POST /api/workloads/{id}/config/plan`: what would happen, without doing it. */
export interface ConfigPlan {
  schema_version: 'config_application_plan.v1'
  workload_id: string
  config_hash: string
  summary: {
    target_count: number
    collector_target_count: number
    remote_config_capable_count: number
    read_only_count: number
    validation_ok_count: number
    validation_failed_count: number
    components_missing_count: number
    high_risk_change_count: number
    excluded_count: number
    /** Live instances that would receive the config. */
    reached_instance_count?: number
    /** Live instances that would not. */
    excluded_instance_count?: number
  }
  risk_score: RiskScore
  targets: PlanTarget[]
  excluded_instances?: PlanExcludedInstance[]
  policy: PolicyEvaluation
  /** Whether the push needs the production confirmations. */
  prod_target?: boolean
  hard_failures: string[]
  can_push: boolean
  apply_allowed: boolean
  export: {
    supported: boolean
    formats: string[]
    json_endpoint: string
    markdown_endpoint: string
    persisted_rollout: string
  }
}
