import type { Push } from '../../store/pushes.ts'

/** The parts of a push that decide whether it lifts the quarantines of an earlier one. */
export type LiftingPush = Pick<Push, 'hash' | 'seq' | 'kind'>

/**
 * Does a later push lift the quarantines of an earlier one, those still to come included? Whoever pushes the same
 * config again wants it tried again, whatever is pushed after that; an automatic rollback does not mean that.
 */
export const liftsFailuresOf = (later: LiftingPush, own: Pick<LiftingPush, 'hash' | 'seq'>): boolean =>
  later.hash === own.hash && later.seq > own.seq && later.kind !== 'auto-rollback'
