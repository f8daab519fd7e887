import type { ChangeReach } from '../../selectors/within-scope.ts'
import { type CampaignParts, hashPolicy } from '../judge/parts.ts'

/** Why an approval does not hold any more. */
export type Lapse = 'policy_changed' | 'approver_gone'

/** What an approval holds for: the config policy as it was, who gave it, and what it reaches. */
interface Approved {
  policyHash: string | null
  approvals: readonly { byId: string }[]
  reach: ChangeReach
}

/** Whether the config policy is another one than that which was approved. */
export const hasPolicyChanged = (
  { config }: Pick<CampaignParts, 'config'>,
  { policyHash }: Pick<Approved, 'policyHash'>,
): boolean => policyHash !== hashPolicy(config.policy)

/** Those of the approvals whose givers may not approve all of it now. */
export async function listGone<Given extends { byId: string }>(
  { mayApprove }: Pick<CampaignParts, 'mayApprove'>,
  { approvals, reach }: { approvals: readonly Given[]; reach: ChangeReach },
): Promise<Given[]> {
  const gone: Given[] = []
  for (const given of approvals) if (!(await mayApprove(given.byId, reach))) gone.push(given)
  return gone
}

/** Find why an approval does not hold any more; null while it holds. */
export async function findLapse(
  parts: Pick<CampaignParts, 'config' | 'mayApprove'>,
  approved: Approved,
): Promise<Lapse | null> {
  if (hasPolicyChanged(parts, approved)) return 'policy_changed'
  return (await listGone(parts, approved)).length > 0 ? 'approver_gone' : null
}
