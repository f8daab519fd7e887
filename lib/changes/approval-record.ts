import type { Approval } from '../store/approvals.ts'
import type { ApprovalRecord } from '../wire/approvals.ts'
import type { HubFrame } from '../wire/hub.ts'

/** A request as the wire shows it to those who may push. It holds YAML. */
export function toApprovalRecord(approval: Approval): ApprovalRecord {
  const { approver, approvalComment, approvedAt, pushComment, pushId, configHash, pushedAt } = approval
  return {
    id: approval.id,
    workload_id: approval.workloadId,
    draft_yaml: approval.draftYaml,
    draft_hash: approval.draftHash,
    ...(approval.baseConfigHash === null ? {} : { base_config_hash: approval.baseConfigHash }),
    target_group: approval.targetGroup,
    target_env: approval.targetEnv,
    requester: approval.requester,
    request_comment: approval.requestComment,
    // A retired request is never shown.
    status: approval.status as ApprovalRecord['status'],
    ...(approver === null ? {} : { approver, approved_by: approver }),
    ...(approvalComment === null ? {} : { approval_comment: approvalComment }),
    ...(approvedAt === null ? {} : { approved_at: approvedAt.toISOString() }),
    ...(approver === null ? {} : { self_approved: approval.approverId === approval.requesterId }),
    prod_target: approval.prodTarget,
    prod_confirmation: approval.prodConfirmation,
    prod_double_confirmed: approval.prodDoubleConfirmed,
    break_glass: approval.breakGlass,
    ...(approval.breakGlassReason === null ? {} : { break_glass_reason: approval.breakGlassReason }),
    ...(pushComment === null ? {} : { push_comment: pushComment }),
    ...(configHash === null ? {} : { config_hash: configHash }),
    ...(pushId === null ? {} : { push_id: pushId }),
    ...(pushedAt === null ? {} : { pushed_at: pushedAt.toISOString() }),
    created_at: approval.createdAt.toISOString(),
    updated_at: approval.updatedAt.toISOString(),
  }
}

/** What browsers are told of a request: neither its draft nor anybody's words. */
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
