import type { Push } from '../../store/pushes.ts'
import { judgeNow } from '../state/judge.ts'
import type { FollowedPush } from '../state/model.ts'
import type { FleetParts } from '../state/parts.ts'

/** Keeps the status and phase of each followed push as its targets make them. */
export class PushProgress {
  readonly #parts: FleetParts

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  /** Judge a followed push again, because something about its targets changed. */
  reconsider(followed: FollowedPush): void {
    const { deps, state, writer, tell } = this.#parts
    const { push } = followed
    const workload = state.workloads.get(push.workloadId)
    if (workload === undefined) return
    writer.push(followed)
    if (push.status === 'failed') {
      deps.notices.pushChanged(workload, push)
      return
    }
    const verdict = judgeNow(deps, state, followed)
    if (verdict.status === 'failed') {
      tell({ kind: 'push-failed', workload, followed })
      return
    }
    // Offers are held back, as another push is being committed: whether that supersedes this one is not decided yet.
    if (workload.hasStoppedOffers && push.status === 'pending' && verdict.status === 'applied') return
    if (verdict.status !== push.status || verdict.phase !== push.phase) {
      push.updatedAt = deps.clock.now()
      if (verdict.status === 'applied' && push.status === 'pending') this.#noteApplied(push)
      push.status = verdict.status
      if (push.status !== 'pending') followed.waited.clear()
      if (push.status !== 'pending') followed.waitedJoiners.clear()
      if (push.phase !== 'aborted') push.phase = verdict.phase
    }
    deps.notices.pushChanged(workload, push)
  }

  #noteApplied(push: Push): void {
    const { pushStats } = this.#parts.state
    push.appliedAt = push.updatedAt
    pushStats.applied++
    pushStats.convergenceMs += Math.max(0, push.appliedAt.getTime() - push.submittedAt.getTime())
  }
}
