import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { shortHash } from '../i18n/format.ts'
import type { Shape } from '../parts/icons.tsx'
import { WAITS_LOOK } from './campaigns.ts'
import type { Tone } from './diagnosis.ts'

/** How the state of a request looks. */
export const REQUEST_LOOK: Record<ApprovalRecord['status'], readonly [Tone, Shape]> = {
  pending: WAITS_LOOK,
  approved: ['busy', 'clock'],
  pushed: ['ok', 'tick'],
  rejected: ['bad', 'cross'],
  withdrawn: ['idle', 'cross'],
  retired: ['idle', 'dot'],
}

/** Whether a request that is open waits for approvals, be it once more. */
export const isWaiting = (of: Pick<ApprovalRecord, 'status' | 'approvals_short'>): boolean =>
  of.status === 'pending' || of.approvals_short === true

/** What was said of a request since its last approval, the first thing first; nothing of one that was never approved. */
export const saidSinceApproval = ({
  timeline,
}: Pick<ApprovalRecord, 'timeline'>): ApprovalRecord['timeline'] => {
  const approved = timeline.findLastIndex(({ what }) => what === 'approved')
  return approved < 0 ? [] : timeline.slice(approved).filter(({ what }) => what === 'commented')
}

/** What whoever made a request called it: the first line of its comment; null where that says nothing. */
export const titleOfRequest = (asked: Pick<ApprovalRecord, 'request_comment'> | null): string | null =>
  asked?.request_comment.split('\n')[0]?.trim() || null

/** The same; else its hash. */
export const titleOf = (of: Pick<ApprovalRecord, 'request_comment' | 'draft_hash'>): string =>
  titleOfRequest(of) ?? shortHash(of.draft_hash)
