import type { TargetState } from '../../store/push-targets.ts'
import { NO_STATUS_MS } from './offer.ts'
import type { ConfigStanding } from './standing.ts'

/*
 * Whether a config ends the agents that take it is decided here: which losses of an agent count against its target, when
 * they are forgiven, and when the target has failed by them.
 */

/** How many losses it takes before they count against the config. */
export const LOSSES_MIN = 3

/**
 * For how long after an instance has applied a config its end is taken to be the config's doing; ms of heard time: what ended
 * while nobody could be heard may have ended at any time of that.
 */
export const DOING_MS = 10 * 60_000

/**
 * The clocks of two processes that follow each other differ by less than this. A stored time that lies further ahead is of
 * a clock that was put back since, and says nothing.
 */
export const CLOCKS_MS = 60_000

/** A target whose agent is not there any more, or starts anew, as it was right before. */
export interface LeavingTarget {
  state: TargetState
  /** How often it was lost with the config before. */
  losses: number
  /** How long ago it applied the config, in heard time; null where it has not. May be below zero, as stored by another clock. */
  appliedAgoMs: number | null
  /** How long ago the config was last sent to it, in heard time; null where this process never did. */
  sentAgoMs: number | null
  standing: ConfigStanding
  /** The config has left for it on the connection that it was on, and it has not said how that ended. */
  isUnderWay: boolean
  /** The config is kept from it. */
  isQuarantined: boolean
}

/** What a loss makes of a target: its losses, whether one was counted, and whether the target has failed by them. */
export interface LossVerdict {
  losses: number
  isCounted: boolean
  isOut: boolean
}

/** Did the target apply the config so short a time ago that what happens to its agent is taken to be its doing? */
export const hasJustApplied = ({
  state,
  appliedAgoMs,
}: Pick<LeavingTarget, 'state' | 'appliedAgoMs'>): boolean =>
  state === 'applied' && appliedAgoMs !== null && appliedAgoMs < DOING_MS && appliedAgoMs > -CLOCKS_MS

/**
 * Was the config sent to an agent that cannot report a short time ago? It will not say either, as it comes back, that it
 * runs the config still: so less is taken to be the config's doing than of others.
 */
const wasJustSent = ({ sentAgoMs }: LeavingTarget): boolean => sentAgoMs !== null && sentAgoMs < NO_STATUS_MS

/**
 * The losses of a target whose agent leaves, with a goodbye or without. One that has lived with the config for a while is
 * forgiven: that it said that it had applied it is not enough, as it may die of it right after.
 */
export function lossesOfLeaver(target: LeavingTarget): number {
  const { state, losses, sentAgoMs } = target
  if (state === 'cannot_report') return sentAgoMs !== null && !wasJustSent(target) ? 0 : losses
  return state === 'applied' && !hasJustApplied(target) ? 0 : losses
}

/** An agent's connection ended without a goodbye and not by muster, or it starts anew: what that makes of its target. */
export function decideLoss(target: LeavingTarget): LossVerdict {
  const { state, isQuarantined } = target
  const before = lossesOfLeaver(target)
  if (!mayBeDoing(target)) return { losses: before, isCounted: false, isOut: false }
  // Where the config was pushed again, one that was lost too often has as many tries as it had before.
  const isTriedAnew = before >= LOSSES_MIN && !isQuarantined && state !== 'applied'
  const losses = isTriedAnew ? 1 : before + 1
  // One that has applied it may come back with it: only where it does not was it lost by it. See `diedTooOften`.
  return { losses, isCounted: true, isOut: losses >= LOSSES_MIN && state !== 'applied' }
}

/** May it be the config's doing? While the agent was to apply it, and soon after it had, it may. */
function mayBeDoing(target: LeavingTarget): boolean {
  const { state, standing, isUnderWay, isQuarantined } = target
  if (state === 'applied') return hasJustApplied(target) && standing === 'agrees'
  if (!isUnderWay && standing !== 'applying') return false
  if (state === 'cannot_report') return wasJustSent(target)
  // One that had failed is offered the config again where it was pushed again.
  return state === 'failed' ? !isQuarantined : state !== 'superseded'
}

/** Was the agent lost too often with the config that it had applied? It fails it as soon as it wants it again. */
export const diedTooOften = (target: { state: TargetState; losses: number } | undefined): boolean =>
  target?.state === 'applied' && target.losses >= LOSSES_MIN

/**
 * Did an agent that had applied the config keep it through what was taken for a loss? It has it still, on a connection on
 * which it was not sent: so its process has not ended, or not by the config.
 */
export const hasSurvived = (back: {
  state: TargetState
  standing: ConfigStanding
  wasSentHere: boolean
}): boolean => back.state === 'applied' && back.standing === 'agrees' && !back.wasSentHere
