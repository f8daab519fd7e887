import { string, type } from 'superstruct'
import type { ApproveOutcome } from '../../lib/changes/approve-approval.ts'
import type { CreateOutcome } from '../../lib/changes/create-approval.ts'
import type { PushApprovalOutcome } from '../../lib/changes/push-approval.ts'
import type { Approval } from '../../lib/store/approvals.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import { problem, type Reply } from '../../runtime/reply.ts'

/** The path parameters of one request. */
export const approvalParams = type({ id: string(), approval_id: string() })

type Refused = Exclude<CreateOutcome | ApproveOutcome | PushApprovalOutcome, { ok: true }>

/** The reply to a request that was not created, approved or pushed. */
export function refuseApproval(outcome: Refused): Reply {
  switch (outcome.code) {
    case 'audit-unavailable':
      return auditUnavailable(outcome)
    case 'bad-request':
      return problem(outcome.code, { error: outcome.error })
    case 'configuration-invalid':
      return problem(outcome.code, { validation_errors: outcome.validationErrors })
    case 'config-policy-blocked':
      return problem(outcome.code, { policy: outcome.policy })
    case 'approval-required':
      return problem(outcome.code, { request_status: outcome.requestStatus })
    default:
      return problem(outcome.code)
  }
}

/** How lists of requests are ordered and paged. */
export const approvalOrder = {
  order: 'approvals.updated_at',
  key: ['number', 'string'],
} as const

/** The place of a request in a list. */
export const approvalKey = (approval: Approval) => [approval.updatedAt.getTime(), approval.id] as const

/** The place that a cursor names. */
export const readApprovalKey = (after: readonly (string | number)[] | null) =>
  after === null ? null : { updatedAt: new Date(Number(after[0])), id: String(after[1]) }
