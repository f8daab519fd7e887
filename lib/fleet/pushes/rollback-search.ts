import type { UsedComponent } from '../../model/components.ts'
import { findCampaignBase } from '../../store/campaign-targets.ts'
import { findContent, findContents } from '../../store/config-contents.ts'
import type { Db } from '../../store/db.ts'
import { findKnownGood } from '../../store/known-good.ts'
import { listAppliedHashes, listUnapprovedHashes, wasEverApproved } from '../../store/pushes.ts'
import { listWorkloadQuarantines } from '../../store/quarantines.ts'
import { findWhatRanBefore, listHashesTakenBack } from '../../store/ran-before.ts'
import { chooseRollbackTarget, type RollbackTarget } from '../decide/push.ts'
import type { FleetDeps } from '../state/deps.ts'
import type { Instance, Workload } from '../state/model.ts'

/** The config that a workload goes back to, with its text and the components that it uses. */
export interface FoundRollback {
  target: RollbackTarget
  body: string
  used: readonly UsedComponent[]
}

/** Can a live instance run a config that uses these components? True when none is live, false when it is null. */
export function isRunnable(
  used: readonly UsedComponent[] | null,
  live: readonly Instance[],
  deps: Pick<FleetDeps, 'isCompatible'>,
): boolean {
  if (used === null) return false
  const candidates = live.filter((instance) => !instance.isExcluded)
  return (
    candidates.length === 0 ||
    candidates.some((instance) => deps.isCompatible(used, instance.components?.components ?? null))
  )
}

/**
 * Who goes back. What a person asks for, of a workload, a rollout or a campaign, brings back only what was approved
 * there: what somebody pushed by breaking the glass, and nobody accepted since, comes back in no other way either. Whether
 * that is enough for a token is asked beside that, where what comes back is known (`approved-as-now.ts`). What
 * muster does by itself after a failed push brings back whatever ran there before: to leave a failed config running
 * would be worse.
 */
export type GoingBack = 'person' | 'by-itself'

/**
 * Find the config that a workload goes back to from `failedHash`, of those that were applied here; null when nothing
 * fits. A push of a campaign goes back to its base before anything else, where that was applied here. What muster does by
 * itself leads to what people took back with a campaign only where nothing else is left.
 */
export async function findRollback(
  tx: Db,
  deps: FleetDeps,
  workload: Workload,
  live: readonly Instance[],
  failedHash: string,
  { by, failedPushId = null }: { by: GoingBack; failedPushId?: string | null },
): Promise<FoundRollback | null> {
  const unfit = new Set(by === 'by-itself' ? [] : await listUnapprovedHashes(tx, workload.id))
  const pinned = await findKnownGood(tx, workload.id)
  const knownGood = pinned === null || unfit.has(pinned.hash) ? null : pinned
  const applied = (await listAppliedHashes(tx, workload.id)).filter((hash) => !unfit.has(hash))
  const quarantined = new Set(await listWorkloadQuarantines(tx, workload.id))
  const hashes = [...new Set([...(knownGood === null ? [] : [knownGood.hash]), ...applied])]
  const contents = new Map((await findContents(tx, hashes)).map((content) => [content.hash, content]))
  const toCandidate = (hash: string) => ({
    hash,
    isQuarantined: quarantined.has(hash),
    isInvalid: !isRunnable(contents.get(hash)?.components ?? null, live, deps),
  })
  const choose = (base: string | null, isMeant: (hash: string) => boolean) =>
    (base !== null && applied.includes(base) && isMeant(base)
      ? chooseRollbackTarget(failedHash, null, [toCandidate(base)])
      : null) ??
    chooseRollbackTarget(
      failedHash,
      knownGood !== null && isMeant(knownGood.hash) ? toCandidate(knownGood.hash) : null,
      applied.filter(isMeant).map(toCandidate),
    )
  const base = failedPushId === null ? null : await findCampaignBase(tx, workload.id, failedPushId)
  const takenBack = new Set(by === 'by-itself' ? await listHashesTakenBack(tx, workload.id) : [])
  const ranBefore =
    base === null || failedPushId === null || !takenBack.has(base)
      ? base
      : await findWhatRanBefore(tx, { pushId: failedPushId, workloadId: workload.id, hash: base })
  const target = choose(ranBefore, (hash) => !takenBack.has(hash)) ?? choose(base, () => true)
  const content = target === null ? undefined : contents.get(target.hash)
  return target === null || content === undefined
    ? null
    : { target, body: content.body, used: content.components }
}

/**
 * What the members of a rollout go back to: the active config, or, where none is active or it has failed here since,
 * what `findRollback` finds. Null where that may not be brought back.
 */
export async function findRolloutRollback(
  tx: Db,
  deps: FleetDeps,
  workload: Workload,
  live: readonly Instance[],
  failedHash: string,
  of: { by: GoingBack; failedPushId?: string | null },
): Promise<FoundRollback | null> {
  const { activeHash } = workload
  const isFit = activeHash !== null && activeHash !== failedHash
  if (!isFit || (await listWorkloadQuarantines(tx, workload.id)).includes(activeHash))
    return findRollback(tx, deps, workload, live, failedHash, of)
  if (of.by === 'person' && !(await wasEverApproved(tx, workload.id, activeHash))) return null
  const content = await findContent(tx, activeHash)
  if (content === null) return null
  return { target: { hash: activeHash, kind: 'previous' }, body: content.body, used: content.components }
}
