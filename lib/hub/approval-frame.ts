import type { Approval } from '../store/approvals.ts'
import type { HubFrame } from '../wire/hub.ts'

/** The message that tells browsers of a request; it has neither the draft nor any comment. */
export function toApprovalFrame(approval: Approval): HubFrame {
  return {
    type: 'approval_update',
    approval: {
      id: approval.id,
      workload_id: approval.workloadId,
      status: approval.status,
      target_group: approval.targetGroup,
      updated_at: approval.updatedAt.toISOString(),
    },
  }
}
