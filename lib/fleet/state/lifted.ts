import type { Db } from '../../store/db.ts'
import { listPushesOfSameConfig, type PushOfSameConfig } from '../../store/pushes.ts'
import { listLifted, type Quarantine } from '../../store/quarantines.ts'
import { liftsFailuresOf } from '../decide/quarantine.ts'
import type { FollowedPush } from './model.ts'

const liftedIds = (all: readonly PushOfSameConfig[]): Set<string> =>
  new Set(all.flatMap(({ own, other }) => (liftsFailuresOf(other, own) ? [own.pushId] : [])))

/** The quarantines that no later push has lifted. The workloads' rows must be locked, so that no push is missed. */
export async function withoutLifted(tx: Db, quarantines: readonly Quarantine[]): Promise<Quarantine[]> {
  const lifted = liftedIds(await listPushesOfSameConfig(tx, [...new Set(quarantines.map((q) => q.pushId))]))
  return quarantines.filter(({ pushId }) => !lifted.has(pushId))
}

/** Load for newly followed pushes which quarantines they lifted, and whether a later push lifts those made by them. */
export async function loadLifted(db: Db, followed: ReadonlyMap<string, FollowedPush>): Promise<void> {
  const pushIds = [...followed.keys()]
  for (const pushId of liftedIds(await listPushesOfSameConfig(db, pushIds)))
    followed.get(pushId)!.isPushedAgain = true
  for (const { pushId, instanceUid } of await listLifted(db, pushIds)) {
    const entry = followed.get(pushId)!
    entry.liftedUids = new Set(entry.liftedUids).add(instanceUid)
  }
}
