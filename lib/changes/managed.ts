import { gitGroupOf } from '../model/git-group.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import type { Approval } from '../store/approvals.ts'
import type { Db } from '../store/db.ts'
import { findManagedConfig } from '../store/managed-configs.ts'

/**
 * Refuse to approve a request for a workload that is kept in Git, unless it comes from the owner that keeps it; null
 * where it may be approved.
 */
export async function refuseManaged(
  db: Db,
  { workloadId, targetGroup }: Pick<Approval, 'workloadId' | 'targetGroup'>,
): Promise<Refusal<'managed-elsewhere'> | null> {
  const managed = await findManagedConfig(db, workloadId)
  if (managed === null || targetGroup === gitGroupOf(managed.owner)) return null
  return refuse('managed-elsewhere', { owner: managed.owner })
}
