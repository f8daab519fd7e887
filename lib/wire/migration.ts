import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  nullable,
  optional,
  string,
  type,
} from 'superstruct'
import { ValidationErrorWire } from './errors.ts'
import { named, type Sent, textsByKey } from './structs.ts'
import { MIGRATION_VENDORS } from './values.ts'

export const MigrationVendor = named('MigrationVendor', '', enums(MIGRATION_VENDORS))
export type MigrationVendor = Infer<typeof MigrationVendor>

export const MigrationPreviewRequest = named(
  'MigrationPreviewRequest',
  'Body of `POST /api/configs/migration-assistant/preview`.',
  type({
    vendor: defaulted(string(), ''),
    source: defaulted(string(), ''),
    labels: defaulted(textsByKey(1_000), () => ({})),
    context: optional(type({ otlp_endpoint: optional(nullable(string())) })),
  }),
)
export type MigrationPreviewRequest = Sent<typeof MigrationPreviewRequest>

export const MigrationPreview = named(
  'MigrationPreview',
  "A vendor's config turned into a draft, with what was mapped, what was not and what was redacted.",
  type({
    schema_version: literal('config_migration_preview.v1'),
    vendor: MigrationVendor,
    source_format: string(),
    draft_yaml: string(),
    draft_name: string(),
    confidence: enums(['low', 'medium', 'high']),
    summary: string(),
    warnings: array(
      type({
        ...ValidationErrorWire.schema,
        severity: string(),
      }),
    ),
    unsupported_keys: array(
      type({
        path: string(),
        reason: string(),
        suggestion: optional(string()),
      }),
    ),
    evidence: array(
      type({
        source_path: string(),
        target_path: string(),
        rule_id: string(),
        explanation: string(),
      }),
    ),
    redactions: array(
      type({
        path: string(),
        placeholder: string(),
        reason: string(),
      }),
    ),
    validation: type({
      valid: boolean(),
      overall_status: string(),
      summary: string(),
      validated_at: string(),
    }),
    save_hint: type({
      kind: literal('draft'),
      source_type: literal('migration_assistant'),
      tags: array(string()),
      category: string(),
      stack: string(),
    }),
  }),
)
export type MigrationPreview = Infer<typeof MigrationPreview>
