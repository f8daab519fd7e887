import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { Shape } from '../parts/icons.tsx'
import type { Tone } from './diagnosis.ts'

/** How the state of a request looks. */
export const REQUEST_LOOK: Record<ApprovalRecord['status'], readonly [Tone, Shape]> = {
  pending: ['warn', 'triangle'],
  approved: ['ok', 'tick'],
  pushed: ['ok', 'full'],
  rejected: ['bad', 'cross'],
  withdrawn: ['idle', 'cross'],
  retired: ['idle', 'dot'],
}
