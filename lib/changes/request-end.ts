import { REQUEST_IDLE_DAYS } from '../model/lifetimes.ts'
import type { Approval } from '../store/approvals.ts'
import type { ApprovalStanding } from './approval-standing.ts'

const HOUR_MS = 3_600_000
export const IDLE_MS = REQUEST_IDLE_DAYS * 24 * HOUR_MS

/**
 * When a request that waits to be approved or pushed ends by itself: so long after its last change, and one that is
 * approved not before its approvals are too old by the approval policy, where that lets them grow older.
 */
export function endOfRequest(
  { status, updatedAt }: Pick<Approval, 'status' | 'updatedAt'>,
  { judgement, votes }: Pick<ApprovalStanding, 'judgement' | 'votes'>,
): Date {
  const idle = updatedAt.getTime() + IDLE_MS
  const { validHours } = judgement.rule
  if (status !== 'approved' || validHours === null) return new Date(idle)
  const newest = Math.max(...votes.map(({ at }) => at.getTime()))
  return new Date(Math.max(idle, votes.length === 0 ? idle : newest + validHours * HOUR_MS))
}
