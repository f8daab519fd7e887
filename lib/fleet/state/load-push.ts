import { findContent } from '../../store/config-contents.ts'
import type { Db } from '../../store/db.ts'
import { listTargets } from '../../store/push-targets.ts'
import { findPush } from '../../store/pushes.ts'
import { listWorkloadQuarantines } from '../../store/quarantines.ts'
import { findRolloutOfPush, listRolloutMembers } from '../../store/rollouts.ts'
import { findWorkload } from '../../store/workloads.ts'
import { followPush, restoreTarget } from './followed-push.ts'
import type { FollowedPush, Rollout } from './model.ts'

/** A workload's assignments as the database holds them. */
export interface LoadedAssignments {
  generation: number
  pushSeq: number
  active: FollowedPush | null
  rollout: Rollout | null
  quarantinedHashes: readonly string[]
}

async function loadFollowed(db: Db, pushId: string): Promise<FollowedPush | null> {
  const push = await findPush(db, pushId)
  const content = push === null ? null : await findContent(db, push.hash)
  if (push === null || content === null) return null
  const followed = followPush(push, Buffer.from(content.body), content.components, true)
  for (const { target } of await listTargets(db, [push.pushId])) restoreTarget(followed, target)
  return followed
}

/** Read what a workload's instances are assigned; null when there is no such workload. */
export async function loadAssignments(db: Db, workloadId: string): Promise<LoadedAssignments | null> {
  const workload = await findWorkload(db, workloadId)
  if (workload === null) return null
  const { activePushId, rolloutPushId } = workload
  const active = activePushId === null ? null : await loadFollowed(db, activePushId)
  const staged = rolloutPushId === null ? null : await loadFollowed(db, rolloutPushId)
  const stored = rolloutPushId === null ? null : await findRolloutOfPush(db, rolloutPushId)
  let rollout: Rollout | null = null
  if (staged !== null && stored !== null) {
    staged.isStaged = true
    staged.isSuperseded ||= stored.status === 'aborted'
    rollout = { stored, followed: staged, members: await listRolloutMembers(db, stored.id) }
  }
  return {
    generation: workload.generation,
    pushSeq: workload.pushSeq,
    active,
    rollout,
    quarantinedHashes: await listWorkloadQuarantines(db, workloadId),
  }
}
