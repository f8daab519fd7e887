export type PolicyDecision = 'pass' | 'warn' | 'block'
export type PolicySeverity = 'info' | 'warning' | 'critical'

/** One rule that a config breaks. */
export interface PolicyFinding {
  policy_id: string
  rule_id: string
  rule_code: string
  policy_name: string
  severity: PolicySeverity
  decision: PolicyDecision
  target_scope?: string
  environment?: string
  path: string
  paths: string[]
  message: string
  remediation: string
  packaging: string
  tier: string
}

/** What the policies are judged for. */
export interface PolicyTarget {
  environment?: string
  scope?: string
  workload_id?: string
  tenant_id?: string
  team_id?: string
}

/** The rules' settings. */
export interface PolicySettings {
  allowed_otlp_endpoints?: string[]
  critical_exporters?: string[]
  required_resource_attributes?: string[]
  sampling?: { min_percentage: number; max_percentage: number }
}

/** The verdict of the config policies. Holds no draft text and no endpoint. */
export interface PolicyEvaluation {
  schema_version: 'config-policy.v1'
  valid: boolean
  allowed: boolean
  decision: PolicyDecision
  severity: PolicySeverity
  target: PolicyTarget
  settings: PolicySettings
  findings: PolicyFinding[]
  summary: { pass_count: number; warn_count: number; block_count: number }
  audit: { persisted: boolean; event: string; reason: string }
}

/** Body of `POST /api/configs/policy/preview`. */
export interface PolicyPreviewRequest {
  candidate_yaml: string
  current_yaml?: string
  target?: PolicyTarget
  settings?: PolicySettings
}
