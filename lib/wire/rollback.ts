import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  nullable,
  number,
  optional,
  string,
  type,
  unknown,
} from 'superstruct'
import { ErrorBody, ValidationErrorWire } from './errors.ts'
import { PolicyFinding } from './policy.ts'
import { WorstHealth } from './revisions.ts'
import { anything, dictionary, named, note, type Sent } from './structs.ts'

export const RollbackRequest = named(
  'RollbackRequest',
  'Body of both POST rollbacks; it may be absent.',
  type({
    comment: note('Why, at most 1,000 characters; the audit log keeps it.', defaulted(string(), '')),
  }),
)
export type RollbackRequest = Sent<typeof RollbackRequest>

export const RollbackAccepted = named(
  'RollbackAccepted',
  '202 of `POST /api/workloads/{id}/configs/{hash}/rollback`.',
  type({
    schema_version: literal('guided-rollback-action.v1'),
    request_id: string(),
    status: literal('accepted'),
    message: string(),
    workload_id: string(),
    target_hash: string(),
    config_hash: string(),
    push_id: string(),
    history_row: type({
      workload_id: string(),
      config_id: string(),
      applied_at: string(),
      status: literal('pending'),
      pushed_by: string(),
    }),
    status_url: string(),
    timeout_seconds: number(),
    audit: type({
      event: literal('config.rollback'),
      emitted: literal(true),
    }),
    policy_findings: note(
      'Policies do not block a rollback; what they would have said is told.',
      array(PolicyFinding),
    ),
  }),
)
export type RollbackAccepted = Infer<typeof RollbackAccepted>

export const DefaultRollbackAccepted = named(
  'DefaultRollbackAccepted',
  '202 of `POST /api/workloads/{id}/rollback`.',
  type({
    status: literal('rollback initiated'),
    config_hash: string(),
    push_id: string(),
    target_kind: enums(['last_known_good', 'previous']),
    policy_findings: array(PolicyFinding),
  }),
)
export type DefaultRollbackAccepted = Infer<typeof DefaultRollbackAccepted>

export const RollbackError = named(
  'RollbackError',
  'A refusal of the rollback family.',
  type({
    ...ErrorBody.schema,
    retryable: boolean(),
    details: optional(dictionary(unknown())),
  }),
)
export type RollbackError = Infer<typeof RollbackError>

export const RollbackConfig = named(
  'RollbackConfig',
  'One side of a rollback, with YAML.',
  type({
    hash: string(),
    content_available: boolean(),
    content: optional(string()),
    content_sha256: optional(string()),
    source: enums(['active_config', 'history']),
    metadata: type({
      known_good: boolean(),
      label: optional(string()),
      applied_at: optional(string()),
      pushed_by: optional(string()),
      previous_status: optional(string()),
      error_message: optional(string()),
      worst_health: note(
        'How it did at its worst, whenever it was pushed here; absent where no instance was seen unhealthy under it.',
        optional(WorstHealth),
      ),
    }),
  }),
)
export type RollbackConfig = Infer<typeof RollbackConfig>

export const RollbackPrepare = named(
  'RollbackPrepare',
  '`GET /api/workloads/{id}/rollback/prepare`; holds YAML.',
  type({
    schema_version: literal('guided-rollback-prepare.v1'),
    workload: dictionary(unknown()),
    target_ref: type({
      selector: enums(['hash', 'known_good']),
      source: string(),
      workload_id: string(),
      target_hash: string(),
      known_good: boolean(),
      known_good_source: string(),
    }),
    current_config: RollbackConfig,
    target_config: RollbackConfig,
    diff: type({
      direction: literal('current_to_target'),
      target_hash: string(),
      base_hash: optional(string()),
      status: enums(['available', 'empty', 'unavailable']),
      computation: string(),
      raw_diff: optional(
        type({
          format: literal('unified'),
          language: literal('yaml'),
          base_label: string(),
          target_label: string(),
          text: string(),
          truncated: boolean(),
        }),
      ),
      inputs: optional(
        type({
          current_content_available: boolean(),
          target_content_available: boolean(),
        }),
      ),
      message: optional(string()),
    }),
    validation: type({
      status: enums(['valid', 'valid_with_warnings', 'invalid']),
      valid: boolean(),
      can_confirm: boolean(),
      checked_at: string(),
      validator_version: string(),
      inputs: dictionary(unknown()),
      findings: array(
        type({
          ...ValidationErrorWire.schema,
          severity: string(),
          blocking: boolean(),
          source: string(),
        }),
      ),
      unavailable_components: array(
        type({
          category: string(),
          component_id: string(),
          component_type: string(),
          path: optional(string()),
          available: optional(array(string())),
          blocking: literal(true),
        }),
      ),
    }),
    action: type({
      can_submit: boolean(),
      submit_url: string(),
      method: literal('POST'),
      requires_confirmation: literal(true),
      confirmation_label: string(),
      blocking_reasons: array(string()),
      warnings: array(string()),
    }),
    status_context: type({
      initial_remote_config_status: optional(anything()),
      timeout_seconds: number(),
    }),
  }),
)
export type RollbackPrepare = Infer<typeof RollbackPrepare>

export const RollbackStatus = named(
  'RollbackStatus',
  '`GET /api/workloads/{id}/rollback/status`.',
  type({
    schema_version: literal('guided-rollback-status.v1'),
    request_id: string(),
    workload_id: string(),
    target_hash: string(),
    target_label: optional(string()),
    target_status: string(),
    target_applied_at: string(),
    target_submitted_at: string(),
    target_pushed_by: string(),
    request_status: literal('accepted'),
    apply_status: enums(['accepted', 'applying', 'applied', 'failed', 'unknown']),
    terminal: boolean(),
    terminal_status: optional(string()),
    started_at: string(),
    elapsed_ms: number(),
    timeout_seconds: number(),
    timed_out: boolean(),
    last_known_status: string(),
  }),
)
export type RollbackStatus = Infer<typeof RollbackStatus>

export const KnownGoodRecord = named(
  'KnownGoodRecord',
  'The pinned known-good config of a workload.',
  type({
    workload_id: string(),
    config_id: string(),
    marked_at: string(),
    marked_by: optional(string()),
    source_applied_at: optional(string()),
    replaced_config_id: optional(string()),
    replace_reason: optional(string()),
    content_available: boolean(),
  }),
)
export type KnownGoodRecord = Infer<typeof KnownGoodRecord>

export const KnownGoodRequest = named(
  'KnownGoodRequest',
  'Body of `POST …/configs/{hash}/known-good`.',
  type({
    replace_reason: defaulted(string(), ''),
    if_current_known_good: defaulted(nullable(string()), null),
    force: defaulted(boolean(), false),
  }),
)
export type KnownGoodRequest = Sent<typeof KnownGoodRequest>

export const KnownGoodMarked = named(
  'KnownGoodMarked',
  'Answer of `POST …/configs/{hash}/known-good`.',
  type({
    changed: boolean(),
    replaced_config_id: string(),
    known_good: KnownGoodRecord,
  }),
)
export type KnownGoodMarked = Infer<typeof KnownGoodMarked>
