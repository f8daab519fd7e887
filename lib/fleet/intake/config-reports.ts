import type { AgentReport, ReportedRemoteConfigStatus } from '../../opamp/report.ts'
import type { PushTarget } from '../../store/push-targets.ts'
import type { AgentError } from '../../store/pushes.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { NO_STATUS_MS } from '../decide/offer.ts'
import { LOSSES_MIN } from '../decide/push.ts'
import { standsTo } from '../decide/standing.ts'
import { errorOfEnd, type TargetEndCause } from '../decide/target-end.ts'
import { isLostOut, isOpen, LOST_OUT, moveTarget, noteLoss, removeJoiner } from '../state/followed-push.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { endOffer, noteOfferAnswered, settleEarlierOffers } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import { assignmentOf, quarantineInstance } from '../state/state.ts'

/** Turns what instances say of their remote config into the state of the push it belongs to. */
export class ConfigReports {
  readonly #parts: FleetParts

  constructor(parts: FleetParts) {
    this.#parts = parts
  }

  /** Take the remote config status of a report; true when it was news. One that is whole has nothing to add. */
  take(instance: Instance, report: AgentReport, isWhole: boolean): boolean {
    const status = report.remoteConfigStatus
    if (status === null) {
      // A full report without one: it has never received a config.
      if (isWhole && !instance.reported.isKnown) this.becomeNone(instance)
      return false
    }
    this.#parts.state.unknownReported.delete(instance)
    if (status.status === 'unset') {
      instance.reported = {
        isKnown: true,
        hash: status.hash,
        status: 'none',
        sinceMs: this.#parts.deps.clock.monotonicMs(),
      }
      return false
    }
    return this.#takeStatus(instance, status, status.status, report.attributes !== null)
  }

  /** Nothing was ever said, and nothing will be: the instance counts as one without a config. */
  becomeNone(instance: Instance): void {
    this.#parts.state.unknownReported.delete(instance)
    instance.reported = {
      isKnown: true,
      hash: '',
      status: 'none',
      sinceMs: this.#parts.deps.clock.monotonicMs(),
    }
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
    // Read once and only where it is news: some agents say the same long text with every beat.
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
      this.#settle(instance, followed, status, error, isFullReport)
    return !isSame
  }

  #settle(
    instance: Instance,
    followed: FollowedPush,
    status: 'applied' | 'applying' | 'failed',
    error: () => AgentError | null,
    isFullReport: boolean,
  ): void {
    const target = followed.targets.get(instance.uid)
    const offer = instance.offer?.generation === followed.push.generation ? instance.offer : null
    // Without an offer of ours it is an old word, which the offer decision judges.
    if (target === undefined || target.state === 'superseded') return
    if (status === 'failed' && !isNews(instance, followed, target, isFullReport)) return
    if (offer !== null) {
      noteOfferAnswered(instance)
      if (status !== 'applying') {
        endOffer(instance, status)
        this.#parts.state.outstanding.delete(instance)
      }
    }
    if (status !== 'applying') settleEarlierOffers(instance)
    const state = target.state === 'cannot_report' ? 'cannot_report' : status
    // A word of applying after the end is late, not a new beginning, unless a new offer went out since.
    if (state === 'applying' && !isOpen(target)) return
    if (target.state === state && !isLostOut(target)) return
    if (!moveTarget(followed, target, state, this.#parts.deps.clock.now(), error())) return
    if (status === 'failed') this.#quarantineInstance(instance, followed)
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  #quarantineInstance(instance: Instance, followed: FollowedPush): void {
    const { workload } = instance
    if (workload === null) return
    const { hash, pushId } = followed.push
    // A later push of the same config by an operator has lifted it already, and storage keeps none for the former.
    if (followed.isPushedAgain) return
    quarantineInstance(workload, hash, instance.uid)
    this.#parts.writer.quarantine({ workloadId: workload.id, hash, instanceUid: instance.uid, pushId })
  }

  /** The connection ended without a goodbye, and not by us: an offer under way was lost with it. */
  lost(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined || !isUnderWay(instance, followed)) return
    if (target.state === 'cannot_report') this.#lostUnheard(instance, followed, target)
    if (!isOpen(target)) return
    const now = this.#parts.deps.clock.now()
    noteLoss(followed, target, now)
    if (target.losses >= LOSSES_MIN && moveTarget(followed, target, 'failed', now, LOST_OUT)) {
      // It would die of the next offer, too.
      endOffer(instance, 'failed')
      this.#parts.state.outstanding.delete(instance)
      this.#quarantineInstance(instance, followed)
    }
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /**
   * One that cannot say what became of a config was lost. Soon after its offer, time and again, it died of the config
   * and would of the next offer; one that stayed for a while lives with it.
   */
  #lostUnheard(instance: Instance, followed: FollowedPush, target: PushTarget): void {
    const sentAtMs = instance.offer?.lastSentAtMs ?? null
    const isSoon = sentAtMs !== null && this.#parts.deps.clock.monotonicMs() - sentAtMs < NO_STATUS_MS
    if (!isSoon && target.losses === 0) return
    target.losses = isSoon ? target.losses + 1 : 0
    target.updatedAt = this.#parts.deps.clock.now()
    if (target.losses >= LOSSES_MIN) this.#quarantineInstance(instance, followed)
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
  }

  /** A lost instance is here again. */
  returned(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined || target.losses === 0 || followed.hasReturned) return
    followed.hasReturned = true
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** It said goodbye, its grace is over, or it belongs elsewhere: who is left decides anew. */
  gone(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined) return
    const end = instance.hasDeparted ? 'left' : instance.connection === null ? 'disconnected' : 'moved_away'
    this.#endAsGone(followed, target, end)
    // Also when it had failed or applied.
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  #endAsGone(followed: FollowedPush, target: PushTarget, cause: TargetEndCause): void {
    if (target.state !== 'gone' && isOpen(target)) {
      moveTarget(followed, target, 'gone', this.#parts.deps.clock.now(), errorOfEnd(cause))
      this.#parts.writer.target({ pushId: followed.push.pushId, target })
    }
    this.#releaseJoiner(followed, target)
  }

  /** A grace after our start is over: who has not come back by the end of its own will not. */
  releaseAbsent(followed: FollowedPush): void {
    const { deps, state } = this.#parts
    const nowMs = deps.clock.monotonicMs()
    for (const target of [...followed.targets.values()])
      if (!state.isRecent(target.instanceUid, nowMs, deps.graceMs)) this.#releaseJoiner(followed, target)
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /**
   * One that joined after the push had ended and is here no more says nothing that is still of use, where it runs the
   * config, cannot tell, or left without an answer: its row goes with it, or a push that stays active would keep one of
   * every instance that ever was. One that failed the config, or was lost with it, is remembered for as long as its
   * home.
   */
  #releaseJoiner(followed: FollowedPush, { instanceUid: uid, state, losses }: PushTarget): void {
    if (this.#parts.state.instances.has(uid) || losses > 0) return
    if (state !== 'applied' && state !== 'cannot_report' && state !== 'gone') return
    if (!removeJoiner(followed, uid)) return
    this.#parts.writer.forgetTarget({
      pushId: followed.push.pushId,
      instanceUid: uid,
      at: this.#parts.deps.clock.now(),
    })
  }

  /** An instance that could not report before the change of its capabilities, or no longer can. */
  capabilitiesChanged(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined || !isOpen(target)) return
    if (isCapable(instance) && canReport(instance)) return
    // Nothing will come from it: it is gone as far as this push is concerned.
    this.#endAsGone(followed, target, 'capability_lost')
    this.#parts.tell({ kind: 'target-moved', followed })
  }
}

/** Was the config offered on the connection that the instance is on, or does it say that it applies it? */
function isUnderWay(instance: Instance, { push }: FollowedPush): boolean {
  if (standsTo(instance, push.hash) === 'applying') return true
  const { offer, connection } = instance
  if (offer === null || offer.generation !== push.generation || offer.ended !== null) return false
  return offer.lastSentAtMs !== null && offer.lastSentOn === connection?.id
}

/**
 * Is a FAILED of the assigned hash about this push? Not when the instance had said the same before the offer:
 * then only a fresh word counts, one after APPLYING or apart from a full report on the offer's connection.
 */
function isNews(
  instance: Instance,
  followed: FollowedPush,
  target: PushTarget,
  isFullReport: boolean,
): boolean {
  const offer = instance.offer?.generation === followed.push.generation ? instance.offer : null
  const wasSent = offer?.lastSentAtMs != null
  if (!target.hadFailedBefore) return wasSent || followed.isFromBefore
  if (target.applyingAt !== null) return true
  return wasSent && !isFullReport && offer?.lastSentOn === instance.connection?.id
}
