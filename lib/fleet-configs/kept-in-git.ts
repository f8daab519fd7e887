import { type Refusal, refuse } from '../model/refusal.ts'
import type { Db } from '../store/db.ts'
import {
  findManagedFleetConfig,
  findManagedOfCampaign,
  hasBroughtFromGit,
} from '../store/managed-fleet-configs.ts'

/** Refuse to change by hand what is kept in Git, as it is under the lock of the fleet config; null where nobody keeps it there. */
export async function refuseByHand(
  tx: Db,
  fleetConfigId: string,
): Promise<Refusal<'fleet-config-managed'> | null> {
  const managed = await findManagedFleetConfig(tx, fleetConfigId)
  return managed === null ? null : refuse('fleet-config-managed', { owner: managed.owner })
}

/**
 * Refuse to bring workloads another version of a fleet config than the one that Git asks for; null where it is that one,
 * nobody keeps the fleet config in Git, or no workload has got a version of Git's yet: whoever may only ask stops nobody.
 */
export async function refuseOverGit(
  db: Db,
  { fleetConfigId, number }: { fleetConfigId: string; number: number },
): Promise<Refusal<'fleet-config-managed'> | null> {
  const managed = await findManagedFleetConfig(db, fleetConfigId)
  if (managed === null || managed.version === number) return null
  if (!(await hasBroughtFromGit(db, fleetConfigId))) return null
  return refuse('fleet-config-managed', { owner: managed.owner })
}

/**
 * Refuse to change a campaign that brings what Git asks for, unless for the account that speaks for its owner: what it brings, to
 * whom and by which rules is said in Git. Null for all other campaigns.
 */
export async function refuseForGit(
  db: Db,
  campaignId: string,
  { userId }: { userId: string },
): Promise<Refusal<'fleet-config-managed'> | null> {
  const managed = await findManagedOfCampaign(db, campaignId)
  if (managed === null || managed.appliedById === userId) return null
  return refuse('fleet-config-managed', { owner: managed.owner })
}
