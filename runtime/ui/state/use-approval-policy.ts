import type { ApprovalPolicyRecord } from '../../../lib/wire/approval-policy.ts'
import { api } from './endpoints.ts'
import { usePolling } from './use-polling.ts'
import { type Resource, useResource } from './use-resource.ts'

const POLL_MS = 5_000

/** The approval policy, and one that waits; not fetched while `isAsked` is false. */
export function useApprovalPolicy(isAsked: boolean): Resource<ApprovalPolicyRecord> {
  const policy = useResource(isAsked ? 'approval-policy' : null, (abort) => api.approvalPolicy(abort))
  // Another administrator may confirm it, or a day pass.
  usePolling(policy.data?.pending !== undefined, policy.reload, POLL_MS)
  return policy
}
