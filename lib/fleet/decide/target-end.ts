import { APPLYING_MS, NO_STATUS_MS, SENDS_MAX } from './offer.ts'

/** Why a target ended without a word of its own about the config. */
export type TargetEndCause =
  | 'left'
  | 'disconnected'
  | 'moved_away'
  | 'joined_rollout'
  | 'capability_lost'
  | 'component_missing'
  | 'failed_before'
  | 'no_answer'
  | 'not_sent'
  | 'apply_timeout'
  | 'runs_another'

/** A target that has been offered a config and has neither applied nor failed it, as it is now. */
export interface AwaitedTarget {
  state: 'offered' | 'applying'
  /** How long its end has been waited for, while offers could be made. */
  awaitedMs: number
  /** How long it was waited for before it was opened again. */
  waitedMs: number
  /** A frame of this offer went out to it. */
  wasSent: boolean
  /** One of these is known to have left for it: at a front whose socket to it takes nothing they stay behind. */
  hasLeft: boolean
  /** It was moved to another workload, or is assigned another push of its own; null when neither. */
  isElsewhere: 'workload' | 'rollout' | null
  hasDeparted: boolean
  /** Null while it is connected; counted from the start of this process at the earliest. */
  awayMs: number | null
  isCapable: boolean
  isCompatible: boolean
  isQuarantined: boolean
  /** It says that it has applied another config. */
  runsAnother: boolean
}

/** The state in which a target ends, and why. */
export interface TargetEnd {
  state: 'gone' | 'straggler'
  cause: TargetEndCause
}

/** Enough time for every repeat of an offer, and for a question before the first about what the instance runs. */
const OFFERED_MAX_MS = NO_STATUS_MS * SENDS_MAX + 120_000
const APPLYING_MAX_MS = APPLYING_MS * SENDS_MAX
/** For how long a target is waited for in all while its push is open, however often it goes and comes back. */
export const WAITED_MAX_MS = OFFERED_MAX_MS + APPLYING_MAX_MS

/**
 * The end of a target that does not report one itself, or null while its answer is still waited for. This bounds every
 * push: whatever keeps an instance from answering, its target ends.
 */
export function decideTargetEnd(target: AwaitedTarget, graceMs: number): TargetEnd | null {
  const gone = (cause: TargetEndCause): TargetEnd => ({ state: 'gone', cause })
  if (target.isElsewhere !== null)
    return gone(target.isElsewhere === 'rollout' ? 'joined_rollout' : 'moved_away')
  if (target.hasDeparted) return gone('left')
  if (target.awayMs !== null) return target.awayMs >= graceMs ? gone('disconnected') : null
  if (!target.isCapable) return gone('capability_lost')
  if (!target.wasSent && !target.isCompatible) return gone('component_missing')
  if (!target.wasSent && target.isQuarantined) return gone('failed_before')
  const maxMs = target.state === 'applying' ? APPLYING_MAX_MS : OFFERED_MAX_MS
  if (target.awaitedMs < maxMs && target.waitedMs + target.awaitedMs < WAITED_MAX_MS) return null
  return { state: 'straggler', cause: causeOfSilence(target) }
}

/** Why a connected target is waited for no longer. */
export function causeOfSilence({
  state,
  hasLeft,
  runsAnother,
}: Pick<AwaitedTarget, 'state' | 'hasLeft' | 'runsAnother'>): TargetEndCause {
  if (state === 'offered') return hasLeft ? 'no_answer' : 'not_sent'
  return runsAnother ? 'runs_another' : 'apply_timeout'
}

const TITLES: Record<TargetEndCause, string> = {
  left: 'Left before it said what became of the config',
  disconnected: 'Not connected any more',
  moved_away: 'Belongs to another workload now',
  joined_rollout: 'Takes part in a staged rollout instead',
  capability_lost: 'Takes or reports no remote config any more',
  component_missing: 'Lacks a component of the config',
  failed_before: 'Failed this config before',
  no_answer: 'Did not answer any of the offers',
  not_sent: 'Could not be sent the config',
  apply_timeout: 'Config apply timed out',
  runs_another: 'Went back to another config by itself',
}

/** A target's end in words that may be shown. */
export const errorOfEnd = (cause: TargetEndCause) => ({
  cause,
  title: TITLES[cause],
  parameters: {},
  text: '',
})
