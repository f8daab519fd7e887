import type { FollowedPush, Instance, Workload } from './model.ts'

/**
 * What a part of the fleet has done that others have to act on. The part that did it knows none of them: `Fleet` takes
 * each outcome at once and says in one switch what follows from it.
 */
export type Outcome =
  /** What an instance is offered may be another thing now, although it has said nothing. */
  | { kind: 'offer-due'; instance: Instance }
  /** What an instance runs in effect was read and is known now. */
  | { kind: 'effective-config-read'; instance: Instance }
  /** A target of a push, or who counts for it, is not where it was. */
  | { kind: 'target-moved'; followed: FollowedPush }
  /** A push is judged to have failed; said each time that it is. */
  | { kind: 'push-failed'; workload: Workload; followed: FollowedPush }
  /** A push was committed and is what its workload, or some of its instances, should run; `first` are offered it first. */
  | { kind: 'assigned'; workload: Workload; followed: FollowedPush; first: ReadonlySet<Instance> }
  /** What was in the balance is decided, or was taken back: offers go on. */
  | { kind: 'assignments-settled'; workload: Workload }
  /** More instances take part in a rollout. */
  | { kind: 'members-joined'; workload: Workload; followed: FollowedPush; joined: readonly Instance[] }
  /** A rollout's config became what the whole workload should run. */
  | { kind: 'rollout-completed'; workload: Workload; followed: FollowedPush }
  /** A workload is in the database no more. */
  | { kind: 'workload-gone'; workload: Workload }

/** Where the parts of the fleet say what they have done. */
export type Tell = (outcome: Outcome) => void
