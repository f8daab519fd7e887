import type { ActTransaction } from '../../audit/database.ts'
import type { AuditEvent } from '../../audit/event.ts'
import { type RetiredBy, retiredByPush } from '../../model/retired-by.ts'
import { type Approval, lockApproval, retireOvertaken } from '../../store/approvals.ts'
import type { Push } from '../../store/pushes.ts'
import type { PushPath } from '../decide/push-obstacle.ts'
import type { FleetDeps } from '../state/deps.ts'

/** A push that is about to be written, and who decided it. */
export interface DecidedPush {
  push: Push
  path: PushPath
  byId: string | null
}

/**
 * Retire the approved requests that pushes overtake, in their transaction: whoever approved one had not seen what a
 * request made after it, a campaign, a version that applies by itself or a roll-back brings to its workload. Where muster
 * goes back by itself after a failure, what ran when a request was approved runs again, so nothing is retired. Takes one
 * statement for pushes that nobody asked for one by one.
 */
export async function retireOvertakenRequests(
  tx: ActTransaction,
  { clock, notices }: Pick<FleetDeps, 'clock' | 'notices'>,
  decided: readonly DecidedPush[],
): Promise<void> {
  const each = decided.filter(({ path }) => path !== 'auto-rollback')
  const [first] = each
  if (first === undefined) return
  // Of a workload's requests the newest is locked first, and those that are retired for one are older than it.
  for (const { push } of each) if (push.approvalId !== null) await lockApproval(tx, push.approvalId)
  const retired = await retireOvertaken(
    tx,
    each.map(({ push }) => push),
    { actor: first.push.pushedBy, actorId: first.byId, now: clock.now() },
  )
  const pushOf = new Map(each.map(({ push }) => [push.workloadId, push]))
  tx.recordBehind(retired.map((approval) => toEvent(approval, pushOf.get(approval.workloadId)!)))
  if (retired.length > 0) tx.afterCommit(() => notices.requestsRetired(retired))
}

const toEvent = (approval: Approval, push: Push): Omit<AuditEvent, 'actor'> => {
  const { approvalId, campaignId, autoApplyId } = push
  return toRetireEvent(approval, {
    retired_by: retiredByPush(push),
    push_id: push.pushId,
    ...(approvalId === null ? {} : { newer_approval_id: approvalId }),
    ...(campaignId === null ? {} : { campaign_id: campaignId }),
    ...(autoApplyId === null ? {} : { auto_apply_id: autoApplyId }),
  })
}

/** That a request was retired, and by what, as the audit trail has it. */
export const toRetireEvent = (
  { id, workloadId, draftHash }: Pick<Approval, 'id' | 'workloadId' | 'draftHash'>,
  by: { retired_by: RetiredBy; [field: string]: string },
): Omit<AuditEvent, 'actor'> => ({
  action: 'config.approval.retire',
  resource: 'workload',
  resourceId: workloadId,
  configHash: draftHash,
  detail: JSON.stringify({ approval_id: id, ...by }),
})
