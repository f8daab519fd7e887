import type { ApprovalPolicyRecord } from '../../../lib/wire/approval-policy.ts'
import { useApprovalPolicy } from '../state/use-approval-policy.ts'
import { lazy } from './lazy.tsx'

const PolicyWaiting = lazy<{ policy: ApprovalPolicyRecord; reload: () => void }>(
  async () => (await import('../pages/settings-approvals.tsx')).PolicyWaiting,
)

/**
 * That an approval policy that asks less waits for a second administrator or for its day: it decides what approvals are
 * worth, so it is told where they are looked at. Nothing where none waits.
 */
export function PolicyWaits({ isAsked = true }: { isAsked?: boolean }) {
  const policy = useApprovalPolicy(isAsked)
  if (policy.data?.pending === undefined) return null
  return <PolicyWaiting policy={policy.data} reload={policy.reload} />
}
