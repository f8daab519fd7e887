import { hashPolicy } from '../campaigns/judge/parts.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import type { AutoApplyHold } from '../wire/auto-apply.ts'
import type { AutoApplyParts } from './parts.ts'

/**
 * Find why the approval does not hold any more: the config policy changed, or an approver may not approve now. Null
 * while it holds.
 */
export async function findLapse(
  { config, mayApprove }: Pick<AutoApplyParts, 'config' | 'mayApprove'>,
  { policyHash, approvals }: StoredAutoApply,
): Promise<AutoApplyHold | null> {
  const none = { value: 1, limit: 0, workload_ids: [] }
  if (policyHash !== hashPolicy(config.policy)) return { gate: 'policy_changed', ...none }
  for (const { byId } of approvals) if (!(await mayApprove(byId))) return { gate: 'approver_gone', ...none }
  return null
}
