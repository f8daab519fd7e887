import { type ReportedConfig, standingOf } from '../fleet/decide/standing.ts'
import { UNHEALTHY_SHARE } from '../fleet/decide/status.ts'
import { isComparable, isVersionOutdated } from '../model/versions.ts'
import type { AlertDetails, CurrentAlert } from '../store/alerts.ts'
import type { AlertRule, AlertSeverity, WorkloadAlertRule } from '../wire/alerts.ts'
import type { PushAftermath } from '../wire/revisions.ts'
import { WORKLOAD_ALERT_RULES } from '../wire/values.ts'

/** How grave each rule is. */
export const ALERT_SEVERITY: Record<AlertRule, AlertSeverity> = {
  workload_down: 'critical',
  workload_unhealthy: 'critical',
  push_failed: 'warning',
  config_drift: 'warning',
  version_outdated: 'warning',
  campaign_halted: 'warning',
  auto_apply_held: 'warning',
  config_conflict: 'warning',
}

/** How long so many of a workload's live instances must be unhealthy before `workload_unhealthy` fires. */
export const UNHEALTHY_DELAY_MS = 60_000

/** How long an instance may take to apply what it was assigned, from its first offer or its join. */
export const DRIFT_DELAY_MS = { failed: 60_000, applying: 300_000, other: 180_000 } as const

/** One live instance, as far as drift is concerned. Times are of the monotonic clock. */
export interface InstanceFacts {
  /** Capable, and without a component that the assigned config needs and it lacks. */
  isCompatible: boolean
  /** Whether it says what became of a config (ReportsRemoteConfig). */
  canReport: boolean
  /** What it should run; null when nothing is assigned. */
  assignedHash: string | null
  reported: ReportedConfig
  /** The later of its join and the first offer of the assigned hash. */
  assignedSinceMs: number
  /** `unknown`: it can say how it is and has not yet. */
  health: 'healthy' | 'unhealthy' | 'unknown'
  unhealthySinceMs: number | null
}

/** What the newest push says about the last failure. */
export type PushFacts =
  /** Nothing was pushed, or the newest push was applied. */
  | { kind: 'settled' }
  | { kind: 'undecided' }
  | {
      kind: 'failed'
      pushId: string
      hash: string
      aftermath: PushAftermath
      /** Instances that failed it and those it was meant for; null when only its rollback is known any more. */
      counts: { failed: number; target: number } | null
    }

/** Everything the rules look at in one workload that is not archived. */
export interface WorkloadFacts {
  workloadId: string
  displayName: string
  status: 'connected' | 'degraded' | 'disconnected'
  version: string
  /** The live instances only. */
  instances: readonly InstanceFacts[]
  push: PushFacts
}

export interface RuleSettings {
  /** The lowest version agents should run; empty switches the rule off. */
  minAgentVersion: string
  disconnectGraceSeconds: number
}

/** Whether the cause of an alert is there; `unknown` changes nothing. */
export type Cause =
  | {
      kind: 'present'
      message: string
      /** What it is about, where one cause may follow another without a gap between them. */
      subject?: string
      details?: AlertDetails
    }
  | { kind: 'absent' }
  | { kind: 'unknown' }

const ABSENT: Cause = { kind: 'absent' }
const UNKNOWN: Cause = { kind: 'unknown' }

/** Longer names are cut in messages, which travel to other systems. */
const NAME_LENGTH_MAX = 120

function nameOf(facts: WorkloadFacts): string {
  const name = [...facts.displayName].slice(0, NAME_LENGTH_MAX).join('')
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

type Agreement = 'agrees' | 'unknown' | 'waiting' | 'overdue'

function judgeInstance(instance: InstanceFacts, nowMs: number): Agreement {
  const standing = standingOf(instance.assignedHash, instance.reported)
  if (standing === 'agrees' || standing === 'unknown') return standing
  return nowMs - instance.assignedSinceMs >= DRIFT_DELAY_MS[standing] ? 'overdue' : 'waiting'
}

function driftMessage(facts: WorkloadFacts, counted: number, overdue: readonly InstanceFacts[]): string {
  const hash = overdue[0]!.assignedHash!.slice(0, 12)
  const failed = overdue.filter(
    ({ reported, assignedHash }) => standingOf(assignedHash, reported) === 'failed',
  ).length
  const detail = failed > 0 ? ` (${failed} failed)` : ''
  return `${nameOf(facts)} has not applied config ${hash} on ${overdue.length} of ${counted} instances${detail}`
}

function judgeDrift(facts: WorkloadFacts, nowMs: number): Cause {
  // Nobody is there to agree or to differ: an alert from before stays as it is.
  if (facts.instances.length === 0) return UNKNOWN
  const counted = facts.instances.filter((instance) => instance.isCompatible && instance.canReport)
  const judged = counted.map((instance) => ({ instance, agreement: judgeInstance(instance, nowMs) }))
  const overdue = judged.filter((one) => one.agreement === 'overdue').map((one) => one.instance)
  if (overdue.length > 0) return { kind: 'present', message: driftMessage(facts, counted.length, overdue) }
  return judged.every((one) => one.agreement === 'agrees') ? ABSENT : UNKNOWN
}

function judgeUnhealthy(facts: WorkloadFacts, nowMs: number): Cause {
  const total = facts.instances.length
  if (total === 0) return UNKNOWN
  const unhealthy = facts.instances.filter(({ health }) => health === 'unhealthy')
  const long = unhealthy.filter(
    ({ unhealthySinceMs }) => unhealthySinceMs !== null && nowMs - unhealthySinceMs >= UNHEALTHY_DELAY_MS,
  )
  const limit = UNHEALTHY_SHARE * total
  if (long.length >= limit) {
    const instances = `${total} live ${total === 1 ? 'instance' : 'instances'}`
    return {
      kind: 'present',
      message: `${nameOf(facts)} has been unhealthy on ${long.length} of ${instances} for a minute or longer`,
      details: { unhealthy: long.length, total },
    }
  }
  const unknown = facts.instances.filter(({ health }) => health === 'unknown')
  return unhealthy.length + unknown.length < limit ? ABSENT : UNKNOWN
}

const SHORT_HASH = 12

function describeAftermath({ kind, config_hash: hash = '', running_count: running }: PushAftermath): string {
  const still = `${running} ${running === 1 ? 'instance runs' : 'instances run'} it still`
  if (kind === 'nowhere_to_go') return `there was no earlier config to go back to, ${still}`
  const to = hash.slice(0, SHORT_HASH)
  return kind === 'rollback_failed'
    ? `the rollback to ${to} failed as well, ${still}`
    : `it was rolled back to ${to}`
}

function judgePush(facts: WorkloadFacts): Cause {
  const { push } = facts
  if (push.kind !== 'failed') return push.kind === 'settled' ? ABSENT : UNKNOWN
  const { aftermath, counts } = push
  const where = counts === null ? '' : ` on ${counts.failed} of ${counts.target} instances`
  return {
    kind: 'present',
    message: `${nameOf(facts)}: config ${push.hash.slice(0, SHORT_HASH)} failed${where}; ${describeAftermath(aftermath)}`,
    // A way back that fails as well is news.
    subject: aftermath.kind === 'rollback_failed' ? `${push.pushId}/rollback` : push.pushId,
    details: {
      config_hash: push.hash,
      push_id: push.pushId,
      aftermath: aftermath.kind,
      ...(aftermath.config_hash === undefined ? {} : { to_hash: aftermath.config_hash }),
      running: aftermath.running_count,
    },
  }
}

function judgeVersion(facts: WorkloadFacts, settings: RuleSettings): Cause {
  const { minAgentVersion } = settings
  if (!isVersionOutdated(facts.version, minAgentVersion)) return ABSENT
  const message = `${nameOf(facts)} version ${facts.version.trim().slice(0, 64)} is below minimum ${minAgentVersion.trim()}`
  return { kind: 'present', message }
}

/** What each rule says about one workload at a monotonic time. */
export function judgeWorkload(
  facts: WorkloadFacts,
  settings: RuleSettings,
  nowMs: number,
): Record<WorkloadAlertRule, Cause> {
  return {
    workload_down: judgeDown(facts, settings),
    workload_unhealthy: judgeUnhealthy(facts, nowMs),
    push_failed: judgePush(facts),
    config_drift: judgeDrift(facts, nowMs),
    version_outdated: judgeVersion(facts, settings),
  }
}

/** What has to be done to the stored alert. */
export type AlertAction =
  | {
      kind: 'fire'
      workloadId: string
      rule: WorkloadAlertRule
      message: string
      subject: string
      details: AlertDetails
    }
  | { kind: 'resolve'; alertId: string }
  /** The cause has gone once after an operator resolved the alert: the next cause may fire again. */
  | { kind: 'end-quiet'; alertId: string }

/** What ends a stored alert whose cause is not there. */
export const toEnd = ({ id, state }: Pick<CurrentAlert, 'id' | 'state'>): AlertAction => ({
  kind: state === 'open' ? 'resolve' : 'end-quiet',
  alertId: id,
})

/** What ends comes before what begins: a workload and a rule have one alert at most. */
function decide(
  cause: Cause,
  { workloadId }: WorkloadFacts,
  rule: WorkloadAlertRule,
  current: CurrentAlert | undefined,
): AlertAction[] {
  if (cause.kind === 'unknown') return []
  if (cause.kind === 'absent') return current === undefined ? [] : [toEnd(current)]
  const { message, subject = '', details = {} } = cause
  if (current?.subject === subject) return []
  const fire: AlertAction = { kind: 'fire', workloadId, rule, message, subject, details }
  return current === undefined ? [fire] : [toEnd(current), fire]
}

/** What to do about the alerts of one workload, given those that are stored. */
export function decideAlerts(
  facts: WorkloadFacts,
  current: readonly CurrentAlert[],
  settings: RuleSettings,
  nowMs: number,
): AlertAction[] {
  const causes = judgeWorkload(facts, settings, nowMs)
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
