import type { AboutError } from '../../../lib/model/alert-about.ts'
import {
  type CampaignStep,
  findDeadEnd,
  hasToBeChanged,
  waitsForApproval,
} from '../../../lib/model/campaign-steps.ts'
import { countLeftOut, isRefusal, type LeftOut } from '../../../lib/model/left-out.ts'
import { isOverByItself } from '../../../lib/model/stage-holds.ts'
import { isLapse } from '../../../lib/model/stops.ts'
import { statesThat } from '../../../lib/model/target-states.ts'
import type {
  CampaignHalt,
  CampaignMiss,
  CampaignPlan,
  CampaignReason,
  CampaignRecord,
  CampaignStatus,
  CampaignTarget,
  CampaignTargetState,
  CampaignVerdict,
} from '../../../lib/wire/campaigns.ts'
import type { ExportDestination } from '../../../lib/wire/destinations.ts'
import { countMissing, isAppliedInPart } from '../logic/campaigns.ts'
import { namedAt } from '../logic/workloads.ts'
import { describeAftermath } from './aftermath.ts'
import { hasGoneBack } from './campaign-status.ts'
import { campaignTexts } from './campaigns.ts'
import { describeError, describeWhy } from './causes.ts'
import { changeFeedTexts } from './change-feed.ts'
import { say } from './define.ts'
import { formatAgo, formatClock, formatExact, formatLeft, formatList, formatNumber } from './format.ts'
import { sayProblem } from './problems.ts'
import { describeHold } from './rollout.ts'
import { describeReason, describeTrouble } from './trouble.ts'

/** How a workload is named among those that are shown. */
type NameIn = (name: string, place: string | undefined) => string

/** A name for a record that is kept, such as a report: it does not depend on what else the fleet has. */
const nameInFull: NameIn = (name, place = '') => namedAt(name, place, false)

/** What is said of a halt beside its record: of what workloads failed in their own words, and how they are called. */
interface BesideHalt {
  about?: AboutError
  /** Whether all of them failed of one cause; `most` where that is not known. */
  share?: 'all' | 'most'
  /** Where the record names nobody. */
  called?: readonly string[]
}

/** Why a campaign halted, and what most of the failed workloads failed of. */
export function describeHalt(
  {
    gate,
    value,
    limit,
    wave,
    cause,
    title,
    workloads = [],
    approvers = [],
  }: Pick<CampaignHalt, 'gate' | 'value' | 'limit' | 'wave' | 'cause' | 'title' | 'workloads' | 'approvers'>,
  nameIn: NameIn = nameInFull,
  { about = {}, called = [], share = 'most' }: BesideHalt = {},
): string[] {
  const words = say(campaignTexts)
  const why = describeWhy({ ...about, error_cause: cause, error_title: title })
  const all = [
    ...workloads.map(({ workload_name: name, workload_place: place }) => nameIn(name, place)),
    ...called,
    ...approvers,
  ]
  const names = all.slice(0, NAMES_SHOWN)
  const more = value - names.length
  const said = formatList([...names, ...(more > 0 ? [words.haltMore(more)] : [])])
  return [
    words.halt[gate](value, limit, wave + 1),
    ...(names.length === 0 ? [] : [`${said}.`]),
    ...(why === '' ? [] : [words.haltCause(why, value, share === 'all')]),
  ]
}

/** What those failed of that a campaign halted over, and whether all of them did, as far as that was read. */
function aboutHalt({ gate, cause, value }: CampaignHalt, missed: readonly CampaignMiss[]): BesideHalt {
  const alike = gate === 'failed' ? missed.filter((one) => one.state === 'failed' && one.cause === cause) : []
  const [miss] = alike
  if (miss === undefined) return {}
  const count = alike.reduce((sum, one) => sum + one.count, 0)
  return {
    about: { error_parameters: miss.error_parameters, error_message: miss.error_message },
    share: count >= value ? 'all' : 'most',
  }
}

/** Workloads that a halt names; the list beneath has all. */
const NAMES_SHOWN = 3

/** Ends of a failed push after which a workload is left with what fails. */
const STUCK = ['went_back_in_part', 'rollback_failed', 'nowhere_to_go'] as const

/** Those of them after which it has gone back nowhere. */
const NONE_BACK: ReadonlySet<string> = new Set(['rollback_failed', 'nowhere_to_go'])

/** What became of the workloads that failed, in sentences; none where that was not read. */
export function describeFailedSince({
  failed_since: counts = {},
}: Pick<CampaignRecord, 'failed_since'>): string[] {
  const words = say(campaignTexts)
  const kinds = (Object.keys(words.failedAs) as (keyof typeof words.failedAs)[]).filter(
    (kind) => (counts[kind] ?? 0) > 0,
  )
  if (kinds.length === 0) return []
  const [only] = kinds
  if (kinds.length === 1 && only !== undefined && NONE_BACK.has(only) && (counts[only] ?? 0) > 1)
    return [words.failedNoneBack]
  const stuck = STUCK.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0)
  return [
    words.failedSince(formatList(kinds.map((kind) => words.failedAs[kind](counts[kind] ?? 0)))),
    ...(stuck > 0 ? [words.failedStuck(stuck)] : []),
  ]
}

/** Whom it reaches to end a campaign or to take it back, and whom it does not help. */
export function describeUndone(step: 'abort' | 'roll-back', of: CampaignRecord): string {
  const words = say(campaignTexts)
  const count = (...states: CampaignTargetState[]) =>
    states.reduce((sum, state) => sum + (of.counts[state] ?? 0), 0)
  const { way_back: back } = of
  // Those that are to run something else by now do not keep it either.
  const kept = count('applied', 'started') - (back?.moved_on ?? 0)
  const whom =
    step === 'roll-back' ? describeWayBack(of) : words.undoneStay(kept, count('waiting', 'offline'))
  return [whom, ...describeFailedSince(of)].join(' ')
}

/** Whom a planned campaign reaches, in one sentence; '' without a plan. */
export function describeScale({ plan }: Pick<CampaignRecord, 'plan'>): string {
  if (plan === undefined) return ''
  const words = say(campaignTexts)
  const waves = plan.waves.filter(({ target_count: count }) => count > 0)
  const { production_count: production, no_way_back_count: stuck } = plan
  return `${[
    words.goesTo(plan.target_count, plan.instance_count, formatList(plan.environments)),
    ...(production > 0 ? [words.goesProduction(production)] : []),
    ...(stuck > 0 ? [words.goesNoWayBack(stuck)] : []),
    words.goesFirst(waves[0]?.target_count ?? 0, waves.length),
  ].join(', ')}.`
}

/** Who goes back to a former config, who has none, and who is left alone. */
function describeWayBack({ way_back: back }: Pick<CampaignRecord, 'way_back'>): string {
  if (back === undefined) return ''
  const words = say(campaignTexts).undoneBack
  const { goes_back: goes, no_way_back: stays, moved_on: moved, left_scope: left = 0 } = back
  return `${[
    words.goes_back(goes),
    ...(stays > 0 ? [words.no_way_back(stays)] : []),
    ...(moved > 0 ? [words.moved_on(moved)] : []),
    ...(left > 0 ? [words.left_scope(left)] : []),
  ].join('; ')}.`
}

/**
 * On how many workloads only some instances have the change, or are getting it, on which, and until when these are waited
 * for; none where on none.
 */
function describeInPart(
  { in_part: found, plan }: Pick<CampaignRecord, 'in_part' | 'plan'>,
  state: 'applied' | 'started',
  nowMs: number,
  nameIn: NameIn,
): string[] {
  const of = found?.[state]
  if (of === undefined) return []
  const words = say(campaignTexts)
  // Where the browser's clock is ahead, or the service began its wait anew, no time says anything.
  const until = of.until !== undefined && Date.parse(of.until) > nowMs ? of.until : null
  const wait = until === null ? [] : [words.openUntil(formatClock(until))]
  const names = of.workloads.map(({ workload_name: name, workload_place: place }) => nameIn(name, place))
  const what =
    state === 'applied'
      ? words.donePart(of.workload_count, plan?.target_count ?? 0, of.instance_count)
      : words.openPart(of.workload_count, of.instance_count)
  // Somebody with a scope may be shown none of them by name.
  if (names.length === 0) return [`${what}.`, ...wait]
  return [
    words.missingWho(what, words.missedSuch(formatList(names), of.workload_count - names.length)),
    ...wait,
  ]
}

/**
 * How many workloads became unhealthy since a campaign came to them, which and of what, and, while it goes on, how many
 * may; none where nobody did.
 */
function describeBecameUnhealthy(
  { became_unhealthy: found, status }: Pick<CampaignRecord, 'became_unhealthy' | 'status'>,
  nameIn: NameIn,
): string[] {
  if (found === undefined) return []
  const words = say(campaignTexts)
  return [
    words.becameUnhealthy(found.count, listUnwell(found.count, found.workloads, nameIn)),
    ...(status === 'running' ? [words.mayBecome(found.limit)] : []),
  ]
}

/**
 * What is the matter with a workload that became unhealthy since a campaign came to it, or that is not well while the
 * campaign has yet to come to it; empty for any other.
 */
function describeUnwell({
  unhealthy_since: since,
  trouble = since,
}: Pick<CampaignTarget, 'unhealthy_since' | 'trouble'>): string {
  if (trouble === undefined) return ''
  return [describeTrouble(trouble), describeReason(trouble)].filter((part) => part !== '').join(', ')
}

/** The first of some workloads by name, each with what is the matter, and how many more there are. */
function listUnwell(
  count: number,
  workloads: readonly (Pick<CampaignTarget, 'unhealthy_since' | 'trouble'> & {
    workload_name: string
    workload_place?: string
  })[],
  nameIn: NameIn,
): string {
  const named = workloads.map(({ workload_name: name, workload_place: place, ...about }) =>
    [nameIn(name, place), describeUnwell(about)].filter((part) => part !== '').join(' – '),
  )
  const more = count - named.length
  return [...named, ...(named.length > 0 && more > 0 ? [say(campaignTexts).haltMore(more)] : [])].join('; ')
}

/** Which destinations others cannot reach now, who cannot, and why; '' for none. */
export const describeFailingThere = (destinations: readonly ExportDestination[]): string =>
  destinations
    .map(({ address = '', failing, workloads }) => {
      const [first] = workloads.filter(({ is_failing: isFailing }) => isFailing)
      const { workload_count: count = 0, ...error } = failing ?? {}
      const who = first === undefined ? '' : namedAt(first.display_name, first.place ?? '', false)
      return say(campaignTexts).failingThere(address, who, count - 1, describeError(error))
    })
    .join('; ')

/** How many of those that a campaign is to change are not well before it comes to them, and which; '' for none. */
export function describeUnwellNow(
  { unwell_now: found, plan }: Pick<CampaignRecord, 'unwell_now' | 'plan'>,
  nameIn: NameIn = nameInFull,
): string {
  if (found === undefined) return ''
  const who = listUnwell(found.count, found.workloads, nameIn)
  return say(campaignTexts).unwellOf(found.count, plan?.target_count ?? found.count, who)
}

/** Who ended a campaign for good, when and why. */
function describeClosed(status: 'rolled_back' | 'aborted', of: CampaignRecord): string {
  const words = say(campaignTexts)
  const { closed_by: who, close_comment: why = '', ended_at: endedAt = of.updated_at } = of
  return words.closed[status](who === undefined ? '' : words.closedFrom(who, formatAgo(endedAt), why))
}

/** How many have the change, where a campaign stopped on its way. */
const describeStop = ({ counts, plan }: CampaignRecord): string =>
  say(changeFeedTexts).reached(counts['applied'] ?? 0, countFailed(counts), plan?.target_count ?? 0)

/** What came of taking a campaign back; the short sentence where only those went back that got its version by itself. */
function describeBroughtBack(of: CampaignRecord): string {
  const { counts, plan } = of
  const words = say(campaignTexts)
  const others = (['no_way_back', 'rollback_failed', 'moved_on', 'left_scope'] as const).flatMap((state) => {
    const count = counts[state] ?? 0
    return count > 0 ? [words.broughtBack[state](count)] : []
  })
  const count = counts['rolled_back'] ?? 0
  if (count === 0 && hasGoneBack(of))
    return [words.sentence.rolled_back, ...(others.length > 0 ? [`${others.join('; ')}.`] : [])].join(' ')
  return `${[words.broughtBack.rolled_back(count, plan?.target_count ?? 0), ...others].join('; ')}.`
}

/** What to do about a campaign that halted, as far as its halt tells. */
export function describeHaltNext(
  { gate, holds }: Pick<CampaignHalt, 'gate' | 'holds'>,
  hasWayBack = true,
): string {
  const words = say(campaignTexts)
  if (isLapse(gate) && !hasWayBack) return holds === false ? words.haltLapseOverStay : words.haltLapseNextStay
  if (isLapse(gate)) return holds === false ? words.haltLapseOver : words.haltLapseNext
  if (!hasWayBack) return holds ? words.haltRaiseNextStay : words.haltNextStay
  return holds ? words.haltRaiseNext : words.haltNext
}

/**
 * Why a step that the status allows leads nowhere now, with the way out; null where it leads on. A campaign whose
 * approval does not hold would only halt again.
 */
export function describeDeadEnd(step: CampaignStep, of: CampaignRecord): string | null {
  const code = findDeadEnd(step, of)
  if (code !== null) return sayProblem(code.replaceAll('-', '_'), {})
  const { halt } = of
  const isLapsed = of.status === 'halted' && halt?.holds === true && isLapse(halt.gate)
  return step === 'continue' && isLapsed
    ? describeHaltNext(halt, findDeadEnd('roll-back', of) === null)
    : null
}

/** What can be done about a campaign that halted; where it has come to everybody, to go on only ends it. */
function describeWayOut(of: CampaignRecord, halt: CampaignHalt): string {
  const hasWayBack = findDeadEnd('roll-back', of) === null
  const isLeft = hasToBeChanged(of.counts) || (of.stages_halted ?? 0) > 0
  const deadEnd = describeDeadEnd('continue', of)
  if (deadEnd !== null || isLeft || isLapse(halt.gate)) return deadEnd ?? describeHaltNext(halt, hasWayBack)
  const words = say(campaignTexts)
  return hasWayBack
    ? words.haltNobodyLeft(halt.holds === true)
    : words.haltNobodyLeftStay(halt.holds === true)
}

/** Whether a campaign is to have been carried out nowhere: then it counts who was taken back from it. */
const goesBack = (status: CampaignStatus): boolean => status === 'rolling_back' || status === 'rolled_back'

/** How many workloads a campaign failed on, or that did not answer. */
const countFailed = (counts: CampaignRecord['counts']): number =>
  statesThat('went-wrong').reduce((total, state) => total + (counts[state] ?? 0), 0)

/** How many workloads a campaign has reached; of one that is taken back, how many have their former config again. */
export const describeReach = (
  status: CampaignStatus,
  counts: CampaignRecord['counts'],
  all: number,
): string =>
  goesBack(status)
    ? say(campaignTexts).takenBack(counts['rolled_back'] ?? 0, all)
    : say(changeFeedTexts).reached(counts['applied'] ?? 0, countFailed(counts), all)

/** Why a campaign stands so with a workload. */
export function describeTarget({
  title,
  reason,
  cause,
  verdict,
  ...about
}: Pick<CampaignTarget, 'title' | 'reason' | 'cause' | 'error_parameters' | 'error_message'> & {
  verdict?: CampaignTarget['verdict']
}): string {
  const what = describeWhy({
    error_cause: cause,
    error_title: title,
    error_parameters: about.error_parameters,
    error_message: about.error_message,
  })
  // Its verdict says whether it is held or frozen already.
  if (verdict === 'held') return what
  if (cause !== undefined || reason === undefined) return what
  return [say(campaignTexts).reason[reason], ...(what === '' ? [] : [what])].join(': ')
}

/** On how many of its instances a target has the change, and what of the others; empty where that is not told. */
function describeTargetReach({ reach }: Pick<CampaignTarget, 'reach'>): string {
  if (reach === undefined) return ''
  const { applied_count: applied, target_count: all, failed_count: failed, no_status_count: silent } = reach
  const why = reach.error === undefined ? '' : describeWhy(reach.error)
  return say(campaignTexts).reach(applied, all, failed, silent, why)
}

/** Why a campaign stands so with a workload, how far it got there, and what became of one that failed. */
export const describeFate = (target: CampaignTarget): string =>
  [
    describeTarget(target),
    describeTargetReach(target),
    describeUnwell(target),
    describeAftermath(target.aftermath, describeTarget(target)),
  ]
    .filter((part) => part !== '')
    .join('. ')

/**
 * How a target stands: one of which only some instances have the change has it in part, and one of which only some have
 * their former config is not one that has kept the new one.
 */
export function describeState({
  state,
  cause,
  reach,
  is_back: isBack,
  unhealthy_since: trouble,
}: Pick<CampaignTarget, 'state' | 'cause' | 'reach' | 'is_back' | 'unhealthy_since'>): string {
  const words = say(campaignTexts)
  if (isBack) return words.back
  if (trouble !== undefined) return words.appliedUnwell
  if (isAppliedInPart({ state, reach })) return words.appliedInPart
  return state === 'rollback_failed' && cause === 'in_part' ? words.backInPart : words.state[state]
}

/**
 * What a workload waits for that was not begun in a campaign of this status, was away, or has the change in part, and
 * what comes of that; empty for any other.
 */
export function describeWait(
  { state, is_back: isBack, waits_for: rival, overtakes: older, hold, is_busy: isBusy }: CampaignTarget,
  status: CampaignStatus,
): string {
  const words = say(campaignTexts)
  if (hold !== undefined && state === 'waiting') return words.frozenFor(hold.about ?? '')
  if (state === 'waiting') return isBusy ? words.busyWith : (words.notBegun[status] ?? '')
  if (hold !== undefined)
    return (isOverByItself(hold.reason) ? words.stageWaits : words.stageGivesUp)(describeHold(hold))
  if (state !== 'offline') return ''
  if (rival !== undefined) return words.waitsFor(rival.name ?? null, isBack === true)
  const parts = [
    ...(isBack ? [words.waitsForTurn] : []),
    ...(older === undefined ? [] : [words.overtakes(older.name ?? null)]),
  ]
  return parts.join(' ')
}

/** What a plan does with a workload: whether it is held or frozen, two words for one verdict. */
export const describeVerdict = ({ verdict, reason }: Pick<CampaignTarget, 'verdict' | 'reason'>): string =>
  verdict === 'held' && reason !== undefined
    ? say(campaignTexts).reason[reason]
    : say(campaignTexts).verdict[verdict]

/** How many workloads a plan leaves out, by why, in the words of the list of workloads. */
export function describeLeftOut(counts: Readonly<Record<string, number>>): string[] {
  const words = say(campaignTexts)
  return Object.entries(counts).map(([why, count]) => {
    const reason = words.reason[why as CampaignReason]
    const said = isRefusal(why as LeftOut)
      ? `${words.verdict.refused} (${reason})`
      : (words.verdict[why as CampaignVerdict] ?? reason)
    return `${formatNumber(count)} ${said}`
  })
}

/** Whom a plan that changes nobody leaves out, and what helps where that is because muster never pushed to them. */
function describeNobody({ plan }: CampaignRecord): string[] {
  if (plan === undefined) return []
  const words = say(campaignTexts)
  const leftOut = describeLeftOut(plan.left_out ?? countLeftOut(plan))
  return [
    ...(leftOut.length === 0 ? [] : [words.leavesOut(formatList(leftOut))]),
    ...(needsAdoption(plan) ? [words.adoptFirst] : []),
  ]
}

/** Whether a plan changes nobody, and would where workloads that muster never pushed to were adopted. */
export const needsAdoption = ({ target_count: count, verdicts }: CampaignPlan): boolean =>
  count === 0 && (verdicts['unmanaged'] ?? 0) > 0

/** How many workloads do not run what a campaign brought, by why, with their names and causes as far as they are known. */
function describeMissing(
  counts: CampaignRecord['counts'],
  missed: readonly CampaignMiss[],
  nameIn: NameIn,
): string[] {
  const words = say(campaignTexts)
  return countMissing(counts).map(([state, count]) => {
    const what = words.missing[state](count)
    const who = missed.filter((miss) => miss.state === state).map((miss) => describeMiss(miss, nameIn))
    return who.length === 0 ? `${what}.` : words.missingWho(what, who.join('; '))
  })
}

function describeMiss(miss: CampaignMiss, nameIn: NameIn): string {
  const named = nameMissed(miss, nameIn)
  const why = describeTarget(miss)
  // Not in brackets: what a cause is about stands in some already.
  return why === '' ? named : `${named} – ${why}`
}

/** The workloads that were missed for one cause, by name, as far as they are named, and how many more there are. */
export function nameMissed({ workloads, count }: CampaignMiss, nameIn: NameIn): string {
  const names = workloads.map(({ workload_name: name, workload_place: place }) => nameIn(name, place))
  return say(campaignTexts).missedSuch(formatList(names), count - names.length)
}

/** That a campaign stands still though it runs, and for what it waits; null where it does not. */
function describeHeldUp({ held_up: held, wave }: CampaignRecord, waves: number): string | null {
  if (held === undefined) return null
  const words = say(campaignTexts)
  return held.until === undefined
    ? words.waitsWindow(wave + 1, waves)
    : words.waitsFreeze(wave + 1, waves, formatExact(held.until), held.about ?? '')
}

/**
 * What a campaign does at `nowMs` (Unix time), in one sentence, and what comes next. `missed` says whom it has not
 * reached, where that was read.
 */
export function describeCampaign(
  of: CampaignRecord,
  nowMs: number,
  missed: readonly CampaignMiss[] = [],
  nameIn: NameIn = nameInFull,
): string[] {
  const words = say(campaignTexts)
  const away = of.counts['offline'] ?? 0
  const since = [...describeFailedSince(of), ...describeBecameUnhealthy(of, nameIn)]
  const more = [
    ...since,
    ...(of.status === 'running' ? describeInPart(of, 'started', nowMs, nameIn) : []),
    ...(away > 0 && ['running', 'done', 'paused'].includes(of.status) ? [words.away(away)] : []),
  ]
  if (of.planning !== undefined) return [words.planning(of.planning.done, of.planning.total)]
  if (of.status === 'halted' && of.halt !== undefined) {
    // Those who are unhealthy still are named behind it, each with why.
    const areNamed = of.halt.gate === 'unhealthy' && of.became_unhealthy !== undefined
    const halt = areNamed ? { ...of.halt, workloads: [] } : of.halt
    return [...describeHalt(halt, nameIn, aboutHalt(of.halt, missed)), ...since, describeWayOut(of, of.halt)]
  }
  const applied = of.counts['applied'] ?? 0
  const total = of.plan?.target_count ?? 0
  const missing = describeMissing(of.counts, missed, nameIn)
  if (of.status === 'done' && missing.length > 0) {
    const done = words.doneBut(applied, total)
    return [done, ...missing, ...describeInPart(of, 'applied', nowMs, nameIn), ...more, words.doneButNext]
  }
  const inPart = of.status === 'done' ? describeInPart(of, 'applied', nowMs, nameIn) : []
  if (inPart.length > 0) return [...inPart, ...more, words.doneButNext]
  if (of.status === 'done') return [words.doneAll(applied, total), ...more]
  if (of.status === 'approved' && waitsForApproval(of)) return [words.sentence.lapsed]
  if (of.status === 'rolled_back')
    return [describeClosed('rolled_back', of), describeBroughtBack(of), ...more]
  if (of.status === 'aborted')
    return [describeClosed('aborted', of), `${describeStop(of)}.`, words.sentence.aborted, ...more]
  if (of.status === 'paused') return [words.pausedAt(describeStop(of)), words.sentence.paused, ...more]
  if (of.status === 'planned' && total === 0)
    return [sayProblem('campaign_changes_nothing', {}) ?? '', ...describeNobody(of)]
  if (of.status !== 'running')
    return [words.sentence[of.status as keyof typeof words.sentence] ?? '', ...more]
  if (of.wave_ends_at !== undefined) {
    // The clock of the browser may be behind that of the service: a wave is never watched for longer than its plan says.
    const dwellMs = (of.plan?.waves[of.wave]?.dwell_seconds ?? 0) * 1000
    const left = Math.min(Date.parse(of.wave_ends_at) - nowMs, dwellMs)
    return [words.watching(of.wave + 1, formatLeft(left)), ...more]
  }
  const waves = of.plan?.waves.length ?? 1
  const held = describeHeldUp(of, waves)
  if (held !== null) return [held, `${describeStop(of)}.`, ...more]
  return [words.running(of.wave + 1, waves, applied, total, countFailed(of.counts)), ...more]
}
