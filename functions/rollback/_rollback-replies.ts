import type { DraftRefusal } from '../../lib/changes/approval-parts.ts'
import type { RollbackOutcome } from '../../lib/changes/perform-rollback.ts'
import type { PrepareOutcome } from '../../lib/changes/prepare-rollback.ts'
import { RollbackRequest } from '../../lib/wire/rollback.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { jsonBody } from '../../runtime/define.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

/** What a rollback is asked with: nothing but a comment, and that may be left out. */
export const rollbackBody = jsonBody(RollbackRequest, { bytesMax: 16_384, whenAbsent: { comment: '' } })

/** Why a rollback is refused that was found: for what the workload or its config is, or for the comment. */
export const ROLLBACK_ERRORS = [
  'approved-for-less',
  'workload-archived',
  'workload-not-collector',
  'remote-config-unsupported',
  'workload-not-connected',
  'component-not-installed',
  'target-yaml-invalid',
  'validation-failed',
  'server-busy',
  'text-not-storable',
  'text-too-long',
  'audit-unavailable',
] as const

/** The reply to a rollback that was refused; it also says whether trying again makes sense. */
export function refuseRollback(outcome: Exclude<RollbackOutcome | PrepareOutcome, { ok: true }>): Reply {
  switch (outcome.code) {
    case 'audit-unavailable':
      return auditUnavailable(outcome)
    case 'configuration-invalid':
      return refuseInvalid(outcome)
    case 'target-not-applied':
      return problem(outcome.code, { retryable: false, details: { target_status: outcome.targetStatus } })
    case 'comment-required':
    case 'text-not-storable':
    case 'text-too-long':
      return problem(outcome.code, { ...outcome.details, retryable: false })
    default: {
      const retryable = outcome.code === 'server-busy' || outcome.code === 'workload-not-connected'
      return problem(outcome.code, { retryable })
    }
  }
}

function refuseInvalid({
  validationErrors,
}: Extract<DraftRefusal, { code: 'configuration-invalid' }>): Reply {
  const isMissing = validationErrors.some((error) => error.code === 'component_not_installed')
  const isUnreadable = validationErrors[0]?.code === 'yaml_parse'
  const code = isMissing
    ? 'component-not-installed'
    : isUnreadable
      ? 'target-yaml-invalid'
      : 'validation-failed'
  return problem(code, {
    retryable: false,
    validation_errors: validationErrors,
    details: { validation: { valid: false, errors: validationErrors } },
  })
}
