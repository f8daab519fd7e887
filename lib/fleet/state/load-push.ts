import { findContent } from '../../store/config-contents.ts'
import type { Db } from '../../store/db.ts'
import { listTargets } from '../../store/push-targets.ts'
import { findPush, listPushes, type Push } from '../../store/pushes.ts'
import { listQuarantines } from '../../store/quarantines.ts'
import { findRolloutOfPush, listRolloutMembers } from '../../store/rollouts.ts'
import { findWorkload, type StoredWorkload } from '../../store/workloads.ts'
import { followPush, restoreTarget } from './followed-push.ts'
import { loadLifted } from './lifted.ts'
import type { FollowedPush, Rollout } from './model.ts'

/** A workload's assignments as the database holds them. */
export interface LoadedAssignments {
  generation: number
  pushSeq: number
  active: FollowedPush | null
  rollout: Rollout | null
  takenBack: FollowedPush | null
  endedStages: FollowedPush | null
  newestPush: Push | null
  quarantinedHashes: readonly string[]
  /** hash → uids. */
  quarantinedInstances: Map<string, Set<string>>
}

/**
 * Is this push, the newest of its workload, one in stages that failed with nothing to go back to? Any other that failed
 * is assigned still, or is not the newest.
 */
export const hasEndedStages = (
  { activePushId, rolloutPushId }: Pick<StoredWorkload, 'activePushId' | 'rolloutPushId'>,
  { pushId, status }: Pick<Push, 'pushId' | 'status'>,
): boolean => status === 'failed' && pushId !== activePushId && pushId !== rolloutPushId

async function loadFollowed(db: Db, pushId: string | null): Promise<FollowedPush | null> {
  const push = pushId === null ? null : await findPush(db, pushId)
  const content = push === null ? null : await findContent(db, push.hash)
  if (push === null || content === null) return null
  const followed = followPush(push, Buffer.from(content.body), content.components, true)
  for (const { target } of await listTargets(db, [push.pushId])) restoreTarget(followed, target)
  await loadLifted(db, new Map([[push.pushId, followed]]))
  return followed
}

/** The push that a workload's members are assigned: a rollout's, or one that takes its members back. */
async function loadOfMembers(
  db: Db,
  pushId: string | null,
): Promise<Pick<LoadedAssignments, 'rollout' | 'takenBack'>> {
  const followed = await loadFollowed(db, pushId)
  if (followed === null) return { rollout: null, takenBack: null }
  const stored = await findRolloutOfPush(db, followed.push.pushId)
  if (stored === null) {
    followed.scope = await loadScope(db, followed.push)
    return { rollout: null, takenBack: followed }
  }
  followed.isStaged = true
  followed.isSuperseded ||= stored.status === 'aborted'
  return { rollout: { stored, followed, members: await listRolloutMembers(db, stored.id) }, takenBack: null }
}

/** The instances that a push takes back: the targets of the rollout's push that it undoes. */
export async function loadScope(db: Db, { rollbackOfPushId }: Push): Promise<Set<string>> {
  if (rollbackOfPushId === null) return new Set()
  return new Set((await listTargets(db, [rollbackOfPushId])).map(({ target }) => target.instanceUid))
}

/** Load what a workload's instances are assigned; null when there is no such workload. */
export async function loadAssignments(db: Db, workloadId: string): Promise<LoadedAssignments | null> {
  const workload = await findWorkload(db, workloadId)
  if (workload === null) return null
  const [newestPush = null] = await listPushes(db, workloadId, { beforeSeq: null, limit: 1 })
  const quarantinedHashes: string[] = []
  const quarantinedInstances = new Map<string, Set<string>>()
  for (const { hash, instanceUid } of await listQuarantines(db, workloadId)) {
    if (instanceUid === '') quarantinedHashes.push(hash)
    else quarantinedInstances.set(hash, (quarantinedInstances.get(hash) ?? new Set()).add(instanceUid))
  }
  return {
    generation: workload.generation,
    pushSeq: workload.pushSeq,
    active: await loadFollowed(db, workload.activePushId),
    ...(await loadOfMembers(db, workload.rolloutPushId)),
    endedStages:
      newestPush !== null && hasEndedStages(workload, newestPush)
        ? await loadFollowed(db, newestPush.pushId)
        : null,
    newestPush,
    quarantinedHashes,
    quarantinedInstances,
  }
}
