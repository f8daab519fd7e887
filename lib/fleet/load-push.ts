import { findContent } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { listTargets } from '../store/push-targets.ts'
import { findPush } from '../store/pushes.ts'
import { listWorkloadQuarantines } from '../store/quarantines.ts'
import { findWorkload } from '../store/workloads.ts'
import { followPush, restoreTarget } from './followed-push.ts'
import type { FollowedPush } from './model.ts'

/** A workload's assignment as the database holds it. */
export async function loadFollowedPush(
  db: Db,
  workloadId: string,
): Promise<{ generation: number; followed: FollowedPush | null; quarantinedHashes: readonly string[] }> {
  const workload = await findWorkload(db, workloadId)
  const quarantinedHashes = await listWorkloadQuarantines(db, workloadId)
  if (workload === null || workload.activePushId === null)
    return { generation: workload?.generation ?? 0, followed: null, quarantinedHashes }
  const push = await findPush(db, workload.activePushId)
  const content = push === null ? null : await findContent(db, push.hash)
  if (push === null || content === null)
    return { generation: workload.generation, followed: null, quarantinedHashes }
  const followed = followPush(push, Buffer.from(content.body), content.components, true)
  for (const { target } of await listTargets(db, [push.pushId])) restoreTarget(followed, target)
  return { generation: workload.generation, followed, quarantinedHashes }
}
