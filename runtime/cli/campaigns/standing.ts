import type { CampaignRecord, CampaignStatus, CampaignTargetState } from '../../../lib/wire/campaigns.ts'
import { EXIT } from '../exit-codes.ts'

/** What can be asked of a campaign from a shell. */
export const CAMPAIGN_ACTIONS = [
  'list',
  'get',
  'plan',
  'request',
  'approve',
  'reject',
  'withdraw',
  'start',
  'pause',
  'continue',
  'abort',
  'roll-back',
] as const
export type CampaignAction = (typeof CAMPAIGN_ACTIONS)[number]

/** Where each action leads when all is well; whoever waits for one waits for this. */
const WANTED: Readonly<Record<Exclude<CampaignAction, 'list'>, readonly CampaignStatus[]>> = {
  get: ['done', 'rolled_back'],
  plan: ['planned'],
  request: ['approved', 'running', 'paused', 'halted', 'done'],
  approve: ['approved'],
  reject: ['rejected'],
  withdraw: ['withdrawn'],
  start: ['done'],
  pause: ['paused'],
  continue: ['done'],
  abort: ['aborted'],
  'roll-back': ['rolled_back'],
}
const REFUSED: readonly CampaignStatus[] = ['rejected', 'withdrawn', 'expired']
/** Workloads that are not as the campaign would have them. */
const LEFT: readonly CampaignTargetState[] = [
  ...(['offline', 'failed', 'no_answer', 'overtaken', 'skipped', 'expired'] as const),
  ...(['rollback_failed', 'moved_on', 'no_way_back'] as const),
]

/** Whether something goes on by itself, or, after a request, whether somebody is still to answer. */
export function isUnderWay({ status, planning, counts }: CampaignRecord, action: CampaignAction): boolean {
  if (planning !== undefined || status === 'running' || status === 'rolling_back') return true
  if (action === 'request') return status === 'requested'
  return (counts['started'] ?? 0) > 0
}

/** How a command ends that was asked to say whether a campaign stands as it should. */
export function exitCodeOf(campaign: CampaignRecord, action: Exclude<CampaignAction, 'list'>): number {
  if (action === 'request' && REFUSED.includes(campaign.status)) return EXIT.refused
  const isThere = WANTED[action].includes(campaign.status) && !isUnderWay(campaign, action)
  const isOver = campaign.status === 'done' || campaign.status === 'rolled_back'
  const isComplete = !isOver || LEFT.every((state) => (campaign.counts[state] ?? 0) === 0)
  return isThere && isComplete ? EXIT.done : EXIT.differs
}
