import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import { api } from './endpoints.ts'
import { can, may } from './session.ts'
import { useResource } from './use-resource.ts'

/** The request that a push carries out, for those who may see requests, and whether that is still to come. */
export function useRequest(
  workloadId: string,
  approvalId: string | undefined,
): { asked: ApprovalRecord | null; isAwaited: boolean } {
  const isShown = approvalId !== undefined && can('config_safety.approvals') && may('config:request')
  const request = useResource(isShown ? `approval:${approvalId}` : null, (abort) =>
    api.approval(workloadId, approvalId ?? '', abort),
  )
  return {
    asked: request.data,
    isAwaited: isShown && request.data === null && request.failure === null,
  }
}
