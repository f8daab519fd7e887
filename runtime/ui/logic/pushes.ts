import type { PushAftermath, RevisionRecord } from '../../../lib/wire/revisions.ts'

/** Whether a push is under way, or waits: nothing has ended it yet. */
export const isOpen = ({ status, phase }: Pick<RevisionRecord, 'status' | 'phase'>): boolean =>
  status === 'pending' && phase !== 'superseded' && phase !== 'aborted'

/** Ends of a failed push after which only another push helps. */
export const NEEDS_A_PUSH: ReadonlySet<PushAftermath['kind']> = new Set(['nowhere_to_go', 'rollback_failed'])

/** Whether the history holds a config that somebody could choose to go back to. */
export const hasRollbackTarget = (history: readonly RevisionRecord[]): boolean =>
  history.some(({ status, is_current: isCurrent }) => status === 'applied' && !isCurrent)
