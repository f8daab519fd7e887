import type {
  CampaignContinueRequest,
  CampaignDecisionRequest,
  CampaignLimits,
  CampaignRecord,
  CampaignStatus,
} from '../wire/campaigns.ts'
import type { Permission } from './permissions.ts'

interface StepRule {
  /** The statuses in which it can be taken; of `approve` see `isApprovalOpen`, of `done` see `hasLeftOpen`. */
  from: readonly CampaignStatus[]
  /** Needed on all that the campaign can reach. */
  permission: Permission
  /** When a comment is needed. */
  comment: 'free' | 'needed' | 'with-limits'
  /** What is sent beside the comment. */
  sends: readonly ('plan_hash' | 'prod_confirmation' | 'limits')[]
}

/**
 * What people decide about a campaign, the most likely step of a status first: the one table that the service, the
 * console and the command line go by. The keys are the ends of the endpoints' addresses.
 */
export const CAMPAIGN_STEPS = {
  request: {
    from: ['planned'],
    permission: 'config:request',
    comment: 'free',
    sends: ['plan_hash', 'prod_confirmation'],
  },
  approve: {
    from: ['requested', 'approved'],
    permission: 'config:approve',
    comment: 'needed',
    sends: ['plan_hash'],
  },
  start: { from: ['approved'], permission: 'workload:push_config', comment: 'free', sends: [] },
  reject: { from: ['requested', 'approved'], permission: 'config:approve', comment: 'needed', sends: [] },
  withdraw: {
    from: ['requested', 'approved'],
    permission: 'config:request',
    comment: 'free',
    sends: [],
  },
  pause: { from: ['running', 'done'], permission: 'workload:push_config', comment: 'free', sends: [] },
  continue: {
    from: ['paused', 'halted'],
    permission: 'workload:push_config',
    comment: 'with-limits',
    sends: ['limits'],
  },
  abort: {
    from: ['running', 'paused', 'halted', 'done'],
    permission: 'workload:push_config',
    comment: 'free',
    sends: [],
  },
  'roll-back': {
    from: ['running', 'paused', 'halted', 'aborted', 'done'],
    permission: 'workload:push_config',
    comment: 'free',
    sends: [],
  },
} as const satisfies Record<string, StepRule>

/** One of the decisions about a campaign. */
export type CampaignStep = keyof typeof CAMPAIGN_STEPS

/** All decisions about campaigns, in the order of the table. */
export const CAMPAIGN_STEP_NAMES = Object.keys(CAMPAIGN_STEPS) as CampaignStep[]

/** The body of a decision, as it goes over the wire. */
export type CampaignStepBody = Required<Omit<CampaignDecisionRequest & CampaignContinueRequest, 'limits'>> & {
  limits: CampaignLimits
}

/** The part of a decision that belongs to a step: `continue` refuses fields that it does not know. */
export function toStepBody(step: CampaignStep, said: CampaignStepBody): Partial<CampaignStepBody> {
  const rule: StepRule = CAMPAIGN_STEPS[step]
  const parts = rule.sends.map((field) => [field, said[field]] as const)
  return { comment: said.comment, ...Object.fromEntries(parts) }
}

/** Whether a decision needs a comment; `limits` are those that it raises. */
export function needsComment(step: CampaignStep, limits: CampaignLimits = {}): boolean {
  const { comment } = CAMPAIGN_STEPS[step]
  return comment === 'needed' || (comment === 'with-limits' && Object.keys(limits).length > 0)
}

/**
 * Whether a plan waits for an approval: until enough were given, and again where one of them counts no more, because it
 * got too old or its approver lost the right.
 */
export const isApprovalOpen = ({
  status,
  isEnough,
}: {
  status: CampaignStatus
  isEnough: boolean
}): boolean => status === 'requested' || (status === 'approved' && !isEnough)

/** Whether the plan of a campaign waits for an approval, as its record says. */
export const waitsForApproval = ({ status, tally }: Pick<CampaignRecord, 'status' | 'tally'>): boolean =>
  isApprovalOpen({ status, isEnough: tally === undefined || tally.given >= tally.needed })

/**
 * Whether a campaign of these targets, by state, still has to do with some of them. One that is done has where workloads
 * were away: only then can it be paused and aborted.
 */
export const hasLeftOpen = (counts: Readonly<Record<string, number>>): boolean =>
  (counts['offline'] ?? 0) + (counts['started'] ?? 0) > 0

/** Whether targets of a campaign, by state, are still to be changed, or are being changed. */
export const hasToBeChanged = (counts: Readonly<Record<string, number>>): boolean =>
  hasLeftOpen(counts) || (counts['waiting'] ?? 0) > 0

/** Why a step would lead nowhere: the codes that it is refused with. */
export type DeadEnd = 'campaign-changes-nothing' | 'campaign-nothing-left' | 'campaign-no-way-back'

/** What taking a campaign back would do, in workloads. */
export type WayBack = NonNullable<CampaignRecord['way_back']>

/**
 * Why a step that the status allows leads nowhere; null where it leads on. Nobody is asked to approve a plan that changes
 * nothing. A campaign that halted goes on where a workload is left to be changed, and where stages halted inside one,
 * which wait for the campaign; it comes to its end where some run what it brought. One that stands still is taken back where some workload has a former config; that of a version also
 * ends its applying by itself.
 */
export function findDeadEnd(
  step: CampaignStep,
  {
    status,
    plan,
    counts,
    change,
    way_back: wayBack,
    stages_halted: stagesHalted = 0,
  }: Pick<CampaignRecord, 'status' | 'counts' | 'stages_halted'> & {
    plan?: { target_count: number } | null | undefined
    change: { kind: CampaignRecord['change']['kind'] }
    way_back?: WayBack | undefined
  },
): DeadEnd | null {
  if (step === 'request' && plan?.target_count === 0) return 'campaign-changes-nothing'
  if (step === 'roll-back') {
    const isFutile = STANDS_STILL.includes(status) && keepsAll(wayBack) && change.kind !== 'version'
    return isFutile ? 'campaign-no-way-back' : null
  }
  const leadsOn = hasToBeChanged(counts) || stagesHalted > 0 || (counts['applied'] ?? 0) > 0
  const isStuck = status === 'halted' && !leadsOn
  return step === 'continue' && isStuck ? 'campaign-nothing-left' : null
}

/** Whether some run what a campaign brought, and none of them has a former config. */
const keepsAll = (of: WayBack | undefined): boolean => of?.goes_back === 0 && of.no_way_back > 0

/** Statuses in which nothing is started: it stops nothing to take the campaign back. */
const STANDS_STILL: readonly CampaignStatus[] = ['halted', 'aborted', 'done']

/** The steps that a campaign which is done takes only while it still has to do with targets. */
const STOPS: readonly CampaignStep[] = ['pause', 'abort']

/** Whether a step leads from a status, of a campaign with these targets by state. */
export function isStepFrom(
  step: CampaignStep,
  { status, counts }: Pick<CampaignRecord, 'status' | 'counts'>,
): boolean {
  const from: readonly CampaignStatus[] = CAMPAIGN_STEPS[step].from
  return from.includes(status) && (status !== 'done' || !STOPS.includes(step) || hasLeftOpen(counts))
}

/** The decisions that can be taken now, the most likely one first. */
export function listSteps(campaign: Pick<CampaignRecord, 'status' | 'tally' | 'counts'>): CampaignStep[] {
  const { status } = campaign
  const possible = CAMPAIGN_STEP_NAMES.filter((step) => isStepFrom(step, campaign))
  const isLapsed = status === 'approved' && waitsForApproval(campaign)
  return possible.filter((step) =>
    step === 'approve' ? waitsForApproval(campaign) : step !== 'start' || !isLapsed,
  )
}
