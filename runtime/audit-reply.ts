import type { AuditFailure } from '../lib/audit/delivery.ts'
import { problem, type Reply } from './reply.ts'

/** The 503 of a failed audit, with what became of the change itself. */
export function auditUnavailable(failure: AuditFailure): Reply {
  return problem(failure.code, { side_effect_status: failure.sideEffect })
}
