import type { RiskLevel, RiskScore } from './plan.ts'

export type ChangeKind = 'added' | 'removed' | 'modified' | 'moved' | 'unchanged'

/** Body of `POST /api/configs/diff`. */
export interface DiffRequest {
  base_yaml: string
  target_yaml: string
  context?: { workload_id?: string; base_label?: string; target_label?: string }
}

export interface DiffChangedField {
  path: string
  before?: unknown
  after?: unknown
  risk: RiskLevel
}

export interface DiffComponentRef {
  category: string
  id: string
  type: string
  name?: string
  path: string
}

export interface DiffComponent {
  id: string
  kind: ChangeKind
  component: DiffComponentRef
  risk: RiskLevel
  title: string
  before?: unknown
  after?: unknown
  changed_fields: DiffChangedField[]
  impacted_pipelines: string[]
  rules: string[]
}

export interface DiffPipelineShape {
  receivers: string[]
  processors: string[]
  exporters: string[]
}

export interface DiffPipeline {
  id: string
  kind: ChangeKind
  pipeline_key: string
  signal: string
  risk: RiskLevel
  before?: DiffPipelineShape
  after?: DiffPipelineShape
  component_ref_changes: {
    section: 'receivers' | 'processors' | 'exporters'
    component_id: string
    kind: ChangeKind
    from_index?: number
    to_index?: number
    risk: RiskLevel
    reason?: string
  }[]
  rules: string[]
}

export interface DiffEndpointValue {
  raw: string
  scheme?: string
  host?: string
  port?: string
  path?: string
  normalized: string
  insecure?: boolean
  tls_enabled?: boolean
}

export interface DiffEndpoint {
  id: string
  kind: ChangeKind
  component: DiffComponentRef
  endpoint_kind: string
  field_path: string
  before?: DiffEndpointValue
  after?: DiffEndpointValue
  risk: RiskLevel
  rules: string[]
}

export interface DiffSecurityItem {
  id: string
  kind: ChangeKind
  component: DiffComponentRef
  path: string
  field: string
  before?: unknown
  after?: unknown
  risk: RiskLevel
  rules: string[]
  message: string
}

export interface DiffRiskItem {
  id: string
  risk: RiskLevel
  category: 'security' | 'data_loss' | 'cost' | 'routing'
  rule: string
  title: string
  description: string
  affected_paths: string[]
  affected_pipelines: string[]
}

/** One sentence of the summary in words; never any value. */
export interface DiffSummaryLine {
  text: string
  category: 'component' | 'pipeline' | 'field' | 'unchanged'
  kind: ChangeKind
  risk: RiskLevel
  component_id?: string
  pipeline_key?: string
  signal?: string
  path?: string
}

export interface DiffBlastRadius {
  schema_version: 'otel-config-blast-radius.v1'
  affected_signals: string[]
  touched_exporters: string[]
  impacted_services: {
    service_name: string
    workload_id?: string
    display_name?: string
    type?: string
    status?: string
  }[]
  impacted_clusters: string[]
  critical_collectors: { workload_id: string; display_name?: string; status?: string; reasons: string[] }[]
}

/** Answer of `POST /api/configs/diff`; secrets are masked. */
export interface ConfigDiff {
  schema_version: 'otel-config-diff.v1'
  valid: boolean
  summary: { overall_risk: RiskLevel; counts: Record<string, number>; headline: string }
  risk_score: RiskScore
  blast_radius: DiffBlastRadius
  human_summary: DiffSummaryLine[]
  components: DiffComponent[]
  pipelines: DiffPipeline[]
  endpoints: DiffEndpoint[]
  security: DiffSecurityItem[]
  risk_items: DiffRiskItem[]
  diagnostics: { side: 'base' | 'target'; code: string; message: string; path?: string; severity: string }[]
  normalized: Record<string, string | number>
}
