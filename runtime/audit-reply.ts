import type { AuditFailure } from '../lib/audit/delivery.ts'
import { problem, type Reply } from './reply.ts'

/** The 503 reply where an audit record could not be written or delivered; it says whether the change itself stands. */
export function auditUnavailable(failure: AuditFailure): Reply {
  return problem(failure.code, { side_effect_status: failure.sideEffect })
}
