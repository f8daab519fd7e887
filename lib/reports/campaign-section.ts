import { countLeftOut } from '../model/left-out.ts'
import { sayStop } from '../model/stops.ts'
import { statesThat } from '../model/target-states.ts'
import type {
  AutoApplyReportRow,
  CampaignReportRow,
  CampaignTargetRow,
  ReportApproval,
} from '../store/report-material.ts'
import type { FactValue } from '../wire/reports.ts'
import { type ItemDraft, toOptionalTime, toTime, userRef } from './section-items.ts'

/** The canonical form of a pack has whole numbers only; any other number becomes a text. */
const whole = (value: number): number | string => (Number.isSafeInteger(value) ? value : String(value))

function wholes(values: Readonly<Record<string, number | undefined>>): Record<string, FactValue> {
  const said = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, whole(value)] as const],
  )
  return Object.fromEntries(said)
}

const sayApprovals = (approvals: readonly ReportApproval[]): FactValue =>
  approvals.map(({ byId, at, comment }) => ({ by: userRef(byId), at, comment }))

/**
 * Each wave with its planned size, when it began and ended, and how many targets are in each state; an open wave has no
 * end.
 */
function sayWaves({ plan, waveStates }: CampaignReportRow): FactValue {
  const last = Math.max(-1, ...waveStates.map(({ wave }) => wave))
  const count = Math.max(plan?.waves.length ?? 0, last + 1)
  return Array.from({ length: count }, (_, wave) => {
    const states = waveStates.filter((one) => one.wave === wave)
    const began = states.flatMap((one) => one.began ?? [])
    const ended = states.flatMap((one) => one.ended ?? [])
    const isOpen = states.some(({ state }) => state === 'waiting' || state === 'started')
    const planned = plan?.waves[wave]
    return {
      wave: wave + 1,
      ...(planned === undefined ? {} : { target_count: planned.target_count }),
      ...(planned === undefined ? {} : { dwell_seconds: whole(planned.dwell_seconds) }),
      ...(began.length === 0 ? {} : { began_at: toTime(Math.min(...began)) }),
      ...(isOpen || ended.length === 0 ? {} : { ended_at: toTime(Math.max(...ended)) }),
      outcomes: Object.fromEntries(states.map(({ state, count: n }) => [state, n])),
    }
  })
}

function sayWindows(row: CampaignReportRow): FactValue {
  return row.rules.windows.map(({ days, from, to }) => ({
    from,
    to,
    ...(days === undefined ? {} : { days }),
  }))
}

/** The facts of the plan of a campaign; none before it is planned. */
function planFacts({ plan }: CampaignReportRow): Record<string, FactValue> {
  if (plan === null) return {}
  return {
    target_count: plan.target_count,
    instance_count: plan.instance_count,
    production_count: plan.production_count,
    no_way_back_count: plan.no_way_back_count,
    environments: plan.environments,
    clusters: plan.clusters,
    verdicts: wholes(plan.verdicts),
    left_out: wholes(countLeftOut(plan)),
  }
}

/** A campaign: what was asked for, who allowed it, how its waves went and how it ended. */
export function draftCampaign(row: CampaignReportRow): ItemDraft {
  const { halt, rules } = row
  const sentence = halt === null ? null : sayStop(halt)
  return {
    id: `campaign:${row.id}`,
    workloadId: `campaign:${row.id}`,
    resource: 'campaign',
    resourceId: row.id,
    observedAt: row.endedAt ?? row.startedAt ?? row.askedAt,
    severity: row.status === 'halted' ? 'warning' : null,
    summary: `Campaign "${row.name}": ${row.status}${sentence === null ? '' : `; halted: ${sentence}`}`,
    facts: {
      name: row.name,
      status: row.status,
      change: row.changeKind,
      change_hash: row.changeHash,
      fleet_config_id: row.fleetConfigId,
      version_number: row.versionNumber,
      plan_hash: row.planHash,
      ...planFacts(row),
      limits: wholes(rules.limits),
      raised_limits: wholes(row.raised),
      max_in_flight: whole(rules.maxInFlight),
      catch_up_seconds: whole(rules.catchUpSeconds),
      windows: sayWindows(row),
      retry_quarantined: rules.retryQuarantined,
      requested_by: userRef(row.requestedById),
      requested_at: toOptionalTime(row.requestedAt),
      request_comment: row.requestComment,
      approvals: sayApprovals(row.approvals),
      started_by: userRef(row.startedById),
      started_at: toOptionalTime(row.startedAt),
      waves: sayWaves(row),
      halt: sentence,
      halt_gate: halt?.gate,
      halt_value: halt === null ? null : whole(halt.value),
      halt_limit: halt === null ? null : whole(halt.limit),
      halt_wave: halt === null ? null : halt.wave + 1,
      halt_title: halt?.title,
      closed_by: row.isClosedByItself ? 'muster' : userRef(row.closedById),
      close_comment: row.closeComment,
      ended_at: toOptionalTime(row.endedAt),
    },
    // The e-mail addresses of those who decided are left out.
    hasRemoved: true,
  }
}

/** A version of a fleet config that applied by itself: who allowed it, and how it stands. */
export function draftAutoApply(row: AutoApplyReportRow): ItemDraft {
  const name = `${row.fleetConfigName} ${row.number}`
  const sentence = row.hold === null ? null : sayStop(row.hold)
  return {
    id: `auto_apply:${row.id}`,
    workloadId: `auto_apply:${row.id}`,
    resource: 'auto_apply',
    resourceId: row.id,
    observedAt: row.endedAt ?? row.activeAt ?? row.requestedAt,
    severity: row.status === 'held' ? 'warning' : null,
    summary: `Version ${row.number} of fleet config "${row.fleetConfigName}" by itself: ${row.status}${sentence === null ? '' : `; stopped: ${sentence}`}`,
    facts: {
      name,
      status: row.status,
      fleet_config_id: row.fleetConfigId,
      version_number: row.number,
      change_hash: row.versionHash,
      selector: row.selector as FactValue,
      priority: whole(row.priority),
      reaches_production: row.reachesProduction,
      plan_hash: row.planHash,
      requested_by: userRef(row.requestedById),
      requested_at: toTime(row.requestedAt),
      request_comment: row.requestComment,
      approvals: sayApprovals(row.approvals),
      active_since: toOptionalTime(row.activeAt),
      outcomes: wholes(row.outcomes),
      halt: sentence,
      halt_gate: row.hold?.gate,
      halt_value: row.hold === null ? null : whole(row.hold.value),
      halt_limit: row.hold === null ? null : whole(row.hold.limit),
      halt_title: row.hold?.title,
      closed_by: row.closedBy,
      close_comment: row.closeComment,
      end_cause: row.endCause,
      ended_at: toOptionalTime(row.endedAt),
    },
    hasRemoved: true,
  }
}

const BAD_STATES: ReadonlySet<string> = new Set(statesThat('went-wrong'))

/** What became of one target. `workloadName` is the name that it had then: the workload may be gone. */
export function draftCampaignTarget(row: CampaignTargetRow): ItemDraft {
  const ofCampaign = row.kind === 'campaign'
  const by = ofCampaign ? `campaign "${row.parentName}"` : `"${row.parentName}" by itself`
  return {
    id: `${row.kind}_target:${row.parentId}:${row.workloadId}`,
    workloadId: row.workloadId,
    resource: `${row.kind}_target`,
    resourceId: `${row.parentId}:${row.workloadId}`,
    observedAt: row.endedAt ?? row.startedAt,
    severity: BAD_STATES.has(row.state) ? 'failed' : null,
    summary: `${row.workloadName}: ${row.state}, ${by}`,
    facts: {
      [`${row.kind}_id`]: row.parentId,
      name: row.parentName,
      workload_id: row.workloadId,
      workload_name: row.workloadName,
      wave: row.wave === null ? null : row.wave + 1,
      verdict: row.verdict,
      outcome: row.state,
      reason: row.reason,
      is_newcomer: row.isNewcomer,
      is_production: row.isProduction,
      instance_count: row.instanceCount,
      base_config_hash: row.baseHash,
      result_config_hash: row.resultHash,
      push_id: row.pushId,
      rollback_push_id: row.rollbackPushId,
      error_cause: row.cause,
      error_title: row.title,
      started_at: toOptionalTime(row.startedAt),
      ended_at: toOptionalTime(row.endedAt),
    },
    contentHash: row.resultHash,
  }
}
