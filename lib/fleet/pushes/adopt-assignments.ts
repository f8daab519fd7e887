import { liftsFailuresOf } from '../decide/quarantine.ts'
import { restoreTarget } from '../state/followed-push.ts'
import type { LoadedAssignments } from '../state/load-push.ts'
import type { FollowedPush, Workload } from '../state/model.ts'
import { knownPushes, quarantineInstance } from '../state/state.ts'
import { assignActive } from './assignments.ts'

/**
 * Take over a workload's assignments as the database holds them. A push that memory follows already is kept, as it
 * knows what agents have said since; it takes over targets it lacks, a failure and a later push of the same config.
 */
export function adoptAssignments(workload: Workload, loaded: LoadedAssignments, nowMs: number): void {
  const known = new Map(knownPushes(workload).map((followed) => [followed.push.pushId, followed]))
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
  const { rollout, takenBack, endedStages } = loaded
  if (loaded.active !== null) assignActive(workload, keep(loaded.active))
  workload.takenBack = takenBack === null ? null : keep(takenBack)
  workload.endedStages = endedStages === null ? null : keep(endedStages)
  const { awaitedUids } = workload.rollout ?? {}
  workload.rollout = rollout === null ? null : { ...rollout, followed: keep(rollout.followed), awaitedUids }
  if (rollout?.stored.status === 'aborted') {
    const { followed } = workload.rollout!
    followed.isSuperseded = true
    followed.push.phase = 'aborted'
  }
  adoptQuarantines(workload, loaded)
  workload.generation = loaded.generation
  workload.pushSeq = loaded.pushSeq
  const newest = knownPushes(workload).find(({ push }) => push.pushId === loaded.newestPush?.pushId)
  workload.newestPush = newest?.push ?? loaded.newestPush
}

/**
 * Take over the quarantines that the database holds. Those of instances that memory has besides wait to be stored, are
 * being stored, or were stored while this was read: they stay, unless a push of the same config that memory does not
 * know yet has lifted them.
 */
function adoptQuarantines(workload: Workload, loaded: LoadedAssignments): void {
  const { newestPush: newest } = loaded
  const known = workload.quarantinedInstances
  workload.quarantinedHashes = new Set(loaded.quarantinedHashes)
  workload.quarantinedInstances = loaded.quarantinedInstances
  for (const [hash, uids] of known) {
    if (newest !== null && liftsFailuresOf(newest, { hash, seq: workload.pushSeq })) continue
    for (const uid of uids) quarantineInstance(workload, hash, uid)
  }
}
