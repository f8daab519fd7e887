import {
  array,
  boolean,
  enums,
  type Infer,
  literal,
  never,
  nullable,
  number,
  optional,
  partial,
  type Struct,
  string,
  type,
} from 'superstruct'
import { anyOf, dictionary, itself, named, note, recordOf, texts, textsByKey } from './structs.ts'
import { REPORT_FORMATS, REPORT_INCLUDES } from './values.ts'

export const ReportInclude = named('ReportInclude', '', enums(REPORT_INCLUDES))
export type ReportInclude = Infer<typeof ReportInclude>

export const ReportFormat = named('ReportFormat', '', enums(REPORT_FORMATS))
export type ReportFormat = Infer<typeof ReportFormat>

export const ReportScope = named(
  'ReportScope',
  'Exactly one of `workload_ids`, `group_id`, `selector` and `whole_fleet`; times are RFC 3339 with a zone.',
  type({
    workload_ids: optional(texts(25_000)),
    group_id: optional(string()),
    selector: optional(textsByKey(1_000)),
    whole_fleet: optional(boolean()),
    since: optional(string()),
    until: optional(string()),
  }),
)
export type ReportScope = Infer<typeof ReportScope>

export const ReportExportRequest = named(
  'ReportExportRequest',
  'Body of both evidence-pack endpoints. All `include` false means all.',
  type({
    schema_version: optional(literal('report_export_request.v1')),
    report_type: optional(literal('evidence_pack')),
    scope: ReportScope,
    include: optional(
      partial(
        recordOf(
          [
            'workload_summary',
            'config_history',
            'current_config',
            'config_plan',
            'campaigns',
            'drift_findings',
            'version_intelligence',
            'alerts',
            'workload_events',
            'rollback_readiness',
            'audit_verification',
            'signed_audit_metadata',
          ],
          boolean(),
        ),
      ),
    ),
    redaction: optional(literal('strict')),
  }),
)
export type ReportExportRequest = Infer<typeof ReportExportRequest>

export type FactValue = string | number | boolean | null | FactValue[] | { [key: string]: FactValue }

export const FactValue: Struct<FactValue, unknown> = named(
  'FactValue',
  '',
  nullable(
    anyOf([
      string(),
      number(),
      boolean(),
      array(itself('FactValue', () => FactValue)),
      dictionary(itself('FactValue', () => FactValue)),
    ]),
  ),
)

export const EvidenceItem = named(
  'EvidenceItem',
  '',
  type({
    id: string(),
    resource: string(),
    resource_id: string(),
    observed_at: optional(string()),
    severity: optional(string()),
    summary: string(),
    facts: dictionary(FactValue),
    content_hash: optional(string()),
    redacted: boolean(),
  }),
)
export type EvidenceItem = Infer<typeof EvidenceItem>

export const EvidenceSection = named(
  'EvidenceSection',
  '',
  type({
    id: string(),
    title: string(),
    order: number(),
    items: array(EvidenceItem),
  }),
)
export type EvidenceSection = Infer<typeof EvidenceSection>

export const EvidencePack = named(
  'EvidencePack',
  'Answer of `POST /api/reports/evidence-pack`.',
  type({
    schema_version: literal('evidence_pack.v1'),
    generated_at: string(),
    inputs_hash: string(),
    report_hash: string(),
    scope: type({
      ...ReportScope.schema,
      workload_count: optional(number()),
      requested_scope: anyOf([ReportScope, dictionary(never())]),
    }),
    sections: array(EvidenceSection),
    signatures: optional(
      array(
        type({
          scheme: string(),
          key_id: optional(string()),
          signed_at: string(),
          payload_hash: string(),
          signature_b64: optional(string()),
          verifier: optional(string()),
        }),
      ),
    ),
    signed_audit: optional(
      type({
        status: string(),
        verifier: string(),
        verified_from: optional(string()),
        verified_until: optional(string()),
        head_hash: optional(string()),
        checked_at: string(),
        first_bad_sequence: optional(number()),
      }),
    ),
    audit_head: note(
      'The end of the audit chain when the pack was made: cutting records off later shows against it.',
      optional(
        type({
          seq: number(),
          hash: string(),
        }),
      ),
    ),
    warnings: optional(
      array(
        type({
          code: string(),
          message: string(),
        }),
      ),
    ),
  }),
)
export type EvidencePack = Infer<typeof EvidencePack>
