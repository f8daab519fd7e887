import type { ApprovalSummary } from '../../../lib/wire/approvals.ts'

type Waiting = Pick<ApprovalSummary, 'tally' | 'nobody_can_approve'>

const rankOf = ({ tally, nobody_can_approve: isStuck }: Waiting): number =>
  tally?.own === 'counts' ? 0 : isStuck ? 2 : 1

/** What waits for the reader first, then for others, and what waits for nobody last; each as it came. */
export const mineFirst = <A extends Waiting>(of: readonly A[]): A[] =>
  [...of].sort((a, b) => rankOf(a) - rankOf(b))
