import type { ValidationErrorWire } from './errors.ts'

export const MIGRATION_VENDORS = [
  'datadog_agent',
  'fluent_bit',
  'splunk_forwarder',
  'new_relic_infra',
] as const
export type MigrationVendor = (typeof MIGRATION_VENDORS)[number]

/** Body of `POST /api/configs/migration-assistant/preview`. */
export interface MigrationPreviewRequest {
  schema_version?: 'config_migration_preview_request.v1'
  vendor: MigrationVendor
  source: string
  source_format?: string
  labels?: Record<string, string>
  context?: {
    target_signal?: string
    target_exporter?: string
    otlp_endpoint?: string
    collector_distribution?: string
    notes?: string
  }
}

/** A vendor's config turned into a draft, with what was mapped, what was not and what was redacted. */
export interface MigrationPreview {
  schema_version: 'config_migration_preview.v1'
  vendor: MigrationVendor
  source_format: string
  draft_yaml: string
  draft_name: string
  confidence: 'low' | 'medium' | 'high'
  summary: string
  warnings: (ValidationErrorWire & { severity: string })[]
  unsupported_keys: { path: string; reason: string; suggestion?: string }[]
  evidence: { source_path: string; target_path: string; rule_id: string; explanation: string }[]
  redactions: { path: string; placeholder: string; reason: string }[]
  validation: { valid: boolean; overall_status: string; summary: string; validated_at: string }
  save_hint: {
    kind: 'draft'
    source_type: 'migration_assistant'
    tags: string[]
    category: string
    stack: string
  }
}
