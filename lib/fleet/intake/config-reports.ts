import type { AgentReport, ReportedRemoteConfigStatus } from '../../opamp/report.ts'
import type { PushTarget } from '../../store/push-targets.ts'
import type { AgentError } from '../../store/pushes.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { NO_STATUS_MS } from '../decide/offer.ts'
import { pollSlackMs } from '../decide/poll-rhythm.ts'
import { LOSSES_MIN } from '../decide/push.ts'
import { standsTo } from '../decide/standing.ts'
import { errorOfEnd, type TargetEndCause } from '../decide/target-end.ts'
import { endForgotten } from '../state/end-forgotten.ts'
import {
  forgiveLosses,
  forgiveSurvivor,
  hasJustApplied,
  isLostOut,
  isOpen,
  isTargetFromBefore,
  isWaitedOut,
  LOST_OUT,
  moveTarget,
  noteAway,
  noteLoss,
  noteMissing,
  removeJoiner,
} from '../state/followed-push.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { closeEarlierOffers, endOffer, noteOfferAnswered } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import {
  assignmentOf,
  assignmentOfUid,
  followedPushes,
  isQuarantined,
  quarantineInstance,
} from '../state/state.ts'

/** Turns what instances say of their remote config into the states of the targets of a push. */
export class ConfigReports {
  readonly #parts: FleetParts

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  /** Take the remote config status of a report; true when it was news. `isWhole`: the report holds the full state. */
  take(instance: Instance, report: AgentReport, isWhole: boolean): boolean {
    const status = report.remoteConfigStatus
    if (status === null) {
      // A full report without a remote config status: the instance has never received a config.
      return isWhole && !instance.reported.isKnown && this.becomeNone(instance)
    }
    if (status.status === 'unset') return this.becomeNone(instance, status.hash)
    this.#parts.state.unknownReported.delete(instance)
    return this.#takeStatus(instance, status, status.status, report.attributes !== null)
  }

  /**
   * Take the instance for one without a remote config: it says so, or is waited for no longer. True when that changes
   * what is shown of it, as where it had reported a config before.
   */
  becomeNone(instance: Instance, hash = ''): boolean {
    this.#parts.state.unknownReported.delete(instance)
    instance.reported = {
      isKnown: true,
      hash,
      status: 'none',
      sinceMs: this.#parts.deps.clock.monotonicMs(),
    }
    const isNews = instance.report !== null
    instance.report = null
    return isNews
  }

  #takeStatus(
    instance: Instance,
    { hash, errorMessage }: ReportedRemoteConfigStatus,
    status: 'applied' | 'applying' | 'failed',
    isFullReport: boolean,
  ): boolean {
    const before = instance.reported
    const isSame = before.isKnown && before.hash === hash && before.status === status
    const nowMs = this.#parts.deps.clock.monotonicMs()
    // The error text is classified once and only where it is news: some agents send the same long text each time.
    let read: AgentError | null = null
    const error = () => {
      if (status === 'failed') read ??= this.#parts.deps.classifyError(errorMessage)
      return read
    }
    if (!isSame) {
      instance.reported = { isKnown: true, hash, status, sinceMs: nowMs }
      instance.report = { status, hash, error: error(), at: this.#parts.deps.clock.now() }
    }
    if (status === 'applied') instance.appliedHash = hash
    const followed = assignmentOf(instance)
    if (followed !== null && followed.push.hash === hash)
      this.#moveTarget(instance, followed, status, error, { isFullReport, isSame })
    else if (!isSame && status !== 'applying') this.#takeLate(instance, { hash, status, isFullReport }, error)
    return !isSame
  }

  /**
   * Take an answer to stages that have failed meanwhile, with nothing to go back to: what it says is what became of that
   * push on this instance, and nothing more is waited for.
   */
  #takeLate(
    instance: Instance,
    { hash, status, isFullReport }: { hash: string; status: 'applied' | 'failed'; isFullReport: boolean },
    error: () => AgentError | null,
  ): void {
    const ended = instance.workload?.endedStages ?? null
    const target = ended?.targets.get(instance.uid)
    if (ended === null || target === undefined || ended.push.hash !== hash) return
    if (target.state === 'cannot_report') return
    if (!isAnswer(instance, ended, target, { status, isFullReport })) return
    this.#noteAnswer(instance, ended, status)
    this.#settle(instance, ended, target, { state: status, error })
  }

  #moveTarget(
    instance: Instance,
    followed: FollowedPush,
    status: 'applied' | 'applying' | 'failed',
    error: () => AgentError | null,
    { isFullReport, isSame }: { isFullReport: boolean; isSame: boolean },
  ): void {
    const target = followed.targets.get(instance.uid)
    // Without a row in this push the status is from before it: what it means is up to the offer decision.
    if (target === undefined || target.state === 'superseded') return
    if (!isAnswer(instance, followed, target, { status, isFullReport })) return
    this.#noteAnswer(instance, followed, status)
    const state = target.state === 'cannot_report' ? 'cannot_report' : status
    // APPLYING after the target has ended is a late message; only a new offer opens the target again.
    if (state === 'applying' && !isOpen(target)) return
    if (state === 'applying' && target.state === 'straggler') {
      if (!isSame) this.#noteApplying(followed, target)
      // One that was waited for in vain, and says as before that it is applying, is not waited for again; nor one that
      // never answered a push which has ended: that it applies the config is no answer.
      if (
        isSame ||
        followed.push.status !== 'pending' ||
        isWaitedOut(followed, target, pollSlackMs(instance))
      )
        return
    }
    if (
      state === 'applying' &&
      target.state === 'gone' &&
      isWaitedOut(followed, target, pollSlackMs(instance))
    ) {
      this.#noteApplying(followed, target)
      this.#settle(instance, followed, target, {
        state: 'straggler',
        error: () => errorOfEnd('apply_timeout'),
      })
      return
    }
    this.#settle(instance, followed, target, { state, error })
    if (state === 'applied') this.#survived(instance, followed, target)
  }

  /** The instance has answered the offer of this push, if it got one. */
  #noteAnswer(instance: Instance, followed: FollowedPush, status: 'applied' | 'applying' | 'failed'): void {
    if (offerOf(instance, followed) !== null) {
      noteOfferAnswered(instance)
      if (status !== 'applying') {
        endOffer(instance, status)
        this.#parts.state.outstanding.delete(instance)
      }
    }
    if (status !== 'applying') closeEarlierOffers(instance)
  }

  /** Move a target to what its instance has said, keep what it failed from it, store that and tell of it. */
  #settle(
    instance: Instance,
    followed: FollowedPush,
    target: PushTarget,
    { state, error }: { state: PushTarget['state']; error: () => AgentError | null },
  ): void {
    // Also where its target had failed before: the same config may have been pushed again since.
    if (state === 'failed') this.#quarantineInstance(instance, followed)
    if (target.state === state && !isLostOut(target)) return
    if (!moveTarget(followed, target, state, this.#parts.deps.clock, error())) return
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** An instance that was lost soon after it had applied the config, and came back with it, did not die of it. */
  #survived(instance: Instance, followed: FollowedPush, target: PushTarget): void {
    if (target.losses === 0 || offerOf(instance, followed)?.lastSentOn === instance.connection?.id) return
    forgiveLosses(followed, target)
    target.updatedAt = this.#parts.deps.clock.now()
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
  }

  /** Note when one that was waited for in vain said that it applies the config: what it fails after that is this push. */
  #noteApplying(followed: FollowedPush, target: PushTarget): void {
    if (target.applyingAt !== null) return
    target.applyingAt = this.#parts.deps.clock.now()
    target.updatedAt = target.applyingAt
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
  }

  /**
   * Keep a config that an instance has failed from it. Where the same config was pushed again since the offer, it is to
   * be tried again; what failed after that is kept in the later push's name, as that lifts what is in the earlier one's.
   */
  #quarantineInstance(instance: Instance, followed: FollowedPush): void {
    const { workload, uid } = instance
    const { push, pushedAgain } = followed
    if (workload === null || workload.quarantinedInstances.get(push.hash)?.has(uid)) return
    if (pushedAgain !== null && !wasSentSince(instance, followed, pushedAgain.sinceMs)) return
    quarantineInstance(workload, push.hash, uid)
    this.#parts.writer.quarantine({
      workloadId: workload.id,
      hash: push.hash,
      instanceUid: uid,
      pushId: pushedAgain?.pushId ?? push.pushId,
    })
  }

  /**
   * An instance's connection ended without a goodbye, and not by muster: note a loss where the config may have ended it.
   * After `LOSSES_MIN` of them the next offer would most likely end it again. `mayBeAnother`: behind a gateway it may be
   * another agent of this uid that started anew, which says nothing of one that has applied the config.
   */
  lost(instance: Instance, connectionId: number | null, { mayBeAnother = false } = {}): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined) return
    const now = this.#parts.deps.clock.now()
    noteMissing(followed, target, now)
    this.#forgiveSurvivor(instance, followed, target)
    if (mayBeAnother && target.state === 'applied') return
    if (!this.#mayBeDoingOf(instance, followed, target, connectionId)) return
    // Where the config was pushed again, one that was lost too often has as many tries as it had before.
    const isKept = isQuarantined(instance.workload!, followed.push.hash, instance.uid)
    if (target.losses >= LOSSES_MIN && !isKept && target.state !== 'applied') forgiveLosses(followed, target)
    noteLoss(followed, target, now)
    if (target.state === 'cannot_report') target.error = target.losses >= LOSSES_MIN ? LOST_OUT : null
    // One that has applied it may come back with it: only where it does not was it lost by it. See `diedTooOften`.
    if (target.losses >= LOSSES_MIN && target.state !== 'applied') this.concludeLosses(instance)
    else this.#parts.writer.target({ pushId: followed.push.pushId, target })
    if (target.state !== 'cannot_report') this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** An instance was lost with a config as often as one is: it has failed it, and is not offered it again. */
  concludeLosses(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined) return
    if (target.state !== 'cannot_report') {
      moveTarget(followed, target, 'failed', this.#parts.deps.clock, LOST_OUT)
      endOffer(instance, 'failed')
      this.#parts.state.outstanding.delete(instance)
    }
    this.#quarantineInstance(instance, followed)
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** May it be the config's doing that an instance was lost? While it was to apply it, and soon after it had, it may. */
  #mayBeDoingOf(
    instance: Instance,
    followed: FollowedPush,
    target: PushTarget,
    connectionId: number | null,
  ): boolean {
    const { hash } = followed.push
    if (target.state === 'applied')
      return hasJustApplied(target, this.#parts.deps.clock.now()) && standsTo(instance, hash) === 'agrees'
    if (!isUnderWay(instance, followed, connectionId)) return false
    if (target.state === 'cannot_report') return this.#wasJustSent(instance)
    // One that had failed is offered the config again where it was pushed again.
    return (
      isOpen(target) || (target.state === 'failed' && !isQuarantined(instance.workload!, hash, instance.uid))
    )
  }

  /**
   * Was the config sent to an instance that cannot report a short time ago? It will not say either, as it comes back,
   * that it runs the config still: so less is taken to be the config's doing than of others.
   */
  #wasJustSent({ offer }: Instance): boolean {
    const sentAtMs = offer?.lastSentAtMs ?? null
    return sentAtMs !== null && this.#parts.deps.clock.monotonicMs() - sentAtMs < NO_STATUS_MS
  }

  /** An instance leaves: where it has lived with the config for a while, it is forgiven what was lost before. */
  #forgiveSurvivor(instance: Instance, followed: FollowedPush, target: PushTarget): void {
    if (target.losses === 0) return
    if (target.state !== 'cannot_report') forgiveSurvivor(followed, target, this.#parts.deps.clock.now())
    else if (instance.offer?.lastSentAtMs != null && !this.#wasJustSent(instance)) {
      forgiveLosses(followed, target)
      target.error = null
    }
    if (target.losses > 0) return
    target.updatedAt = this.#parts.deps.clock.now()
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
  }

  /** An instance came back after its connection had ended. */
  returned(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    followed?.missing.delete(instance.uid)
    if (followed === null || target === undefined || target.losses === 0) return
    // It goes on where it was, so its process has not ended.
    if (target.state === 'applied' && standsTo(instance, followed.push.hash) === 'agrees')
      this.#survived(instance, followed, target)
    if (followed.hasReturned) return
    followed.hasReturned = true
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** An instance said goodbye, its grace is over, or it moved away: the other targets decide about the push. */
  gone(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined) return
    const end = instance.hasDeparted ? 'left' : instance.connection === null ? 'disconnected' : 'moved_away'
    if (end === 'left') this.#forgiveSurvivor(instance, followed, target)
    this.#endAsGone(followed, target, end)
    if (end === 'disconnected') noteAway(followed, target)
    else followed.missing.delete(instance.uid)
    // Also when its target had failed or applied before.
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  #endAsGone(followed: FollowedPush, target: PushTarget, cause: TargetEndCause): void {
    // That one never answered a push which has ended stays true while it is away.
    const stays =
      target.state === 'straggler' && followed.push.status !== 'pending' && cause === 'disconnected'
    if (target.state !== 'gone' && isOpen(target) && !stays) {
      moveTarget(followed, target, 'gone', this.#parts.deps.clock, errorOfEnd(cause))
      this.#parts.writer.target({ pushId: followed.push.pushId, target })
    }
    this.#releaseJoiner(followed, target)
  }

  /**
   * An agent that was known when this process started has not come back within its grace: it vanished while another
   * process had the fleet, or none. Where that one knew that it had said goodbye, nobody does any more.
   */
  neverBack(uid: string): void {
    const { deps, state } = this.#parts
    const workload = state.workloads.get(state.homes.get(uid) ?? '')
    if (workload === undefined || state.instances.has(uid)) return
    const followed = assignmentOfUid(workload, uid)
    const target = followed?.targets.get(uid)
    if (followed === null || target === undefined) return
    const passedMs = deps.clock.monotonicMs() - state.startedAtMs
    noteMissing(followed, target, new Date(deps.clock.now().getTime() - passedMs))
    noteAway(followed, target)
  }

  /**
   * A grace after this process started is over: drop a joiner that has not come back within its own, and note of whose
   * agent nobody knows any more that it was forgotten before.
   */
  releaseAbsent(followed: FollowedPush, target: PushTarget): void {
    const { deps, state } = this.#parts
    const { instanceUid: uid } = target
    if (!this.#isFollowed(followed)) return
    if (state.isRecent(uid, deps.clock.monotonicMs(), deps.graceMs)) return
    // Removed after it has ended, so that its end does not write its row again.
    if (!state.homes.has(uid)) endForgotten(this.#parts, followed, target)
    this.#releaseJoiner(followed, target)
  }

  /** Judge a push again once those of its targets that did not come back were released. */
  judgeAgain(followed: FollowedPush): void {
    if (this.#isFollowed(followed)) this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** Whether the push still counts for its workload: it may have ended while others were looked at. */
  #isFollowed(followed: FollowedPush): boolean {
    const workload = this.#parts.state.workloads.get(followed.push.workloadId)
    return workload !== undefined && followedPushes(workload).includes(followed)
  }

  /**
   * Remove the row of an instance that joined the push and is not here any more, where it ran the config, could not
   * report, or never answered: else a push that stays active, or open, would keep a row of every instance that ever was.
   * The row of one that failed the config, or was lost with it, stays until its agent is forgotten; that one
   * which had applied it vanished once tells nothing.
   */
  #releaseJoiner(followed: FollowedPush, { instanceUid: uid, state, losses, updatedAt }: PushTarget): void {
    if (this.#parts.state.instances.has(uid) || losses > (state === 'applied' ? 1 : 0)) return
    if (!['applied', 'cannot_report', 'straggler', 'gone'].includes(state)) return
    if (!removeJoiner(followed, uid)) return
    // By when its row was written, not by now: the clock may have been put back since.
    this.#parts.writer.forgetTarget({
      pushId: followed.push.pushId,
      instanceUid: uid,
      at: updatedAt,
    })
  }

  /** An instance's capabilities changed: end its target if it takes or reports no remote config any more. */
  capabilitiesChanged(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined || !isOpen(target)) return
    if (isCapable(instance) && canReport(instance)) return
    // No answer will come from it any more.
    this.#endAsGone(followed, target, 'capability_lost')
    this.#parts.tell({ kind: 'target-moved', followed })
  }
}

/** Was the push's config sent to the instance after this time? */
function wasSentSince(instance: Instance, followed: FollowedPush, sinceMs: number): boolean {
  const sentAtMs = offerOf(instance, followed)?.lastSentAtMs ?? null
  return sentAtMs !== null && sentAtMs > sinceMs
}

/**
 * Has the push's config left on the instance's present connection, or does the instance report to be applying it? A front
 * that the owner has told of the config may not have sent it yet when the instance is lost. Where its link ended before
 * it said so, the loss counts for nobody: the next one under the config does, and the target ends in time all the same.
 */
function isUnderWay(instance: Instance, { push }: FollowedPush, connectionId: number | null): boolean {
  if (standsTo(instance, push.hash) === 'applying') return true
  const { offer } = instance
  if (offer === null || offer.generation !== push.generation || offer.ended !== null) return false
  return connectionId !== null && offer.leftOn === connectionId
}

/** The offer of this push to an instance; null where its newest is of another one, or there is none. */
const offerOf = ({ offer }: Instance, { push }: FollowedPush): Instance['offer'] =>
  offer?.generation === push.generation ? offer : null

/** Is what an instance says of a push's config about this push, and not what it had said before? */
const isAnswer = (
  instance: Instance,
  followed: FollowedPush,
  target: PushTarget,
  { status, isFullReport }: { status: 'applied' | 'applying' | 'failed'; isFullReport: boolean },
): boolean =>
  status === 'failed'
    ? isNews(instance, followed, target, isFullReport)
    : status === 'applying' || !isFromBefore(instance, offerOf(instance, followed))

/**
 * Is an APPLIED older than what the instance was sent last? It was sent another config since, of which it has said
 * nothing, and not yet this one again: it repeats what it said before, and may come to run the other.
 */
const isFromBefore = ({ unansweredOtherHash }: Instance, offer: Instance['offer']): boolean =>
  unansweredOtherHash !== null && offer !== null && offer.lastSentAtMs === null

/**
 * Is a FAILED of the assigned hash about this push? An instance that had reported FAILED for it before the offer may
 * only be repeating that: then FAILED counts after APPLYING, or on the offer's connection outside a full report.
 */
function isNews(
  instance: Instance,
  followed: FollowedPush,
  target: PushTarget,
  isFullReport: boolean,
): boolean {
  const offer = offerOf(instance, followed)
  const wasSent = offer?.lastSentAtMs != null
  if (!target.hadFailedBefore) return wasSent || (isTargetFromBefore(followed, target) && !target.wasUnsent)
  if (target.applyingAt !== null) return true
  return wasSent && !isFullReport && offer?.lastSentOn === instance.connection?.id
}
