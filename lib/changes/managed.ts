import { gitGroupOf, gitOwnerOf } from '../model/git-group.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import type { Approval } from '../store/approvals.ts'
import type { Db } from '../store/db.ts'
import { findKeeper } from '../store/keepers.ts'
import { acceptWish } from '../store/managed-configs.ts'

/**
 * Refuse to approve a request for a workload that is kept in Git, by itself or by its fleet config, unless it comes from the
 * owner that keeps it; null where it may be approved.
 */
export async function refuseManaged(
  db: Db,
  { workloadId, targetGroup }: Pick<Approval, 'workloadId' | 'targetGroup'>,
): Promise<Refusal<'managed-elsewhere'> | null> {
  const keeper = await findKeeper(db, workloadId)
  if (keeper === null || targetGroup === gitGroupOf(keeper.owner)) return null
  return refuse('managed-elsewhere', { owner: keeper.owner })
}

/**
 * Let the owner in Git of an approved request keep its workload from now on; the refusal where another owner came first,
 * and null otherwise, also of a request from elsewhere.
 */
export async function acceptOwner(
  tx: Db,
  approval: Pick<Approval, 'workloadId' | 'targetGroup'>,
): Promise<Refusal<'managed-elsewhere'> | null> {
  const owner = gitOwnerOf(approval.targetGroup)
  if (owner === null) return null
  const refused = await refuseManaged(tx, approval)
  if (refused === null) await acceptWish(tx, approval.workloadId, owner)
  return refused
}
