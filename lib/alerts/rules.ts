import { type ReportedConfig, standingOf } from '../fleet/decide/standing.ts'
import { UNHEALTHY_SHARE } from '../fleet/decide/status.ts'
import { type First, keepFirst } from '../keep-first.ts'
import { sayAftermath } from '../model/aftermath-words.ts'
import { sayStop } from '../model/stops.ts'
import { tellingRank } from '../model/telling-cause.ts'
import { compareText } from '../model/text-order.ts'
import { isComparable, isVersionOutdated } from '../model/versions.ts'
import type { Alert, AlertDetails, CurrentAlert } from '../store/alerts.ts'
import type { Push } from '../store/pushes.ts'
import type { AlertRule, AlertSeverity, WorkloadAlertRule } from '../wire/alerts.ts'
import type { PushAftermath } from '../wire/revisions.ts'
import type { RolloutHoldReason } from '../wire/rollouts.ts'
import { WORKLOAD_ALERT_RULES } from '../wire/values.ts'

/** The severity of the alerts of each rule. */
export const ALERT_SEVERITY: Record<AlertRule, AlertSeverity> = {
  workload_down: 'critical',
  workload_unhealthy: 'critical',
  push_failed: 'warning',
  rollout_halted: 'warning',
  config_drift: 'warning',
  version_outdated: 'warning',
  campaign_halted: 'warning',
  campaign_failures: 'warning',
  auto_apply_held: 'warning',
  config_conflict: 'warning',
  administrator_kept: 'critical',
  approval_policy_lowered: 'warning',
  approval_policy_unreadable: 'critical',
  last_resort_login: 'critical',
}

/**
 * How long the share `UNHEALTHY_SHARE` of the live instances of a workload must be unhealthy before
 * `workload_unhealthy` fires.
 */
export const UNHEALTHY_DELAY_MS = 60_000

/** How long an instance may take to apply what it was assigned, counted from `assignedSinceMs`, by how it stands. */
export const DRIFT_DELAY_MS = { failed: 60_000, applying: 300_000, other: 180_000 } as const

/** What of one live instance is counted for the rules. Times are heard times. */
export interface InstanceFacts {
  /** It can take a config, and has every component that the assigned config needs. */
  isCompatible: boolean
  /** Whether it reports what became of a config (ReportsRemoteConfig). */
  canReport: boolean
  /** What it should run; null when nothing is assigned. */
  assignedHash: string | null
  reported: ReportedConfig
  /**
   * When the instance got its assignment: the later of its connection and the offer, or the look at the fleet that
   * found the assignment (`AssignmentTimes`).
   */
  assignedSinceMs: number
  /** `unknown`: it can report its health and has not done so yet. */
  health: 'healthy' | 'unhealthy' | 'unknown'
  unhealthySinceMs: number | null
  uid: string
  /** Its pod, or its id where it has none. */
  name: string
  /** Why it is unhealthy, in muster's own words; null where it does not say. Asked of few instances. */
  fault: () => Fault | null
  /** Why it has not applied what it is assigned; null where that is not known. Asked of few instances. */
  driftFault: () => Fault | null
}

/** Why an instance is unhealthy, or a push failed: a stable code, and its title in English. */
export interface Fault {
  cause: string
  title: string
}

/** Instances that an alert names. */
const NAMED_MAX = 3

/** An instance that an alert may name, what it is assigned, and why it is not as it should be. */
interface NamedInstance {
  uid: string
  name: string
  hash: string
  fault: () => Fault | null
}

/** The live instances of a workload, counted for the rules: a workload may have very many. */
export interface InstanceCounts {
  total: number
  /** Those that count for drift: they can take and report a config. */
  judged: number
  /** Of these, those that run what they are assigned. */
  agreeing: number
  /** Of these, those that had long enough to apply it; `overdueFailed` of them have failed it. */
  overdue: number
  overdueFailed: number
  /** The overdue ones that come first by name. */
  overdueFirst: NamedInstance[]
  unhealthy: number
  /** Those that have been unhealthy for `UNHEALTHY_DELAY_MS` or longer. */
  unhealthyLong: number
  /** Those of these that come first by name. */
  unhealthyFirst: NamedInstance[]
  healthUnknown: number
}

/** Counts of no instances. */
export const countNone = (): InstanceCounts => ({
  total: 0,
  judged: 0,
  agreeing: 0,
  overdue: 0,
  overdueFailed: 0,
  overdueFirst: [],
  unhealthy: 0,
  unhealthyLong: 0,
  unhealthyFirst: [],
  healthUnknown: 0,
})

/** Whether an instance has been unhealthy for so long that an alert is due. */
export const isLong = (sinceMs: number | null, nowMs: number): boolean =>
  sinceMs !== null && nowMs - sinceMs >= UNHEALTHY_DELAY_MS

/** Count one more instance as it is at a heard time. */
export function countInstance(counts: InstanceCounts, instance: InstanceFacts, nowMs: number): void {
  counts.total++
  if (instance.isCompatible && instance.canReport) countForDrift(counts, instance, nowMs)
  if (instance.health === 'unknown') counts.healthUnknown++
  if (instance.health !== 'unhealthy') return
  counts.unhealthy++
  if (!isLong(instance.unhealthySinceMs, nowMs)) return
  counts.unhealthyLong++
  const { uid, name, assignedHash, fault } = instance
  keepFirst(counts.unhealthyFirst, { uid, name, hash: assignedHash ?? '', fault }, FIRST_BY_NAME)
}

/**
 * The first by name: in the order in which they are counted each one that connects again comes last, and what an alert
 * says would change with that.
 */
const FIRST_BY_NAME: First<NamedInstance> = {
  most: NAMED_MAX,
  compare: (a, b) => compareText(a.name, b.name) || compareText(a.hash, b.hash) || compareText(a.uid, b.uid),
}

const namesOf = (first: readonly NamedInstance[]): string => first.map(({ name }) => cutName(name)).join(', ')

/** Why the first of them is not as it should be of which that is known. */
function faultOf(first: readonly NamedInstance[]): Fault | null {
  for (const one of first) {
    const fault = one.fault()
    if (fault !== null) return fault
  }
  return null
}

function countForDrift(
  counts: InstanceCounts,
  { uid, assignedHash, reported, assignedSinceMs, name, driftFault }: InstanceFacts,
  nowMs: number,
): void {
  const standing = standingOf(assignedHash, reported)
  counts.judged++
  if (standing === 'agrees') counts.agreeing++
  if (standing === 'agrees' || standing === 'unknown') return
  if (nowMs - assignedSinceMs < DRIFT_DELAY_MS[standing]) return
  keepFirst(counts.overdueFirst, { uid, name, hash: assignedHash ?? '', fault: driftFault }, FIRST_BY_NAME)
  counts.overdue++
  if (standing === 'failed') counts.overdueFailed++
}

/** Whether the newest push of a workload failed. */
export type PushFacts =
  /** Nothing was pushed, or the newest push was applied: no alert. */
  | { kind: 'without-failure' }
  /** Not known yet, or taken back by an operator: an alert from before stays as it is. */
  | { kind: 'undecided' }
  | {
      kind: 'failed'
      pushId: string
      hash: string
      aftermath: PushAftermath
      /**
       * How many instances failed the push, of how many targets; null when only the automatic rollback is still known.
       */
      counts: { failed: number; target: number } | null
      /** Why; null where that is not known. */
      fault: Fault | null
      /** The alert of a campaign tells of it, and none of its workload does unless most of that is unhealthy for it. */
      isOfCampaign: boolean
    }

type FailedPush = Extract<PushFacts, { kind: 'failed' }>

/** How long something may keep a rollout from its next stage until somebody is told. */
export const HELD_DELAY_MS = 3_600_000

/** How long a canary may wait for its promotion until somebody is told. */
export const UNPROMOTED_DELAY_MS = 24 * 3_600_000

/** What keeps a rollout from its next stage: something else, or that nobody has promoted its canary. */
type Hold = RolloutHoldReason | 'unpromoted'

const HOLD_WORDS: Readonly<Record<Hold, string>> = {
  archived: 'the workload is archived',
  base_moved: 'its config has changed since it was approved',
  became_production: 'the workload became production, and that was not approved',
  frozen: 'the workload is frozen',
  held: 'the workload is held',
  kept_in_git: 'its config is kept in Git now',
  not_approved: 'its approvals do not all count any more',
  not_selected: 'the workload is not meant any more',
  not_under_fleet_config: 'the workload is not under the fleet config any more',
  stopped: 'what brought it here is stopped',
  under_fleet_config: 'the workload is under a fleet config now',
  unpromoted: 'nobody has promoted its canary',
}

/** A rollout in stages that does not go on and waits for an operator: it stopped by itself, or has been held for long. */
export interface HaltedRollout {
  /** What keeps it from its next stage; null for one that stopped by itself. */
  hold: Hold | null
  rolloutId: string
  pushId: string
  hash: string
  gate: string
  value: number
  limit: number
  /** The stage in which it stopped, or after which it is held, from 0. */
  stage: number
  /** When; empty where that is not known. */
  at: string
  /** What a member failed or complains of; null where that is not known. */
  fault: Fault | null
}

/** Everything the rules look at in one workload that is not archived. */
export interface WorkloadFacts {
  workloadId: string
  displayName: string
  status: 'connected' | 'degraded' | 'disconnected'
  isProduction: boolean
  version: string
  /** The live instances only. */
  instances: InstanceCounts
  push: PushFacts
  /** Null while no rollout waits. */
  halted: HaltedRollout | null
  /** The push since which instances are unhealthy, and how many of `unhealthyLong`; null or absent where that cannot be said. */
  sincePush?: { push: Pick<Push, 'pushId' | 'hash' | 'pushedBy'>; count: number } | null
}

/** The settings of the alert rules. */
export interface RuleSettings {
  /**
   * The recommended version (`RecommendedVersion`), below which agents are outdated; empty for none, which switches
   * `version_outdated` off.
   */
  minAgentVersion: string
  disconnectGraceSeconds: number
}

/** Whether the cause of an alert is there; with `unknown` the stored alert stays as it is. */
export type Cause =
  | {
      kind: 'present'
      message: string
      /**
       * Tells apart causes that may follow each other without a gap, such as two failed pushes: another subject
       * resolves the old alert and fires a new one.
       */
      subject?: string
      details?: AlertDetails
      /** The message says how something goes on, and is put right while the alert is open. */
      isRestated?: boolean
      /** Where it is another one than its rule's. */
      severity?: AlertSeverity
      /** Whether it is worse is not known: an alert that says so stays as it is. */
      isUnsure?: boolean
    }
  | { kind: 'absent' }
  | { kind: 'unknown' }

const ABSENT: Cause = { kind: 'absent' }
const UNKNOWN: Cause = { kind: 'unknown' }

/** Longer names are cut in messages, which travel to other systems. */
const NAME_LENGTH_MAX = 120

const cutName = (name: string): string => [...name].slice(0, NAME_LENGTH_MAX).join('')

function nameOf(facts: WorkloadFacts): string {
  const name = cutName(facts.displayName)
  return name === '' ? `Workload ${facts.workloadId}` : `Workload ${facts.workloadId} (${name})`
}

function judgeDown(facts: WorkloadFacts, settings: RuleSettings): Cause {
  if (facts.status !== 'disconnected') return ABSENT
  const grace = settings.disconnectGraceSeconds
  return {
    kind: 'present',
    message: `${nameOf(facts)} is disconnected: no instance came back within ${grace} s`,
  }
}

/** What the first instance is assigned that has not applied it in time; empty where there is none. */
const overdueHashOf = ({ overdueFirst }: InstanceCounts): string => overdueFirst[0]?.hash ?? ''

function driftMessage(facts: WorkloadFacts, fault: Fault | null): string {
  const { judged, overdue, overdueFailed } = facts.instances
  const detail = `${overdueFailed > 0 ? ` (${overdueFailed} failed)` : ''}${fault === null ? '' : `: ${fault.title}`}`
  return `${nameOf(facts)} has not applied config ${overdueHashOf(facts.instances).slice(0, SHORT_HASH)} on ${overdue} of ${judged} instances${detail}`
}

function judgeDrift(facts: WorkloadFacts): Cause {
  const { total, judged, agreeing, overdue } = facts.instances
  // Without a live instance nothing is known: an alert from before stays as it is.
  if (total === 0) return UNKNOWN
  if (overdue > 0) {
    const { overdueFailed, overdueFirst } = facts.instances
    const fault = faultOf(overdueFirst)
    const details = { config_hash: overdueHashOf(facts.instances), overdue, judged, failed: overdueFailed }
    const more = { instances: namesOf(overdueFirst), ...causeOf(fault) }
    // Why an instance does not take a config is known later than that it does not.
    return {
      kind: 'present',
      message: driftMessage(facts, fault),
      details: { ...details, ...more },
      isRestated: true,
    }
  }
  return agreeing === judged ? ABSENT : UNKNOWN
}

/** Why, as it stands in the details of an alert. */
const causeOf = (fault: Fault | null): AlertDetails =>
  fault === null ? {} : { cause: fault.cause, cause_title: fault.title }

/** Since which push instances are unhealthy, and how many of them where it is not all. */
function sinceMessage(since: WorkloadFacts['sincePush'], unhealthy: number): string {
  if (!since) return ''
  const { push, count } = since
  const whom = count < unhealthy ? `${count} of them ` : ''
  return `, ${whom}since config ${push.hash.slice(0, SHORT_HASH)} was pushed by ${push.pushedBy}`
}

function judgeUnhealthy(facts: WorkloadFacts): Cause {
  const { total, unhealthy, unhealthyLong: long, healthUnknown, unhealthyFirst } = facts.instances
  if (total === 0) return UNKNOWN
  const limit = UNHEALTHY_SHARE * total
  if (long >= limit) {
    const instances = `${total} live ${total === 1 ? 'instance' : 'instances'}`
    const fault = faultOf(unhealthyFirst)
    const { sincePush: since = null } = facts
    return {
      kind: 'present',
      message: `${nameOf(facts)} has been unhealthy on ${long} of ${instances} for a minute or longer${sinceMessage(since, long)}${fault === null ? '' : `: ${fault.title}`}`,
      details: {
        unhealthy: long,
        total,
        instances: namesOf(unhealthyFirst),
        ...(since === null
          ? {}
          : { since_hash: since.push.hash, since_push_id: since.push.pushId, since_count: since.count }),
        ...causeOf(fault),
      },
    }
  }
  return unhealthy + healthUnknown < limit ? ABSENT : UNKNOWN
}

const SHORT_HASH = 12

/** What details say of what was done about a failed push. */
const detailsOf = (of: PushAftermath): AlertDetails => ({
  aftermath: of.kind,
  ...(of.config_hash === undefined ? {} : { to_hash: of.config_hash }),
  ...(of.kind === 'went_back_in_part' || of.kind === 'rollback_failed'
    ? {
        back_applied: of.applied_count ?? 0,
        back_failed: of.failed_count ?? 0,
        back_silent: of.no_status_count ?? 0,
        back_total: of.target_count ?? 0,
        ...(of.error_cause === undefined
          ? {}
          : { back_cause: of.error_cause, back_cause_title: of.error_title ?? '' }),
      }
    : {}),
  running: of.running_count,
})

/** Ends of a rollback that are told anew: the workload is not back where it was. */
const TOLD_ANEW: ReadonlySet<PushAftermath['kind']> = new Set(['rollback_failed', 'went_back_in_part'])

function judgePush(facts: WorkloadFacts): Cause {
  const { push } = facts
  if (push.kind !== 'failed') return push.kind === 'without-failure' ? ABSENT : UNKNOWN
  return push.isOfCampaign ? ABSENT : tellPush(facts, push)
}

/** What is told of a push that failed. */
function tellPush(facts: WorkloadFacts, push: FailedPush): Cause & { kind: 'present' } {
  const { aftermath, counts, fault } = push
  const where = counts === null ? '' : ` on ${counts.failed} of ${counts.target} instances`
  return {
    kind: 'present',
    message: `${nameOf(facts)}: config ${push.hash.slice(0, SHORT_HASH)} failed${where}${fault === null ? '' : ` (${fault.title})`}; ${sayAftermath(aftermath)}`,
    // Where the rollback fails as well, also in part, another alert fires.
    subject: TOLD_ANEW.has(aftermath.kind) ? `${push.pushId}/rollback` : push.pushId,
    details: {
      config_hash: push.hash,
      push_id: push.pushId,
      ...detailsOf(aftermath),
      ...causeOf(fault),
    },
    // What has no way back is not put right by itself.
    ...(facts.isProduction && aftermath.kind === 'nowhere_to_go' ? { severity: 'critical' } : {}),
    isRestated: true,
  }
}

/**
 * How many live instances there are, where a rollout halted for sick ones and all are healthy by now; null where one is
 * not, or nobody knows. It waits for somebody all the same.
 */
function countRecovered({ instances, halted }: WorkloadFacts): number | null {
  const { total, unhealthy, healthUnknown } = instances
  return halted?.gate === 'health' && total > 0 && unhealthy + healthUnknown === 0 ? total : null
}

const sayRecovered = (count: number): string =>
  count === 1 ? '; its one live instance is healthy again' : `; all ${count} live instances are healthy again`

function judgeRollout(facts: WorkloadFacts): Cause {
  if (facts.halted === null) return ABSENT
  const { rolloutId, hash, gate, value, limit, stage, at, fault, hold } = facts.halted
  if (hold !== null) return judgeHeld(facts, { rolloutId, hash, stage, at, hold })
  const recovered = countRecovered(facts)
  const where = `config ${hash.slice(0, SHORT_HASH)} halted in stage ${stage + 1}`
  return {
    kind: 'present',
    message: `${nameOf(facts)}: the rollout of ${where}: ${sayStop({ gate, value, limit })}${fault === null ? '' : ` (${fault.title})`}${recovered === null ? '' : sayRecovered(recovered)}`,
    // One that was let go on and stops again fires anew, also where nobody looked in between.
    subject: `${rolloutId}/${stage}/${at}`,
    details: {
      rollout_id: rolloutId,
      config_hash: hash,
      gate,
      value,
      limit,
      stage: stage + 1,
      ...causeOf(fault),
      ...(recovered === null ? {} : { recovered }),
    },
    // Why may be known only later, and may be another or over by then.
    isRestated: true,
  }
}

function judgeHeld(
  facts: WorkloadFacts,
  {
    rolloutId,
    hash,
    stage,
    at,
    hold,
  }: Pick<HaltedRollout, 'rolloutId' | 'hash' | 'stage' | 'at'> & {
    hold: Hold
  },
): Cause {
  const next = stage + 2
  const since = hold === 'unpromoted' ? 'a day' : 'an hour'
  return {
    kind: 'present',
    message: `${nameOf(facts)}: the rollout of config ${hash.slice(0, SHORT_HASH)} has waited before stage ${next} for ${since} or longer: ${HOLD_WORDS[hold]}`,
    subject: `${rolloutId}/${stage}/${at}/held`,
    details: { rollout_id: rolloutId, config_hash: hash, stage: next, hold },
    // Something else may hold it by now.
    isRestated: true,
  }
}

function judgeVersion(facts: WorkloadFacts, settings: RuleSettings): Cause {
  const { minAgentVersion } = settings
  if (!isVersionOutdated(facts.version, minAgentVersion)) return ABSENT
  const message = `${nameOf(facts)} version ${facts.version.trim().slice(0, 64)} is below minimum ${minAgentVersion.trim()}`
  const details = { version: facts.version.trim().slice(0, 64), minimum: minAgentVersion.trim() }
  return { kind: 'present', message, details }
}

/** What has gone wrong with a config, and may be why instances are unwell or drift. */
interface Trouble {
  rule: 'push_failed' | 'rollout_halted'
  /** The configs that instances were assigned by it. */
  hashes: readonly (string | undefined)[]
  /** Whether what makes an instance unhealthy may be of it. */
  explains: (fault: Fault | null) => boolean
}

/**
 * What went wrong with a config here and has not been put right: once all are back at what they ran, what goes wrong
 * has another cause.
 */
function troubleOf({ push, halted }: WorkloadFacts): Trouble | null {
  if (push.kind === 'failed' && push.aftermath.kind !== 'went_back') {
    const explains = (fault: Fault | null) =>
      tellingRank(fault) < 2 || tellingRank(push.fault) < 2 || fault?.cause === push.fault?.cause
    return { rule: 'push_failed', hashes: [push.hash, push.aftermath.config_hash], explains }
  }
  if (halted === null) return null
  return { rule: 'rollout_halted', hashes: [halted.hash], explains: () => halted.gate === 'health' }
}

/**
 * One failure is one alert: that of the push or the rollout that failed. That instances then do not run what they are
 * assigned is a part of it, as is that they are unhealthy for the same cause: this makes it worse, and it is told anew
 * as worse, and is as it was once that is over. What a campaign brought is told by the campaign's alert; where it makes
 * most of a workload unhealthy, it is told of that workload all the same, as the push that failed: a corrected config
 * helps, and no look for a component.
 */
function foldCauses(facts: WorkloadFacts, causes: Causes): Causes {
  const trouble = troubleOf(facts)
  if (trouble === null) return causes
  const { workload_unhealthy: sick, config_drift: drift } = causes
  const told = causes[trouble.rule]
  const isSameDrift = drift.kind === 'present' && trouble.hashes.includes(overdueHashOf(facts.instances))
  const rest: Causes = isSameDrift ? { ...causes, config_drift: ABSENT } : causes
  if (sick.kind === 'absent') return rest
  if (told.kind !== 'present') return foldIntoCampaign(facts, rest, trouble)
  if (sick.kind === 'unknown') return { ...rest, [trouble.rule]: { ...told, isUnsure: true } }
  if (!trouble.explains(faultOf(facts.instances.unhealthyFirst))) return rest
  return { ...rest, workload_unhealthy: ABSENT, [trouble.rule]: worsen(told, facts) }
}

/** The same where the alert of a campaign tells of the push that failed. */
function foldIntoCampaign(facts: WorkloadFacts, causes: Causes, { explains }: Trouble): Causes {
  const { push, instances } = facts
  if (push.kind !== 'failed' || !push.isOfCampaign) return causes
  // Whether it is still so bad is not known: an alert that says so stays.
  if (causes.workload_unhealthy.kind === 'unknown') return { ...causes, push_failed: UNKNOWN }
  if (!explains(faultOf(instances.unhealthyFirst))) return causes
  return { ...causes, workload_unhealthy: ABSENT, push_failed: worsen(tellPush(facts, push), facts) }
}

/** What is told of a failure that makes most of the workload unhealthy as well. */
function worsen(told: Cause & { kind: 'present' }, { instances }: WorkloadFacts): Cause {
  const { unhealthyLong: unhealthy, total, unhealthyFirst } = instances
  return {
    ...told,
    message: `${told.message}; ${unhealthy} of ${total} live ${total === 1 ? 'instance' : 'instances'} unhealthy for a minute or longer`,
    subject: `${told.subject ?? ''}${WORSE}`,
    severity: ALERT_SEVERITY.workload_unhealthy,
    details: { ...told.details, unhealthy, total, instances: namesOf(unhealthyFirst) },
    isRestated: true,
  }
}

/** What the subject of a failure ends with that makes most of its workload unhealthy. */
const WORSE = '/unhealthy'

type Causes = Record<WorkloadAlertRule, Cause>

/** What each rule says about one workload, where a failure is told by one rule alone. */
export function judgeWorkload(facts: WorkloadFacts, settings: RuleSettings): Causes {
  return foldCauses(facts, judgeRules(facts, settings))
}

function judgeRules(facts: WorkloadFacts, settings: RuleSettings): Causes {
  return {
    workload_down: judgeDown(facts, settings),
    workload_unhealthy: judgeUnhealthy(facts),
    push_failed: judgePush(facts),
    rollout_halted: judgeRollout(facts),
    config_drift: judgeDrift(facts),
    version_outdated: judgeVersion(facts, settings),
  }
}

/** A change of the stored alerts. */
export type AlertAction =
  | {
      kind: 'fire'
      workloadId: string
      rule: WorkloadAlertRule
      message: string
      subject: string
      details: AlertDetails
      severity: AlertSeverity
    }
  | { kind: 'resolve'; alertId: string }
  /** What an open alert says goes on otherwise now; nobody is called for it again. */
  | ({ kind: 'restate'; alertId: string } & Pick<Alert, 'message' | 'subject' | 'details' | 'severity'>)
  /** The cause went away after an operator resolved the alert, so the rule may fire again when the cause comes back. */
  | { kind: 'end-quiet'; alertId: string }

/** The action that ends a stored alert whose cause is gone. */
export const toEnd = ({ id, state }: Pick<CurrentAlert, 'id' | 'state'>): AlertAction => ({
  kind: state === 'open' ? 'resolve' : 'end-quiet',
  alertId: id,
})

/** An old alert is ended before a new one fires, because a workload has at most one alert of a rule. */
function decide(
  cause: Cause,
  { workloadId }: WorkloadFacts,
  rule: WorkloadAlertRule,
  current: CurrentAlert | undefined,
): AlertAction[] {
  if (cause.kind === 'unknown') return []
  if (cause.kind === 'absent') return current === undefined ? [] : [toEnd(current)]
  const { message, subject = '', details = {}, isRestated = false, isUnsure = false } = cause
  const severity = cause.severity ?? ALERT_SEVERITY[rule]
  const isWorse = current?.subject === `${subject}${WORSE}`
  if (current !== undefined && (isWorse || current.subject === subject)) {
    const isRight = current.message === message || (!isRestated && !isWorse)
    if (isRight || (isWorse && isUnsure) || current.state !== 'open') return []
    return [{ kind: 'restate', alertId: current.id, message, subject, details, severity }]
  }
  const fire: AlertAction = { kind: 'fire', workloadId, rule, message, subject, details, severity }
  return current === undefined ? [fire] : [toEnd(current), fire]
}

/** What to do about the alerts of one workload, given those that are stored. */
export function decideAlerts(
  facts: WorkloadFacts,
  current: readonly CurrentAlert[],
  settings: RuleSettings,
): AlertAction[] {
  const causes = judgeWorkload(facts, settings)
  return WORKLOAD_ALERT_RULES.flatMap((rule) => {
    const stored = current.find((alert) => alert.rule === rule)
    return decide(causes[rule], facts, rule, stored)
  })
}

/** Why `MIN_AGENT_VERSION` has no effect, for the log at start; null when it is empty or can be compared. */
export function minAgentVersionProblem(minAgentVersion: string): string | null {
  if (minAgentVersion.trim() === '' || isComparable(minAgentVersion)) return null
  return `MIN_AGENT_VERSION "${minAgentVersion}" is not a semantic version such as 0.120.0: the rule is off`
}
