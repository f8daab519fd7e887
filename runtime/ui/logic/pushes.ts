import type { RevisionRecord } from '../../../lib/wire/revisions.ts'

/** Whether a push is under way, or waits: nothing has ended it yet. */
export const isOpen = ({ status, phase }: Pick<RevisionRecord, 'status' | 'phase'>): boolean =>
  status === 'pending' && phase !== 'superseded' && phase !== 'aborted'
