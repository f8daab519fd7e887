import type { PushTarget } from '../../store/push-targets.ts'
import { decideLoss, hasSurvived, type LeavingTarget, lossesOfLeaver } from '../decide/losses.ts'
import { standsTo } from '../decide/standing.ts'
import {
  appliedAgoMs,
  isOpen,
  LOST_OUT,
  moveTarget,
  noteMissing,
  offerOf,
  setLosses,
} from '../state/followed-push.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { endOffer } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import { assignmentOf, isQuarantined } from '../state/state.ts'
import { quarantineHere } from './quarantine-here.ts'

/** Counts how often agents are lost with the config that they are assigned, and ends the targets that it kills. */
export class TargetLosses {
  readonly #parts: FleetParts

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  /**
   * An instance's connection ended without a goodbye and not by muster, or its process started anew on it: note a loss
   * where the config may have ended it.
   */
  lost(instance: Instance, connectionId: number | null): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined) return
    const facts = this.#factsOf(instance, followed, target, connectionId)
    noteMissing(followed, target, facts.appliedAgoMs)
    const { losses, isCounted, isOut } = decideLoss(facts)
    this.#set(followed, target, losses, isCounted)
    if (!isCounted) return
    if (isOut) this.conclude(instance)
    else if (target.state !== 'cannot_report') this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** An instance was lost with a config as often as one is: it has failed it, and is not offered it again. */
  conclude(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined) return
    if (target.state === 'cannot_report') target.error = LOST_OUT
    else {
      moveTarget(followed, target, 'failed', this.#parts.deps.clock, LOST_OUT)
      endOffer(instance, 'failed')
      this.#parts.state.outstanding.delete(instance)
    }
    quarantineHere(this.#parts, instance, followed)
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** An instance said goodbye: where it has lived with the config for a while, it is forgiven what was lost before. */
  saidGoodbye(instance: Instance, followed: FollowedPush, target: PushTarget): void {
    this.#set(followed, target, lossesOfLeaver(this.#factsOf(instance, followed, target, null)))
  }

  /** An instance has applied the config, or is back: forgive it what was lost where it kept the config through that. */
  survived(instance: Instance, followed: FollowedPush, target: PushTarget): void {
    const wasSentHere = offerOf(instance, followed)?.lastSentOn === instance.connection?.id
    const standing = standsTo(instance, followed.push.hash)
    if (hasSurvived({ state: target.state, standing, wasSentHere })) this.#set(followed, target, 0)
  }

  /** What started anew under the uid of an instance was another agent: losses count no more, unless they have ended it. */
  wereAnothers(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined) return
    if (isOpen(target) || target.state === 'applied') this.#set(followed, target, 0)
  }

  /** An instance came back after its connection had ended, or its process. */
  returned(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    followed?.missing.delete(instance.uid)
    if (followed === null || target === undefined || target.losses === 0) return
    this.survived(instance, followed, target)
    if (followed.hasReturned) return
    followed.hasReturned = true
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** Note how often a target was lost; stored where that is another number, or one was counted. */
  #set(followed: FollowedPush, target: PushTarget, losses: number, isCounted = false): void {
    if (target.losses === losses && !isCounted) return
    setLosses(followed, target, losses)
    if (target.state === 'cannot_report') target.error = null
    target.updatedAt = this.#parts.deps.clock.now()
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
  }

  #factsOf(
    instance: Instance,
    followed: FollowedPush,
    target: PushTarget,
    connectionId: number | null,
  ): LeavingTarget {
    const nowMs = this.#parts.deps.clock.heardMs()
    const { offer, workload } = instance
    const sentAtMs = offer?.lastSentAtMs ?? null
    return {
      state: target.state,
      losses: target.losses,
      appliedAgoMs: appliedAgoMs(followed, target, nowMs, this.#parts.state),
      sentAgoMs: sentAtMs === null ? null : nowMs - sentAtMs,
      standing: standsTo(instance, followed.push.hash),
      isUnderWay: isUnderWay(instance, followed, connectionId),
      isQuarantined: workload !== null && isQuarantined(workload, followed.push.hash, instance.uid),
    }
  }
}

/**
 * Has the push's config left on the instance's present connection? A front that the owner has told of the config may not
 * have sent it yet when the instance is lost. Where its link ended before it said so, the loss counts for nobody: the next
 * one under the config does, and the target ends in time all the same.
 */
function isUnderWay(instance: Instance, followed: FollowedPush, connectionId: number | null): boolean {
  const offer = offerOf(instance, followed)
  return offer !== null && offer.ended === null && connectionId !== null && offer.leftOn === connectionId
}
