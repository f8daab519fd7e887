export const REPORT_INCLUDES = [
  'workload_summary',
  'config_history',
  'current_config',
  'config_plan',
  'drift_findings',
  'version_intelligence',
  'alerts',
  'workload_events',
  'rollback_readiness',
  'audit_verification',
] as const
export type ReportInclude = (typeof REPORT_INCLUDES)[number]

export const REPORT_FORMATS = ['markdown', 'csv', 'pdf'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** Exactly one of `workload_ids`, `group_id` and `selector`; times are RFC 3339 with a zone. */
export interface ReportScope {
  workload_ids?: string[]
  group_id?: string
  selector?: Record<string, string>
  since?: string
  until?: string
}

/** Body of both evidence-pack endpoints. All `include` false means all. */
export interface ReportExportRequest {
  schema_version?: 'report_export_request.v1'
  report_type?: 'evidence_pack'
  scope: ReportScope
  include?: Partial<Record<ReportInclude | 'signed_audit_metadata', boolean>>
  redaction?: 'strict'
}

export type FactValue = string | number | boolean | null | FactValue[] | { [key: string]: FactValue }

export interface EvidenceItem {
  id: string
  resource: string
  resource_id: string
  observed_at?: string
  severity?: string
  summary: string
  facts: Record<string, FactValue>
  content_hash?: string
  redacted: boolean
}

export interface EvidenceSection {
  id: string
  title: string
  order: number
  items: EvidenceItem[]
}

/** Answer of `POST /api/reports/evidence-pack`. */
export interface EvidencePack {
  schema_version: 'evidence_pack.v1'
  generated_at: string
  inputs_hash: string
  report_hash: string
  scope: ReportScope & { workload_count?: number; requested_scope: ReportScope | Record<string, never> }
  sections: EvidenceSection[]
  signatures?: {
    scheme: string
    key_id?: string
    signed_at: string
    payload_hash: string
    signature_b64?: string
    verifier?: string
  }[]
  signed_audit?: {
    status: string
    verifier: string
    verified_from?: string
    verified_until?: string
    head_hash?: string
    checked_at: string
    first_bad_sequence?: number
  }
  /** The end of the audit chain when the pack was made: cutting records off later shows against it. */
  audit_head?: { seq: number; hash: string }
  warnings?: { code: string; message: string }[]
}
