import {
  array,
  boolean,
  enums,
  type Infer,
  literal,
  number,
  optional,
  string,
  type,
  unknown,
} from 'superstruct'
import { ValidationErrorWire } from './errors.ts'
import { dictionary, named, note } from './structs.ts'
import { VALIDATION_CHECK_IDS } from './values.ts'

export const ValidationCheckId = named('ValidationCheckId', '', enums(VALIDATION_CHECK_IDS))
export type ValidationCheckId = Infer<typeof ValidationCheckId>

export const ValidationMessage = named(
  'ValidationMessage',
  'One message of a check.',
  type({
    code: string(),
    severity: enums(['info', 'warning', 'error']),
    message: string(),
    path: optional(string()),
    check_id: optional(ValidationCheckId),
    line: note('Line of the text it is about, from 1, where it is known.', optional(number())),
  }),
)
export type ValidationMessage = Infer<typeof ValidationMessage>

export const ValidationCheck = named(
  'ValidationCheck',
  'One of the five checks.',
  type({
    id: ValidationCheckId,
    label: string(),
    source: string(),
    status: enums(['passed', 'warning', 'failed', 'skipped']),
    required: boolean(),
    messages: optional(array(ValidationMessage)),
    metadata: optional(dictionary(unknown())),
  }),
)
export type ValidationCheck = Infer<typeof ValidationCheck>

export const ValidationResult = named(
  'ValidationResult',
  'Answer of `POST /api/workloads/{id}/config/validate`.',
  type({
    valid: boolean(),
    overall_status: enums(['passed', 'warning', 'failed']),
    summary: string(),
    target_collector_version: optional(string()),
    validated_at: string(),
    errors: array(
      type({
        ...ValidationErrorWire.schema,
        line: optional(number()),
      }),
    ),
    warnings: array(
      type({
        ...ValidationErrorWire.schema,
        severity: literal('warning'),
        line: optional(number()),
      }),
    ),
    checks: array(ValidationCheck),
  }),
)
export type ValidationResult = Infer<typeof ValidationResult>
