import type { ValidationCheck, ValidationCheckId, ValidationMessage } from '../../wire/validation.ts'

/** Which of the five checks. */
export type CheckId = ValidationCheckId

/** One finding of one check; it always says which. */
export type CheckMessage = ValidationMessage & { check_id: CheckId }

/** One of the five checks, with all its messages. */
export type Check = ValidationCheck & { messages: CheckMessage[] }

const FACTS: Readonly<Record<CheckId, { label: string; source: string; required: boolean }>> = {
  yaml_static: { label: 'YAML syntax', source: 'server.static_yaml', required: true },
  collector_structure: { label: 'Collector structure', source: 'server.structure', required: true },
  component_availability: {
    label: 'Components available on workload',
    source: 'workload.available_components',
    required: true,
  },
  collector_version_compatibility: {
    label: 'Collector version compatibility',
    source: 'server.target_version_policy',
    required: false,
  },
  otelcol_runtime: { label: 'Collector runtime validation', source: 'otelcol.binary', required: false },
}

/** A check with its fixed label and source. Any error makes it failed, else any warning makes it a warning. */
export function buildCheck(
  id: CheckId,
  messages: readonly Omit<CheckMessage, 'check_id'>[],
  metadata: Record<string, unknown> = {},
  status: Check['status'] = statusOf(messages),
): Check {
  return {
    id,
    label: FACTS[id].label,
    source: FACTS[id].source,
    status,
    required: FACTS[id].required,
    messages: messages.map((message) => ({ ...message, check_id: id })),
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  }
}

/** A check that was not run because another failed. */
export function skippedCheck(id: CheckId, failed: string): Check {
  const message = `Skipped because the check "${failed}" failed.`
  const finding = { code: 'depends_on_failed_check', severity: 'info', message } as const
  return buildCheck(id, [finding], { depends_on_failed_check: failed }, 'skipped')
}

function statusOf(messages: readonly Pick<CheckMessage, 'severity'>[]): Check['status'] {
  if (messages.some(({ severity }) => severity === 'error')) return 'failed'
  return messages.some(({ severity }) => severity === 'warning') ? 'warning' : 'passed'
}
