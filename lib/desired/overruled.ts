import type { FleetWish } from '../store/fleet-wishes.ts'
import type { Push } from '../store/pushes.ts'

/** How something else came to run than what Git asks for. */
export type Overruling = 'rolled_back' | 'replaced'

/** What Git asks of a workload, by itself or by its fleet config. */
export type Wish = Omit<FleetWish, 'workloadId'>

/** A push as it is compared with what Git asks for. */
export interface PushSinceGit {
  hash: string
  submittedAt: Date
  /** The campaign, or the version that applies by itself, that brought it; null for a roll-back and all others. */
  carrierId: string | null
  isRollback: boolean
}

/**
 * Whether something else than what Git asks for was pushed since Git asked: a rollback, or by broken glass. Null where
 * nothing was: what was only asked for, and waits for people, overrules nothing, nor does what is still on its way.
 */
export function overruling(
  wish: Wish | null,
  { activeHash, newestPush }: { activeHash: string | null; newestPush: PushSinceGit | null },
): Overruling | null {
  if (wish === null || newestPush === null || activeHash === wish.hash) return null
  const { hash, submittedAt, carrierId, isRollback } = newestPush
  if (carrierId !== null && wish.carriers.has(carrierId)) return null
  if (hash === wish.hash || submittedAt <= wish.since) return null
  return isRollback ? 'rolled_back' : 'replaced'
}

type PushToCompare = Pick<Push, 'hash' | 'submittedAt' | 'kind' | 'campaignId' | 'autoApplyId'>

/** The newest push of a workload, as it is compared with what Git asks for. */
export const toPushSinceGit = (push: PushToCompare): PushSinceGit => ({
  hash: push.hash,
  submittedAt: push.submittedAt,
  carrierId: push.kind === 'approval' ? (push.campaignId ?? push.autoApplyId) : null,
  isRollback: push.kind !== 'approval',
})

/** `overruling` of a workload by its newest push, as it stands in the fleet. */
export const overruledAt = (
  wish: Wish | null,
  { activeHash, newestPush }: { activeHash: string | null; newestPush: PushToCompare | null },
): Overruling | null => overruling(wish, { activeHash, newestPush: newestPush && toPushSinceGit(newestPush) })
