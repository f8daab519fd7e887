import type { UsedComponent } from '../../model/components.ts'
import { findCampaignBase } from '../../store/campaign-targets.ts'
import { findContent, findContents } from '../../store/config-contents.ts'
import type { Db } from '../../store/db.ts'
import { findKnownGood } from '../../store/known-good.ts'
import { listAppliedHashes, listUnapprovedHashes } from '../../store/pushes.ts'
import { listWorkloadQuarantines } from '../../store/quarantines.ts'
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

/** Which configs a search for a rollback may find. */
export type Findable = 'applied' | 'applied-and-approved'

/**
 * Find the config that a workload goes back to from `failedHash`; null when nothing fits. An automatic rollback may go
 * back to any config that was applied here; an operator's (`applied-and-approved`) only to one that was approved here
 * as well. A push of a campaign goes back to its base before anything else, where that was applied here.
 */
export async function findRollback(
  tx: Db,
  deps: FleetDeps,
  workload: Workload,
  live: readonly Instance[],
  failedHash: string,
  { findable = 'applied', failedPushId = null }: { findable?: Findable; failedPushId?: string | null } = {},
): Promise<FoundRollback | null> {
  const unfit = new Set(findable === 'applied' ? [] : await listUnapprovedHashes(tx, workload.id))
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
  const base = failedPushId === null ? null : await findCampaignBase(tx, workload.id, failedPushId)
  const isBaseApplied = base !== null && applied.includes(base)
  const toBase = isBaseApplied ? chooseRollbackTarget(failedHash, null, [toCandidate(base)]) : null
  const target =
    toBase ??
    chooseRollbackTarget(
      failedHash,
      knownGood === null ? null : toCandidate(knownGood.hash),
      applied.map(toCandidate),
    )
  const content = target === null ? undefined : contents.get(target.hash)
  return target === null || content === undefined
    ? null
    : { target, body: content.body, used: content.components }
}

/**
 * What the members of a rollout go back to: the active config, or, where none is active or it has failed here since,
 * what `findRollback` finds.
 */
export async function findRolloutRollback(
  tx: Db,
  deps: FleetDeps,
  workload: Workload,
  live: readonly Instance[],
  failedHash: string,
  of: { failedPushId?: string | null } = {},
): Promise<FoundRollback | null> {
  const { activeHash } = workload
  const isFit = activeHash !== null && activeHash !== failedHash
  if (!isFit || (await listWorkloadQuarantines(tx, workload.id)).includes(activeHash))
    return findRollback(tx, deps, workload, live, failedHash, of)
  const content = await findContent(tx, activeHash)
  if (content === null) return null
  return { target: { hash: activeHash, kind: 'previous' }, body: content.body, used: content.components }
}
