import { CAMPAIGN_STEP_NAMES } from '../../../lib/model/campaign-steps.ts'
import { statesThat } from '../../../lib/model/target-states.ts'
import type { CampaignRecord, CampaignStatus } from '../../../lib/wire/campaigns.ts'
import { EXIT } from '../exit-codes.ts'

/** What `muster campaign` can do with a campaign. */
export const CAMPAIGN_ACTIONS = ['list', 'get', 'plan', ...CAMPAIGN_STEP_NAMES] as const
/** One of the actions of `muster campaign`. */
export type CampaignAction = (typeof CAMPAIGN_ACTIONS)[number]

/** The statuses with which each action has succeeded. */
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
const LEFT = statesThat('astray')

/**
 * Whether the campaign goes on by itself (it is being planned, runs, rolls back or has pushes under way), or, after a
 * request, whether its approval is still to be given.
 */
export function isUnderWay({ status, planning, counts }: CampaignRecord, action: CampaignAction): boolean {
  if (planning !== undefined || status === 'running' || status === 'rolling_back') return true
  if (action === 'request') return status === 'requested'
  return (counts['started'] ?? 0) > 0
}

/**
 * The exit code of an action for `--wait` and `--exit-code`: whether the campaign is where the action leads to, with
 * every workload.
 */
export function exitCodeOf(campaign: CampaignRecord, action: Exclude<CampaignAction, 'list'>): number {
  if (action === 'request' && REFUSED.includes(campaign.status)) return EXIT.refused
  const isThere = WANTED[action].includes(campaign.status) && !isUnderWay(campaign, action)
  const isOver = campaign.status === 'done' || campaign.status === 'rolled_back'
  const isComplete =
    !isOver ||
    (campaign.in_part?.['applied'] === undefined &&
      LEFT.every((state) => (campaign.counts[state] ?? 0) === 0))
  return isThere && isComplete ? EXIT.done : EXIT.differs
}
