import type { UsedComponent } from '../../model/components.ts'
import { liftsFailuresOf } from '../decide/quarantine.ts'
import { deriveWorkload } from '../state/derive.ts'
import { followPush, moveTarget } from '../state/followed-push.ts'
import { inChunks } from '../state/in-chunks.ts'
import type { FollowedPush, Workload } from '../state/model.ts'
import { resumeOffers } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import { followedPushes } from '../state/state.ts'
import type { NewPush } from './push-rows.ts'

/** Make a push the active assignment of a workload. */
export function assignActive(workload: Workload, followed: FollowedPush): void {
  followed.isStaged = false
  workload.active = followed
  workload.activeHash = followed.push.hash
  workload.activePushId = followed.push.pushId
}

/** Changes what workloads are assigned in memory, after the database has committed it. */
export class Assignments {
  readonly #parts: FleetParts

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  /** A push is committed: assign it in memory, then let offers go out. No await in here: nothing may come between. */
  apply(workload: Workload, made: NewPush, body: Uint8Array, used: readonly UsedComponent[]): void {
    const { push, plan } = made
    // The counts of the push hold its targets already.
    const followed = { ...followPush(push, body, used, false), ...made.followed }
    followed.isStaged = made.rollout !== null
    followed.scope = made.scope
    const nowMs = this.#parts.deps.clock.heardMs()
    if (made.lifted !== null) {
      followed.liftedUids = new Set(made.lifted)
      workload.quarantinedHashes.delete(push.hash)
      workload.quarantinedInstances.delete(push.hash)
    }
    this.#assign(workload, followed, made.rollout)
    for (const each of followedPushes(workload))
      if (liftsFailuresOf(push, each.push)) each.pushedAgain = { pushId: push.pushId, sinceMs: nowMs }
    resumeOffers(workload)
    this.moved(workload)
    this.#parts.tell({ kind: 'assigned', workload, followed, targets: plan.targets })
  }

  /** The active assignment has changed: derive the workload's record again without waiting for a report. */
  moved(workload: Workload): void {
    const { deps, writer } = this.#parts
    if (deriveWorkload(workload, deps.clock.heardMs())) writer.workload(workload)
  }

  /**
   * No instance is assigned this push any more: supersede it, and its targets that have not answered, some in each turn
   * of the event loop.
   */
  close(workload: Workload, former: FollowedPush): void {
    const { deps, writer } = this.#parts
    if (former.push.status === 'pending' && former.push.phase !== 'aborted') former.push.phase = 'superseded'
    former.isSuperseded = true
    inChunks(
      deps.timers,
      [...former.awaiting.keys()],
      (target) => {
        if (!former.awaiting.has(target)) return
        moveTarget(former, target, 'superseded', deps.clock)
        writer.target({ pushId: former.push.pushId, target })
      },
      () => {
        writer.push(former)
        deps.notices.pushChanged(workload, former.push)
      },
    )
  }

  /** What is assigned is certain again: let offers go on. */
  confirm(workload: Workload): void {
    resumeOffers(workload)
    this.#parts.tell({ kind: 'assignments-confirmed', workload })
  }

  #assign(workload: Workload, followed: FollowedPush, rollout: NewPush['rollout']): void {
    const isForEveryone = rollout === null && followed.scope === null
    for (const former of followedPushes(workload))
      if (isForEveryone || former !== workload.active) this.close(workload, former)
    workload.newestPush = followed.push
    workload.generation = followed.push.generation
    workload.pushSeq = followed.push.seq
    workload.rollout = null
    workload.takenBack = null
    workload.endedStages = null
    if (rollout !== null) {
      const { stored, members } = rollout
      workload.rollout = { stored, followed, members: new Map(members) }
      this.#parts.state.rollingOut.add(workload)
    } else if (followed.scope !== null) workload.takenBack = followed
    else assignActive(workload, followed)
  }
}
