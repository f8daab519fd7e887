import { waitsForApproval } from '../../../lib/model/campaign-steps.ts'
import { isLapse } from '../../../lib/model/stops.ts'
import { statesThat } from '../../../lib/model/target-states.ts'
import type {
  CampaignHalt,
  CampaignRecord,
  CampaignStatus,
  CampaignTarget,
  CampaignTargetState,
} from '../../../lib/wire/campaigns.ts'
import { countMissing } from '../logic/campaigns.ts'
import { campaignTexts } from './campaigns.ts'
import { describeCause } from './causes.ts'
import { changeFeedTexts } from './change-feed.ts'
import { say } from './define.ts'
import { formatLeft } from './format.ts'

/** Why a campaign halted, and what most of the failed workloads failed of. */
export function describeHalt({
  gate,
  value,
  limit,
  wave,
  cause,
  title,
}: Pick<CampaignHalt, 'gate' | 'value' | 'limit' | 'wave' | 'cause' | 'title'>): string[] {
  const words = say(campaignTexts)
  const why = describeCause(cause, title)
  return [words.halt[gate](value, limit, wave + 1), ...(why === '' ? [] : [words.haltCause(why)])]
}

/** What to do about a campaign that halted. One whose approval does not hold any more would only halt again. */
export const describeHaltNext = ({ gate }: Pick<CampaignHalt, 'gate'>): string =>
  isLapse(gate) ? say(campaignTexts).haltLapseNext : say(campaignTexts).haltNext

/** Whether a campaign is to have been carried out nowhere: then it counts who was taken back from it. */
const goesBack = (status: CampaignStatus): boolean => status === 'rolling_back' || status === 'rolled_back'

/** How many workloads a campaign has reached; of one that is taken back, how many have their former config again. */
export function describeReach(status: CampaignStatus, counts: CampaignRecord['counts'], all: number): string {
  const sum = (...states: CampaignTargetState[]) =>
    states.reduce((total, state) => total + (counts[state] ?? 0), 0)
  return goesBack(status)
    ? say(campaignTexts).takenBack(sum('rolled_back'), all)
    : say(changeFeedTexts).reached(sum('applied'), sum(...statesThat('went-wrong')), all)
}

/** Why a campaign stands so with a workload. */
export function describeTarget({
  title,
  reason,
  cause,
}: Pick<CampaignTarget, 'title' | 'reason' | 'cause'>): string {
  const what = describeCause(cause, title)
  if (cause !== undefined || reason === undefined) return what
  return [say(campaignTexts).reason[reason], ...(what === '' ? [] : [what])].join(': ')
}

/** What a campaign does at `nowMs` (Unix time), in one sentence, and what comes next. */
export function describeCampaign(of: CampaignRecord, nowMs: number): string[] {
  const words = say(campaignTexts)
  const away = of.counts['offline'] ?? 0
  const more = away > 0 && ['running', 'done', 'paused'].includes(of.status) ? [words.away(away)] : []
  if (of.planning !== undefined) return [words.planning(of.planning.done, of.planning.total)]
  if (of.status === 'halted' && of.halt !== undefined) {
    return [...describeHalt(of.halt), describeHaltNext(of.halt)]
  }
  const missing = countMissing(of.counts)
  if (of.status === 'done' && missing.length > 0) {
    const done = words.doneBut(of.counts['applied'] ?? 0, of.plan?.target_count ?? 0)
    return [done, ...missing.map(([state, count]) => words.missing[state](count)), ...more]
  }
  if (of.status === 'approved' && waitsForApproval(of)) return [words.sentence.lapsed]
  if (of.status !== 'running')
    return [words.sentence[of.status as keyof typeof words.sentence] ?? '', ...more]
  if (of.wave_ends_at !== undefined) {
    // The clock of the browser may be behind that of the service: a wave is never watched for longer than its plan says.
    const dwellMs = (of.plan?.waves[of.wave]?.dwell_seconds ?? 0) * 1000
    const left = Math.min(Date.parse(of.wave_ends_at) - nowMs, dwellMs)
    return [words.watching(of.wave + 1, formatLeft(left)), ...more]
  }
  const total = of.plan?.target_count ?? 0
  return [words.running(of.wave + 1, of.plan?.waves.length ?? 1, of.counts['applied'] ?? 0, total), ...more]
}
