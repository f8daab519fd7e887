import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { Shape } from '../parts/icons.tsx'
import { WAITS_LOOK } from './campaigns.ts'
import type { Tone } from './diagnosis.ts'

/** How the state of a request looks. */
export const REQUEST_LOOK: Record<ApprovalRecord['status'], readonly [Tone, Shape]> = {
  pending: WAITS_LOOK,
  approved: ['busy', 'clock'],
  pushed: ['ok', 'tick'],
  rejected: ['bad', 'cross'],
  withdrawn: ['idle', 'cross'],
  retired: ['idle', 'dot'],
}
