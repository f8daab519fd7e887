import type { Push } from '../store/pushes.ts'

/** How something else came to run than what Git asks for. */
export type Overruling = 'rolled_back' | 'replaced'

/** What Git asks of a workload, by itself or by its fleet config. */
export interface Wish {
  /** The config that Git asks for; null where the workload got nothing of it yet. */
  hash: string | null
  /** Since when Git asks for it. */
  since: Date
  /** The campaigns and versions that apply by themselves that bring what Git asks for, or were started before it did. */
  carriers: ReadonlySet<string>
}

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

/** The newest push of a workload, as it is compared with what Git asks for. */
export const toPushSinceGit = (
  push: Pick<Push, 'hash' | 'submittedAt' | 'kind' | 'campaignId' | 'autoApplyId'>,
): PushSinceGit => ({
  hash: push.hash,
  submittedAt: push.submittedAt,
  carrierId: push.kind === 'approval' ? (push.campaignId ?? push.autoApplyId) : null,
  isRollback: push.kind !== 'approval',
})
