import type { AgentReport, ReportedRemoteConfigStatus } from '../../opamp/report.ts'
import type { PushTarget, TargetState } from '../../store/push-targets.ts'
import type { AgentError } from '../../store/pushes.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { pollSlackMs } from '../decide/poll-rhythm.ts'
import { errorOfEnd, type TargetEndCause } from '../decide/target-end.ts'
import { dropJoiner } from '../state/drop-joiner.ts'
import { endForgotten } from '../state/end-forgotten.ts'
import {
  appliedBeforeMs,
  hasAppliedSince,
  isLostOut,
  isOpen,
  isPushOpen,
  isTargetFromBefore,
  isWaitedOut,
  moveTarget,
  noteAway,
  noteLostJoiner,
  noteMissing,
  offerOf,
} from '../state/followed-push.ts'
import type { FollowedPush, Instance } from '../state/model.ts'
import { closeEarlierOffers, endOffer, noteOfferAnswered } from '../state/offer-state.ts'
import type { FleetParts } from '../state/parts.ts'
import { assignmentOf, assignmentOfUid, followedPushes } from '../state/state.ts'
import { quarantineHere } from './quarantine-here.ts'
import type { TargetLosses } from './target-losses.ts'

const RELEASED: readonly TargetState[] = ['applied', 'cannot_report', 'straggler', 'gone']

/** How an instance said a status. */
interface HowSaid {
  /** In a full report, or told late: it may repeat what the instance had said before its offer. */
  mayRepeat: boolean
  /** By the time of day; for one that a front tells of late, at the earliest. */
  saidAt: Date
}

/** Turns what instances say of their remote config into the states of the targets of a push. */
export class ConfigReports {
  readonly #parts: FleetParts
  readonly #losses: TargetLosses

  constructor(parts: FleetParts, losses: TargetLosses) {
    this.#parts = parts
    this.#losses = losses
  }

  /** Take the remote config status of a report; true when it was news. `isWhole`: the report holds the full state. */
  take(instance: Instance, report: AgentReport, isWhole: boolean): boolean {
    const status = report.remoteConfigStatus
    if (status === null) {
      // A full report without a remote config status: the instance has never received a config.
      return isWhole && !instance.reported.isKnown && this.becomeNone(instance)
    }
    return this.#takeReported(instance, status, {
      mayRepeat: report.attributes !== null,
      saidAt: this.#parts.deps.clock.now(),
    })
  }

  /**
   * Take what an agent had said of its config at most so long ago, of which a front tells late; true when it was news. Where
   * its target has applied the config since, that is newer.
   */
  hadSaid(instance: Instance, report: AgentReport, agoMs: number): boolean {
    const status = report.remoteConfigStatus
    const now = this.#parts.deps.clock.now()
    const saidAt = new Date(now.getTime() - agoMs)
    const followed = [assignmentOf(instance), instance.workload?.endedStages]
    const targets = followed.map((each) => each?.targets.get(instance.uid))
    if (status === null || targets.some((target) => hasAppliedSince(target, saidAt, now))) return false
    return this.#takeReported(instance, status, { mayRepeat: true, saidAt })
  }

  #takeReported(instance: Instance, status: ReportedRemoteConfigStatus, how: HowSaid): boolean {
    if (status.status === 'unset') return this.becomeNone(instance, status.hash)
    this.#parts.state.unknownReported.delete(instance)
    return this.#takeStatus(instance, status, status.status, how)
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
      sinceMs: this.#parts.deps.clock.heardMs(),
    }
    const isNews = instance.report !== null
    instance.report = null
    return isNews
  }

  #takeStatus(
    instance: Instance,
    { hash, errorMessage }: ReportedRemoteConfigStatus,
    status: 'applied' | 'applying' | 'failed',
    how: HowSaid,
  ): boolean {
    const before = instance.reported
    const isSame = before.isKnown && before.hash === hash && before.status === status
    const nowMs = this.#parts.deps.clock.heardMs()
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
      this.#moveTarget(instance, followed, status, error, { ...how, isSame })
    else if (!isSame && status !== 'applying') this.#takeLate(instance, { ...how, hash, status }, error)
    return !isSame
  }

  /**
   * Take an answer to stages that have failed meanwhile, with nothing to go back to: what it says is what became of that
   * push on this instance, and nothing more is waited for.
   */
  #takeLate(
    instance: Instance,
    { hash, status, mayRepeat, saidAt }: HowSaid & { hash: string; status: 'applied' | 'failed' },
    error: () => AgentError | null,
  ): void {
    const ended = instance.workload?.endedStages ?? null
    const target = ended?.targets.get(instance.uid)
    if (ended === null || target === undefined || ended.push.hash !== hash) return
    if (target.state === 'cannot_report') return
    if (!isAnswer(instance, ended, target, { status, mayRepeat })) return
    this.#noteAnswer(instance, ended, status)
    this.#settle(instance, ended, target, { state: status, error, saidAt })
  }

  #moveTarget(
    instance: Instance,
    followed: FollowedPush,
    status: 'applied' | 'applying' | 'failed',
    error: () => AgentError | null,
    { mayRepeat, saidAt, isSame }: HowSaid & { isSame: boolean },
  ): void {
    const target = followed.targets.get(instance.uid)
    // Without a row in this push the status is from before it: what it means is up to the offer decision.
    if (target === undefined || target.state === 'superseded') return
    if (!isAnswer(instance, followed, target, { status, mayRepeat })) return
    this.#noteAnswer(instance, followed, status)
    const state = target.state === 'cannot_report' ? 'cannot_report' : status
    // APPLYING after the target has ended is a late message; only a new offer opens the target again.
    if (state === 'applying' && !isOpen(target)) return
    if (state === 'applying' && target.state === 'straggler') {
      if (!isSame) this.#noteApplying(followed, target)
      // One that was waited for in vain, and says as before that it is applying, is not waited for again; nor one that
      // never answered a push which has ended: that it applies the config is no answer.
      if (isSame || !isPushOpen(followed) || isWaitedOut(followed, target, pollSlackMs(instance))) return
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
        saidAt,
      })
      return
    }
    this.#settle(instance, followed, target, { state, error, saidAt })
    if (state === 'applied') this.#losses.survived(instance, followed, target)
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
    { state, error, saidAt }: { state: PushTarget['state']; error: () => AgentError | null; saidAt: Date },
  ): void {
    // Also where its target had failed before: the same config may have been pushed again since.
    if (state === 'failed') quarantineHere(this.#parts, instance, followed)
    if (target.state === state && !isLostOut(target)) return
    if (!moveTarget(followed, target, state, this.#parts.deps.clock, error(), saidAt)) return
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  /** Note when one that was waited for in vain said that it applies the config: what it fails after that is this push. */
  #noteApplying(followed: FollowedPush, target: PushTarget): void {
    if (target.applyingAt !== null) return
    target.applyingAt = this.#parts.deps.clock.now()
    target.updatedAt = target.applyingAt
    this.#parts.writer.target({ pushId: followed.push.pushId, target })
  }

  /** An instance said goodbye, its grace is over, or it moved away: the other targets decide about the push. */
  gone(instance: Instance): void {
    const followed = assignmentOf(instance)
    const target = followed?.targets.get(instance.uid)
    if (followed === null || target === undefined) return
    const end = instance.hasDeparted ? 'left' : instance.connection === null ? 'disconnected' : 'moved_away'
    if (end === 'left') this.#losses.saidGoodbye(instance, followed, target)
    this.#endAsGone(followed, target, end)
    if (end === 'disconnected') noteAway(followed, target)
    else followed.missing.delete(instance.uid)
    // Also when its target had failed or applied before.
    this.#parts.tell({ kind: 'target-moved', followed })
  }

  #endAsGone(followed: FollowedPush, target: PushTarget, cause: TargetEndCause): void {
    // That one never answered a push which has ended stays true while it is away; and where nobody has answered, it is not
    // waited for anew as it comes back, however it left.
    const isSilent = target.state === 'straggler' && !isPushOpen(followed)
    const stays =
      isSilent && (cause === 'disconnected' || (cause === 'left' && followed.push.status === 'pending'))
    if (target.state !== 'gone' && isOpen(target) && !stays) {
      moveTarget(followed, target, 'gone', this.#parts.deps.clock, errorOfEnd(cause))
      this.#parts.writer.target({ pushId: followed.push.pushId, target })
    }
    this.#releaseJoiner(followed, target)
  }

  /**
   * An agent that was known when this process started has not come back within its grace: it vanished while another
   * process had the fleet, or none.
   */
  neverBack(uid: string): void {
    const { state } = this.#parts
    const workload = state.workloads.get(state.homes.get(uid) ?? '')
    if (workload === undefined || state.instances.has(uid)) return
    const followed = assignmentOfUid(workload, uid)
    const target = followed?.targets.get(uid)
    if (followed === null || target === undefined) return
    // A front told since that it had applied the config, as the last that it said.
    const appliedAgoMs = followed.appliedMs.has(target) ? 0 : appliedBeforeMs(target, state.startedAt)
    noteMissing(followed, target, appliedAgoMs)
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
    if (state.isRecent(uid, deps.clock.heardMs(), deps.graceMs)) return
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
   * The row of one that failed the config stays until its agent is forgotten, and so do those of the last ones that were
   * lost with it: they may come back, and die of it again.
   */
  #releaseJoiner(followed: FollowedPush, { instanceUid: uid, state, losses, isJoiner }: PushTarget): void {
    const { instances } = this.#parts.state
    if (!isJoiner || instances.has(uid) || !RELEASED.includes(state)) return
    const released = losses === 0 ? uid : noteLostJoiner(followed, uid)
    if (released !== null && !instances.has(released)) dropJoiner(this.#parts, followed, released)
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

/** Is what an instance says of a push's config about this push, and not what it had said before? */
const isAnswer = (
  instance: Instance,
  followed: FollowedPush,
  target: PushTarget,
  { status, mayRepeat }: { status: 'applied' | 'applying' | 'failed'; mayRepeat: boolean },
): boolean =>
  status === 'failed'
    ? isNews(instance, followed, target, mayRepeat)
    : status === 'applying' || !isFromBefore(instance, offerOf(instance, followed))

/**
 * Is an APPLIED older than what the instance was sent last? It was sent another config since, of which it has said
 * nothing, and not yet this one again: it repeats what it said before, and may come to run the other.
 */
const isFromBefore = ({ unansweredOtherHash }: Instance, offer: Instance['offer']): boolean =>
  unansweredOtherHash !== null && offer !== null && offer.lastSentAtMs === null

/**
 * Is a FAILED of the assigned hash about this push? An instance that had reported FAILED for it before the offer may
 * only be repeating that: then FAILED counts after APPLYING, or on the offer's connection where it is no repetition.
 */
function isNews(instance: Instance, followed: FollowedPush, target: PushTarget, mayRepeat: boolean): boolean {
  const offer = offerOf(instance, followed)
  const wasSent = offer?.lastSentAtMs != null
  if (!target.hadFailedBefore) return wasSent || (isTargetFromBefore(followed, target) && !target.wasUnsent)
  if (target.applyingAt !== null) return true
  return wasSent && !mayRepeat && offer?.lastSentOn === instance.connection?.id
}
