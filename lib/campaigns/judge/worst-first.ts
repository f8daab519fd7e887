import type { CampaignTargetState, CampaignVerdict } from '../../wire/campaigns.ts'

/**
 * How a campaign stands with a workload, the worst first: what somebody has to look at, then what is under way, then
 * what is well. One that is left out stands by the plan's verdict.
 */
export const WORST_FIRST: readonly (
  | Exclude<CampaignTargetState, 'left_out'>
  | `left_out:${CampaignVerdict}`
  | 'unwell'
)[] = [
  'rollback_failed',
  'failed',
  // It applied the change and became unhealthy since.
  'unwell',
  'no_answer',
  'no_way_back',
  'left_scope',
  'skipped',
  'overtaken',
  'moved_on',
  'expired',
  'left_out:refused',
  'left_out:quarantined',
  'left_out:held',
  'left_out:unmanaged',
  'rolling_back',
  'started',
  'offline',
  'waiting',
  'cancelled',
  'rolled_back',
  'applied',
  'left_out:excluded',
  'left_out:same',
]
