import type { Limited } from '../../../lib/model/campaign-rules.ts'
import { campaignIs } from '../../../lib/model/campaign-states.ts'
import type { CampaignStep } from '../../../lib/model/campaign-steps.ts'
import { isLapse } from '../../../lib/model/stops.ts'
import { MISSED_STATES, type MissedState, statesThat } from '../../../lib/model/target-states.ts'
import type { AutoApplyStatus } from '../../../lib/wire/auto-apply.ts'
import type {
  CampaignGroup,
  CampaignHalt,
  CampaignLimits,
  CampaignRecord,
  CampaignStatus,
  CampaignTarget,
  CampaignTargetState,
} from '../../../lib/wire/campaigns.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import type { RiskLevel } from '../../../lib/wire/plan.ts'
import type { RolloutStage } from '../../../lib/wire/rollouts.ts'
import { CAMPAIGN_TARGET_STATES } from '../../../lib/wire/values.ts'
import type { Tone } from './diagnosis.ts'
import { STAGE_LOOK } from './stages.ts'
import { namesWord, withoutComments } from './words-of-config.ts'

type CampaignLook = readonly [
  Tone,
  'full' | 'ring' | 'half' | 'tick' | 'cross' | 'triangle' | 'clock' | 'dot' | 'back',
]

/** How whatever waits for an approval looks, a single request as well as a plan. */
export const WAITS_LOOK: CampaignLook = ['warn', 'triangle']

/** The first of the states in which it went wrong somewhere; null where it did nowhere. */
export const wrongState = ({ counts }: Pick<CampaignRecord, 'counts'>): CampaignTargetState | null =>
  statesThat('went-wrong').find((state) => (counts[state] ?? 0) > 0) ?? null

/** What was said of a campaign since its last approval, the first thing first; nothing of one that was never approved. */
export function saidSince({ approvals, comments = [] }: Pick<CampaignRecord, 'approvals' | 'comments'>) {
  const approvedAt = approvals.at(-1)?.at
  if (approvedAt === undefined) return []
  return comments.flatMap(({ by: who, ...said }) => (said.at > approvedAt ? [{ who, ...said }] : []))
}

/** By what a list of campaigns is narrowed. */
export const CAMPAIGN_KINDS: Readonly<
  Record<'open' | 'over' | 'failures', (of: Pick<CampaignRecord, 'status' | 'counts'>) => boolean>
> = {
  open: ({ status }) => campaignIs(status, 'open') || campaignIs(status, 'unasked'),
  over: ({ status }) => !campaignIs(status, 'open') && !campaignIs(status, 'unasked'),
  failures: (of) => wrongState(of) !== null,
}

/** How each status of a campaign looks: its tone and its shape. */
export const CAMPAIGN_LOOK: Record<CampaignStatus, CampaignLook> = {
  draft: ['idle', 'ring'],
  planned: ['idle', 'dot'],
  requested: WAITS_LOOK,
  approved: ['busy', 'clock'],
  running: ['busy', 'half'],
  paused: ['warn', 'clock'],
  halted: ['bad', 'triangle'],
  done: ['ok', 'tick'],
  aborted: ['idle', 'cross'],
  rolling_back: ['warn', 'half'],
  rolled_back: ['warn', 'back'],
  rejected: ['idle', 'cross'],
  withdrawn: ['idle', 'cross'],
  expired: ['idle', 'cross'],
}

/** The same as a page finds it that is older than the service. */
const LOOKS: Partial<typeof CAMPAIGN_LOOK> = CAMPAIGN_LOOK

const TONES: Partial<Record<CampaignTargetState, Tone>> = {
  started: 'busy',
  rolling_back: 'busy',
  applied: 'ok',
  rolled_back: 'warn',
  failed: 'bad',
  no_answer: 'bad',
  rollback_failed: 'bad',
  skipped: 'warn',
  overtaken: 'warn',
  expired: 'warn',
  no_way_back: 'warn',
  left_scope: 'warn',
}

/** How a campaign stands with a workload; one of which some instances failed or did not answer has a `reach`. */
type Standing = Pick<CampaignTarget, 'state' | 'reach' | 'unhealthy_since'>

/** Whether a target has the change on some of its instances only, for good. */
export const isAppliedInPart = ({ state, reach }: Standing): boolean =>
  state === 'applied' && reach !== undefined

/** The tone of how a campaign stands with a workload. */
export const toneOfTarget = (target: Standing): Tone =>
  target.unhealthy_since !== undefined
    ? 'bad'
    : isAppliedInPart(target)
      ? 'warn'
      : (TONES[target.state] ?? 'idle')

const SHAPES: Record<Tone, CampaignLook[1]> = {
  ok: 'tick',
  bad: 'cross',
  warn: 'triangle',
  busy: 'half',
  idle: 'dot',
}

/**
 * The shape of how a campaign stands with a workload: what failed and what was applied differ without their colours, and
 * one that was rolled back looks like a campaign that was. One that became unhealthy with the change has not failed it.
 */
export function shapeOfTarget(target: Standing): CampaignLook[1] {
  if (target.state === 'rolled_back') return CAMPAIGN_LOOK.rolled_back[1]
  return target.unhealthy_since === undefined ? SHAPES[toneOfTarget(target)] : 'triangle'
}

/**
 * How a campaign looks now: one that is done is only well where every workload runs it, and one that goes on is not well
 * once some failed or became unhealthy with it.
 */
export function lookOf({
  status,
  counts,
  in_part: inPart,
  held_up: heldUp,
  became_unhealthy: unwell,
}: Pick<CampaignRecord, 'status' | 'counts' | 'held_up' | 'became_unhealthy'> & {
  in_part?: Readonly<Record<string, unknown>>
}): CampaignLook {
  const isMissed = countMissing(counts).length > 0 || inPart?.['applied'] !== undefined
  if (status === 'done' && isMissed) return ['warn', 'triangle']
  const hasFailed = unwell !== undefined || statesThat('went-wrong').some((state) => (counts[state] ?? 0) > 0)
  if (status === 'running' && !hasFailed && heldUp !== undefined) return ['warn', 'clock']
  return status === 'running' && hasFailed ? ['bad', 'half'] : (LOOKS[status] ?? ['idle', 'dot'])
}

/** How many workloads of a campaign that has ended do not run it though they should, by why; none that is zero. */
export const countMissing = (counts: Readonly<Record<string, number>>): (readonly [MissedState, number])[] =>
  MISSED_STATES.flatMap((state) => {
    const count = counts[state] ?? 0
    return count > 0 ? [[state, count] as const] : []
  })

/** Counts of workloads by how they stand, in one order wherever they are shown. */
export const inOrder = (
  counts: Readonly<Record<string, number>>,
): (readonly [CampaignTargetState, number])[] =>
  CAMPAIGN_TARGET_STATES.flatMap((state) => {
    const count = counts[state]
    return count === undefined ? [] : [[state, count] as const]
  })

/** The parts of a bar: who runs the change, what failed, what is under way, who was taken back from it. */
export function toBar(
  counts: Readonly<Record<string, number>>,
): (readonly ['ok' | 'bad' | 'busy' | 'warn', number])[] {
  const sum = (...states: CampaignTargetState[]) =>
    states.reduce((total, state) => total + (counts[state] ?? 0), 0)
  return [
    ['ok', sum('applied')],
    ['bad', sum(...MISSED_STATES)],
    ['busy', sum(...statesThat('under-way'))],
    ['warn', sum('rolled_back')],
  ]
}

/**
 * How far a campaign is with a wave, in the words of the stages of a rollout; null where nothing is to be said of waves:
 * before it is started, while it is paused, and once it is taken back.
 */
export function waveStateOf(
  of: Pick<CampaignRecord, 'status' | 'wave' | 'wave_ends_at' | 'started_at' | 'held_up'>,
  wave: number,
): RolloutStage['status'] | null {
  if (of.started_at === undefined) return null
  if (of.status === 'done') return 'done'
  const now = {
    running: of.wave_ends_at === undefined ? 'running' : 'dwelling',
    halted: 'halted',
    aborted: 'aborted',
  } as const
  if (of.status !== 'running' && of.status !== 'halted' && of.status !== 'aborted') return null
  if (wave < of.wave) return 'done'
  if (wave === of.wave) return of.held_up === undefined ? now[of.status] : 'waiting'
  return of.status === 'aborted' ? 'aborted' : 'waiting'
}

/** How a wave looks in this state: one that is done is only well where every workload of it runs the change. */
export const lookOfWave = (
  state: RolloutStage['status'],
  counts: Readonly<Record<string, number>>,
): (typeof STAGE_LOOK)[RolloutStage['status']] =>
  state === 'done' && countMissing(counts).length > 0 ? ['warn', 'triangle'] : STAGE_LOOK[state]

/** How the status of a version that applies by itself looks. */
export const AUTO_APPLY_LOOK: Record<AutoApplyStatus, CampaignLook> = {
  requested: WAITS_LOOK,
  active: ['ok', 'full'],
  paused: ['idle', 'half'],
  held: ['bad', 'cross'],
  ended: ['idle', 'dot'],
  rejected: ['idle', 'cross'],
  withdrawn: ['idle', 'cross'],
  expired: ['idle', 'cross'],
}

/**
 * How many workloads that got a campaign's version by itself are rolled back with it, and how many of these have nothing
 * to go back to; null for none. A campaign that is cut to scopes leaves the others alone.
 */
export function rolledBackToo({
  by_itself: kept,
}: Pick<CampaignRecord, 'by_itself'>): { count: number; without_base: number } | null {
  const back = kept?.in_cut ?? kept
  return back === undefined || back.count === 0 ? null : back
}

/** The limits that a campaign which halted has passed: as they stand now, or at least the one that it halted over. */
export const passedBy = ({
  halt,
}: Pick<CampaignRecord, 'halt'>): readonly Pick<CampaignHalt, 'gate' | 'value' | 'limit'>[] =>
  halt === undefined ? [] : halt.passed?.length ? halt.passed : [halt]

/**
 * The limit over which a campaign that halted would halt again at once, were it to go on with these limits; null where it
 * would not, or nobody knows.
 */
export function haltsAgainOver(
  { status, halt }: Pick<CampaignRecord, 'status' | 'halt'>,
  limits: CampaignLimits = {},
): Pick<CampaignHalt, 'gate' | 'value' | 'limit'> | null {
  if (status !== 'halted' || halt?.holds !== true || isLapse(halt.gate)) return null
  return (
    passedBy({ halt }).find(({ gate, value, limit }) => (limits[gate as Limited] ?? limit) < value) ?? null
  )
}

/** Steps that lead a campaign on: only these stand out. What stops it or takes it back is there, and not urged. */
const LEADS_ON: ReadonlySet<CampaignStep> = new Set(['request', 'approve', 'start', 'continue'])

/** Whether a step is urged: it leads on, and to more than the same halt. */
export const isUrged = (step: CampaignStep, of: Pick<CampaignRecord, 'status' | 'halt'>): boolean =>
  LEADS_ON.has(step) && !(step === 'continue' && haltsAgainOver(of) !== null)

/** The destinations that a campaign's text, or what its patch puts in, names and that others cannot reach now. */
export function listFailingThere(
  { change }: Pick<CampaignRecord, 'change'>,
  destinations: readonly ExportDestination[],
): ExportDestination[] {
  const text =
    change.kind === 'text'
      ? change.yaml && withoutComments(change.yaml)
      : change.kind === 'patch' && change.patch?.merge
        ? JSON.stringify(change.patch.merge)
        : undefined
  if (text === undefined) return []
  return destinations.filter(({ failing, address = '' }) => {
    const host = address.replace(/:\d+$/, '')
    return failing !== undefined && host !== '' && namesWord(text, host)
  })
}

const RISKS: readonly RiskLevel[] = ['high', 'medium', 'low', 'none']

/** The highest risk among the groups of a plan; null where it is not known of one, and none is high. */
export function worstRiskOf(groups: readonly Pick<CampaignGroup, 'risk'>[]): RiskLevel | null {
  const worst = RISKS.find((risk) => groups.some((group) => group.risk === risk)) ?? null
  return worst !== 'high' && groups.some(({ risk }) => risk === undefined) ? null : worst
}
