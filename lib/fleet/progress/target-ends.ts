import type { PushTarget } from '../../store/push-targets.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { pollSlackMs } from '../decide/poll-rhythm.ts'
import { runsAnother } from '../decide/standing.ts'
import { type AwaitedTarget, decideTargetEnd, errorOfEnd } from '../decide/target-end.ts'
import { moveTarget, waitedBefore } from '../state/followed-push.ts'
import type { FollowedPush, Instance, Workload } from '../state/model.ts'
import { type FleetParts, isCompatible } from '../state/parts.ts'
import { assignmentOfUid, followedPushes, hasLeftFor, isQuarantined } from '../state/state.ts'

/** How often all targets that have not answered are looked at. */
const LOOK_MS = 5_000
/** Targets, or workloads without any, looked at in one turn of the event loop. */
export const CHUNK = 200

/** Targets of a push to look at together; none stands for workloads that were passed over. */
interface Piece {
  followed: FollowedPush | null
  targets: readonly PushTarget[]
}

/** Ends the targets of followed pushes that do not report an end themselves. */
export class TargetEnds {
  readonly #parts: FleetParts
  #lookedAtMs = Number.NEGATIVE_INFINITY
  #isLooking = false

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  /** Called each second: every `LOOK_MS` look at all targets that have not answered, some in each turn. */
  tick(): void {
    const nowMs = this.#parts.deps.clock.heardMs()
    if (this.#isLooking || nowMs - this.#lookedAtMs < LOOK_MS) return
    this.#lookedAtMs = nowMs
    this.#isLooking = true
    this.#lookOn(this.#pieces(), () => {
      this.#isLooking = false
    })
  }

  /** The targets of all followed pushes that have not answered. */
  *#pieces(): Generator<Piece> {
    let passed = 0
    for (const workload of this.#parts.state.workloads.values()) {
      if (++passed % CHUNK === 0) yield { followed: null, targets: [] }
      const { active, rollout, takenBack } = workload
      if (active !== null) yield* piecesOf(active)
      if (rollout !== null) yield* piecesOf(rollout.followed)
      if (takenBack !== null) yield* piecesOf(takenBack)
    }
  }

  /**
   * Look at all targets of a push that have not answered, because what is assigned has changed: the first `CHUNK` now,
   * the others in later turns of the event loop.
   */
  look(followed: FollowedPush): void {
    this.#lookOn(piecesOf(followed), () => {})
  }

  /** Look at pieces until `CHUNK` targets were looked at, and at the others in later turns; then call `done`. */
  #lookOn(pieces: Iterator<Piece>, done: () => void): void {
    let isOver = false
    try {
      for (let looked = 0; looked < CHUNK; ) {
        const next = pieces.next()
        isOver = next.done === true
        if (next.done) break
        const { followed, targets } = next.value
        if (followed !== null) this.#lookAt(followed, targets)
        looked += followed === null ? CHUNK : targets.length
      }
    } finally {
      if (isOver) done()
      else this.#parts.deps.timers.after(0, () => this.#lookOn(pieces, done))
    }
  }

  #lookAt(followed: FollowedPush, targets: readonly PushTarget[]): void {
    const workload = this.#parts.state.workloads.get(followed.push.workloadId)
    if (workload === undefined || !followedPushes(workload).includes(followed)) return
    const nowMs = this.#parts.deps.clock.heardMs()
    // While no offer may be sent, a target cannot answer: its time begins anew.
    const isHeldUp = workload.hasStoppedOffers || !this.#parts.deps.mayOffer()
    let hasEnded = false
    for (const target of targets) {
      const sinceMs = followed.awaiting.get(target)
      if (sinceMs === undefined) continue
      if (isHeldUp || sinceMs === null) followed.awaiting.set(target, nowMs)
      if (isHeldUp) continue
      const facts = this.#factsOf(workload, followed, target, nowMs - (sinceMs ?? nowMs))
      const end = decideTargetEnd(facts, this.#graceMsOf(target.instanceUid))
      if (end === null) continue
      moveTarget(followed, target, end.state, this.#parts.deps.clock, errorOfEnd(end.cause))
      this.#parts.writer.target({ pushId: followed.push.pushId, target })
      hasEnded = true
    }
    if (hasEnded) this.#parts.tell({ kind: 'target-moved', followed })
  }

  #factsOf(workload: Workload, followed: FollowedPush, target: PushTarget, awaitedMs: number): AwaitedTarget {
    const instance = this.#parts.state.instances.get(target.instanceUid) ?? null
    const assigned = assignmentOfUid(workload, target.instanceUid)
    const hasMoved = instance?.workload != null && instance.workload !== workload
    const offer = instance?.offer?.pushId === followed.push.pushId ? instance.offer : null
    const slackMs = instance === null ? 0 : pollSlackMs(instance)
    return {
      state: target.state === 'applying' ? 'applying' : 'offered',
      awaitedMs: Math.max(0, awaitedMs - slackMs),
      waitedMs: waitedBefore(followed, target, slackMs),
      wasSent: offer !== null && offer.lastSentAtMs !== null,
      hasLeft: instance === null || hasLeftFor(instance, followed),
      isElsewhere: hasMoved ? 'workload' : assigned === followed ? null : 'rollout',
      hasDeparted: instance !== null && instance.connection === null && instance.hasDeparted,
      awayMs: instance?.connection != null ? null : this.#awayMs(instance),
      isCapable: instance === null || (isCapable(instance) && canReport(instance)),
      isCompatible: instance === null || isCompatible(this.#parts.deps, instance, followed),
      isQuarantined: isQuarantined(workload, followed.push.hash, target.instanceUid),
      runsAnother: instance !== null && runsAnother(instance, followed.push.hash),
    }
  }

  /** An instance that has not been heard of since this process started may poll slowly: its grace is its rhythm's. */
  #graceMsOf(uid: string): number {
    const { deps, state } = this.#parts
    return state.instances.has(uid) ? deps.graceMs : state.startGraceMs(uid, deps.graceMs)
  }

  #awayMs(instance: Instance | null): number {
    const sinceMs = instance?.awaySinceMs ?? this.#parts.state.startedAtMs
    return this.#parts.deps.clock.heardMs() - sinceMs
  }
}

function* piecesOf(followed: FollowedPush): Generator<Piece> {
  if (followed.awaiting.size === 0) return
  const all = [...followed.awaiting.keys()]
  for (let at = 0; at < all.length; at += CHUNK) yield { followed, targets: all.slice(at, at + CHUNK) }
}
