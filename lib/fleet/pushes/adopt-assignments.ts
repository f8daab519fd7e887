import { restoreTarget } from '../state/followed-push.ts'
import type { LoadedAssignments } from '../state/load-push.ts'
import type { FollowedPush, Workload } from '../state/model.ts'
import { followedPushes } from '../state/state.ts'
import { assignActive } from './assignments.ts'

/**
 * Take over a workload's assignments as the database holds them. A push that memory follows already is kept, as it
 * knows what agents have said since; it takes over targets it lacks, a failure and a later push of the same config.
 */
export function adoptAssignments(workload: Workload, loaded: LoadedAssignments, nowMs: number): void {
  const known = new Map(followedPushes(workload).map((followed) => [followed.push.pushId, followed]))
  const keep = (stored: FollowedPush): FollowedPush => {
    const followed = known.get(stored.push.pushId)
    if (followed === undefined) return stored
    // A failure that is stored stays, whatever instances have said since.
    if (stored.push.status === 'failed') followed.push = { ...stored.push, counts: followed.push.counts }
    const { pushedAgain } = stored
    if (pushedAgain !== null && pushedAgain.pushId !== followed.pushedAgain?.pushId)
      followed.pushedAgain = { pushId: pushedAgain.pushId, sinceMs: nowMs }
    for (const target of stored.targets.values())
      if (!followed.targets.has(target.instanceUid)) restoreTarget(followed, target)
    return followed
  }
  const { rollout, takenBack } = loaded
  if (loaded.active !== null) assignActive(workload, keep(loaded.active))
  workload.takenBack = takenBack === null ? null : keep(takenBack)
  workload.rollout = rollout === null ? null : { ...rollout, followed: keep(rollout.followed) }
  if (rollout?.stored.status === 'aborted') {
    const { followed } = workload.rollout!
    followed.isSuperseded = true
    followed.push.phase = 'aborted'
  }
  workload.generation = loaded.generation
  workload.pushSeq = loaded.pushSeq
  const newest = followedPushes(workload).find(({ push }) => push.pushId === loaded.newestPush?.pushId)
  workload.newestPush = newest?.push ?? loaded.newestPush
  workload.quarantinedHashes = new Set(loaded.quarantinedHashes)
  workload.quarantinedInstances = loaded.quarantinedInstances
}
