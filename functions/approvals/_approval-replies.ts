import { string, type } from 'superstruct'
import type { ApproveOutcome } from '../../lib/changes/approve-approval.ts'
import type { CloseOutcome } from '../../lib/changes/close-approval.ts'
import type { CommentOutcome } from '../../lib/changes/comment-approval.ts'
import type { CreateOutcome } from '../../lib/changes/create-approval.ts'
import type { PushApprovalOutcome } from '../../lib/changes/push-approval.ts'
import type { DesiredOutcome } from '../../lib/desired/apply.ts'
import type {
  Approval,
  ApprovalPage,
  FoundApprovals,
  StoredApprovalStatus,
} from '../../lib/store/approvals.ts'
import type { Page } from '../../lib/store/cursor.ts'
import { APPROVAL_STATUSES } from '../../lib/wire/values.ts'
import { auditUnavailable } from '../../runtime/audit-reply.ts'
import type { Looked } from '../../runtime/pagination.ts'
import { problem, problemOf, type Reply } from '../../runtime/reply.ts'

/** The path parameters of one request. */
export const approvalParams = type({ id: string(), approval_id: string() })

/** What a comment can be refused for. */
export const COMMENT_ERRORS = ['comment-required', 'text-not-storable', 'text-too-long'] as const

/** What the texts and confirmations of a push can be refused for. */
export const PUSH_ERRORS = [
  ...COMMENT_ERRORS,
  'break-glass-reason-required',
  'managed-elsewhere',
  'production-double-confirmation-required',
] as const

/** Why a step of a request was not taken. */
export type RefusedApproval = Exclude<
  CreateOutcome | DesiredOutcome | ApproveOutcome | PushApprovalOutcome | CloseOutcome | CommentOutcome,
  { ok: true }
>

/** The reply to a request that was not created, approved, commented, ended or pushed. */
export function refuseApproval(outcome: RefusedApproval): Reply {
  switch (outcome.code) {
    case 'audit-unavailable':
      return auditUnavailable(outcome)
    case 'configuration-invalid':
      return problem(outcome.code, { validation_errors: outcome.validationErrors })
    case 'config-policy-blocked':
      return problem(outcome.code, { policy: outcome.policy })
    case 'approval-required':
      return problem(outcome.code, { request_status: outcome.requestStatus })
    default:
      return problemOf(outcome)
  }
}

/** Shown where no status is asked for: a retired request has something newer in its place. */
const LISTED: readonly StoredApprovalStatus[] = APPROVAL_STATUSES.filter((status) => status !== 'retired')

/** The statuses that a list is asked for, separated by commas; null when one of them is unknown. */
export function readStatuses(text: string | undefined): readonly StoredApprovalStatus[] | null {
  if (text === undefined) return LISTED
  const wanted = text.split(',')
  const known = APPROVAL_STATUSES.filter((status) => wanted.includes(status))
  return wanted.every((word) => known.some((status) => status === word)) ? known : null
}

/** The refusal of a list with an unknown status. */
export const unknownStatus = (): Reply =>
  problem('unsupported-status', { statuses: APPROVAL_STATUSES.join(', ') })

/** How lists of requests are ordered and paged. */
export const approvalOrder = {
  order: 'approvals.updated_at',
  key: ['number', 'string'],
} as const

/** The place of a request in a list. */
export const approvalKey = ({ approval }: { approval: Approval }) =>
  [approval.updatedAt.getTime(), approval.id] as const

/** What one statement reads of a list, in bytes of drafts and comments; one request more may come on top of it. */
const READ_BYTES_MAX = 4_194_304

/** The page that a list asks for, as it is read. */
export const pageOf = ({ after, limit }: Page): ApprovalPage => ({
  after: after === null ? null : { updatedAt: new Date(Number(after[0])), id: String(after[1]) },
  limit,
  bytesMax: READ_BYTES_MAX,
})

/** What is shown of the requests that were found, and up to where: what took too many bytes comes on the next page. */
export const lookedAt = <Item>(
  { approvals, isEnd }: FoundApprovals<Approval>,
  items: readonly Item[],
): Looked<Item> => ({ items, lookedTo: isEnd ? null : approvalKey({ approval: approvals.at(-1)! }) })
