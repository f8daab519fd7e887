import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { api } from './endpoints.ts'
import { can, may } from './session.ts'
import { type Resource, useResource } from './use-resource.ts'

/** The requests of a workload that are approved and wait to be pushed; not asked for where the reader may not know. */
export const useApproved = (workloadId: string): Resource<ApprovalRecord[]> =>
  useResource(
    can('config_safety.approvals') && may('config:request', workloadId) ? `approved:${workloadId}` : null,
    (abort) => api.approvalsOf(workloadId, 'approved', abort),
    (frame) => frame.type === 'approval_update' && frame.approval.workload_id === workloadId,
  )
