import type { Db } from '../../store/db.ts'
import { listPushesOfSameConfig, type PushOfSameConfig } from '../../store/pushes.ts'
import { listLifted, type Quarantine } from '../../store/quarantines.ts'
import { liftsFailuresOf } from '../decide/quarantine.ts'
import type { FollowedPush } from './model.ts'

const liftedIds = (all: readonly PushOfSameConfig[]): Set<string> =>
  new Set(all.flatMap(({ own, other }) => (liftsFailuresOf(other, own) ? [own.pushId] : [])))

/** Which of these quarantines are still to be kept. Hold the locks of the workloads: a push that lifts one is seen. */
export async function withoutLifted(tx: Db, quarantines: readonly Quarantine[]): Promise<Quarantine[]> {
  const lifted = liftedIds(await listPushesOfSameConfig(tx, [...new Set(quarantines.map((q) => q.pushId))]))
  return quarantines.filter(({ pushId }) => !lifted.has(pushId))
}

/** Read for pushes that are followed from now on what they lifted, and whether a later one lifts what they fail. */
export async function loadLifted(db: Db, followed: ReadonlyMap<string, FollowedPush>): Promise<void> {
  const pushIds = [...followed.keys()]
  for (const pushId of liftedIds(await listPushesOfSameConfig(db, pushIds)))
    followed.get(pushId)!.isPushedAgain = true
  for (const { pushId, instanceUid } of await listLifted(db, pushIds)) {
    const entry = followed.get(pushId)!
    entry.liftedUids = new Set(entry.liftedUids).add(instanceUid)
  }
}
