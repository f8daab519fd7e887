import type { Push } from '../../store/pushes.ts'

/** What of a push says whether it lifts what was failed before it. */
export type LiftingPush = Pick<Push, 'hash' | 'seq' | 'kind'>

/**
 * Does a later push lift what instances failed, or will still fail, of an earlier one? An operator who pushes the same
 * config again wants it tried again, whatever is pushed after that; a rollback by itself wants nothing of the kind.
 */
export const liftsFailuresOf = (later: LiftingPush, own: Pick<LiftingPush, 'hash' | 'seq'>): boolean =>
  later.hash === own.hash && later.seq > own.seq && later.kind !== 'auto-rollback'
