import type { PushVerdict } from '../decide/push.ts'
import type { FleetDeps } from './deps.ts'
import { judgePush } from './followed-push.ts'
import type { FollowedPush, Workload } from './model.ts'
import { assignmentOfUid, type FleetState } from './state.ts'

/** The verdict on a followed push by its targets as they are now. */
export function judgeNow(
  deps: Pick<FleetDeps, 'clock' | 'graceMs'>,
  state: FleetState,
  followed: FollowedPush,
): PushVerdict {
  const workload = state.workloads.get(followed.push.workloadId)
  const nowMs = deps.clock.heardMs()
  return judgePush(
    followed,
    (uid) =>
      state.isRecent(uid, nowMs, deps.graceMs) &&
      workload !== undefined &&
      (assignmentOfUid(workload, uid) === followed || speaksFor(state, workload, followed, uid)),
  )
}

/** Also an instance that is in a rollout now counts for the push that it applied before: it has not failed it. */
function speaksFor(state: FleetState, workload: Workload, { targets }: FollowedPush, uid: string): boolean {
  const instance = state.instances.get(uid)
  return targets.get(uid)?.state === 'applied' && (instance === undefined || instance.workload === workload)
}
