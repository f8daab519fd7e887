import type { PushTarget } from '../../store/push-targets.ts'
import type { FollowedPush, Instance, Workload } from './model.ts'

/** An instance that a push was planned for, and what is stored of it as a target. */
export interface PlannedTarget {
  instance: Instance
  target: PushTarget
}

/**
 * What a part of the fleet has done that other parts have to act on. The part that did it does not know them: `Fleet`
 * takes each outcome at once and calls them in one switch.
 */
export type Outcome =
  /** The offer decision for an instance may have changed, though it has said nothing. */
  | { kind: 'offer-due'; instance: Instance }
  /** An instance is to be offered again what it was lost with too often, each time soon after it had applied it. */
  | { kind: 'died-too-often'; instance: Instance }
  /** The effective config of an instance was read. */
  | { kind: 'effective-config-read'; instance: Instance }
  /** A target of a push changed its state, or another set of instances counts for the push. */
  | { kind: 'target-moved'; followed: FollowedPush }
  /** A push is judged to have failed; told each time that it is judged so. */
  | { kind: 'push-failed'; workload: Workload; followed: FollowedPush }
  /** A push was committed and assigned to a workload or some of its instances: those that it was planned for. */
  | { kind: 'assigned'; workload: Workload; followed: FollowedPush; targets: readonly PlannedTarget[] }
  /** A change of what is assigned was decided or taken back: offers go on. */
  | { kind: 'assignments-confirmed'; workload: Workload }
  /** A stage of a rollout was started, promoted or resumed; `joined` are its new members, perhaps none. */
  | { kind: 'members-joined'; workload: Workload; followed: FollowedPush; joined: readonly Instance[] }
  /** A rollout's config became what the whole workload should run. */
  | { kind: 'rollout-completed'; workload: Workload; followed: FollowedPush }
  /** A workload was deleted from the database. */
  | { kind: 'workload-gone'; workload: Workload }

/** Where the parts of the fleet say what they have done. */
export type Tell = (outcome: Outcome) => void
