import type { Db } from '../../store/db.ts'
import { listPushesOfSameConfig, type PushOfSameConfig } from '../../store/pushes.ts'
import { listLifted, type Quarantine } from '../../store/quarantines.ts'
import { liftsFailuresOf } from '../decide/quarantine.ts'
import type { FollowedPush } from './model.ts'

/** By push: the newest later one of the same config that lifts its quarantines. */
function liftersOf(all: readonly PushOfSameConfig[]): Map<string, PushOfSameConfig['other']> {
  const newest = new Map<string, PushOfSameConfig['other']>()
  for (const { own, other } of all)
    if (liftsFailuresOf(other, own) && other.seq > (newest.get(own.pushId)?.seq ?? 0))
      newest.set(own.pushId, other)
  return newest
}

/** The quarantines that no later push has lifted. The workloads' rows must be locked, so that no push is missed. */
export async function withoutLifted(tx: Db, quarantines: readonly Quarantine[]): Promise<Quarantine[]> {
  const lifted = liftersOf(await listPushesOfSameConfig(tx, [...new Set(quarantines.map((q) => q.pushId))]))
  return quarantines.filter(({ pushId }) => !lifted.has(pushId))
}

/** Load for newly followed pushes which quarantines they lifted, and whether a later push lifts those made by them. */
export async function loadLifted(db: Db, followed: ReadonlyMap<string, FollowedPush>): Promise<void> {
  const pushIds = [...followed.keys()]
  for (const [pushId, lifter] of liftersOf(await listPushesOfSameConfig(db, pushIds)))
    followed.get(pushId)!.pushedAgain = {
      pushId: lifter.pushId,
      // Whatever this process sends of the earlier push, it sends after the later one.
      sinceMs: Number.NEGATIVE_INFINITY,
    }
  for (const { pushId, instanceUid } of await listLifted(db, pushIds)) {
    const entry = followed.get(pushId)!
    entry.liftedUids = new Set(entry.liftedUids).add(instanceUid)
  }
}
