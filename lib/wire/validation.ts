import type { ValidationErrorWire } from './errors.ts'

export const VALIDATION_CHECK_IDS = [
  'yaml_static',
  'collector_structure',
  'component_availability',
  'collector_version_compatibility',
  'otelcol_runtime',
] as const
export type ValidationCheckId = (typeof VALIDATION_CHECK_IDS)[number]

/** One message of a check. */
export interface ValidationMessage {
  code: string
  severity: 'info' | 'warning' | 'error'
  message: string
  path?: string
  check_id?: ValidationCheckId
  /** Line of the text it is about, from 1, where it is known. */
  line?: number
}

/** One of the five checks. */
export interface ValidationCheck {
  id: ValidationCheckId
  label: string
  source: string
  status: 'passed' | 'warning' | 'failed' | 'skipped'
  required: boolean
  messages?: ValidationMessage[]
  metadata?: Record<string, unknown>
}

/** Answer of `POST /api/workloads/{id}/config/validate`. */
export interface ValidationResult {
  valid: boolean
  overall_status: 'passed' | 'warning' | 'failed'
  summary: string
  target_collector_version?: string
  validated_at: string
  errors: (ValidationErrorWire & { line?: number })[]
  warnings: (ValidationErrorWire & { severity: 'warning'; line?: number })[]
  checks: ValidationCheck[]
}
