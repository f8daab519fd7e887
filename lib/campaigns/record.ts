import type { WayBack } from '../model/campaign-steps.ts'
import { countLeftOut } from '../model/left-out.ts'
import type { KeptByItself as StoredKept } from '../store/auto-apply-roll-back.ts'
import type { StoredInPart, StoredMiss, StoredWayBack } from '../store/campaign-outcome.ts'
import type { StoredCampaignTarget } from '../store/campaign-targets.ts'
import type { CampaignSummary, NamedChange, StoredChange } from '../store/campaigns.ts'
import type { Comment } from '../store/comments.ts'
import type { ApprovalHelp, ApprovalRuleInForce, ApprovalTally } from '../wire/approvals.ts'
import type {
  BecameUnhealthy,
  CampaignChange,
  CampaignHalt,
  CampaignMiss,
  CampaignPlan,
  CampaignRecord,
  CampaignScope,
  CampaignTarget,
  KeptByItself,
  UnwellNow,
} from '../wire/campaigns.ts'
import type { PlanProgress } from './plan/planner.ts'
import type { HaltNow } from './run/halt-holds.ts'
import type { HeldUp } from './run/held-up.ts'
import type { StateCounts } from './run/limits.ts'

/** What is shown beside the stored campaign. */
export interface CampaignFacts {
  planning: PlanProgress | null
  counts: { all: StateCounts; waves: readonly StateCounts[] }
  /** How far it is approved; null for one that does not wait for that. */
  tally: ApprovalTally | null
  /** Which rule it is approved by; null where that was not asked, or is over. */
  rule: ApprovalRuleInForce | null
  /** How its halt stands now; null where that was not asked, or it is not halted. */
  haltNow: HaltNow | null
  /** What keeps it from starting anybody; null where nothing does. */
  heldUp: HeldUp | null
  /** Targets of which the stages halted, and are open still. */
  stagesHalted: number
  /** What became of those that failed, by how their rollback stands; null where that was not asked, or none failed. */
  failedSince: Readonly<Record<string, number>> | null
  /** Who became unhealthy since it came to them; null where that was not asked, or nobody did. */
  becameUnhealthy: BecameUnhealthy | null
  /** Who is not well of those that it is to change; null where that was not asked, or nobody is. */
  unwellNow: UnwellNow | null
  /** Where it is applied on some instances of workloads only; null for nowhere. */
  appliedInPart: StoredInPart | null
  /**
   * Whom it has been waiting for, and until when at the latest, null where nobody can say; null for none, or where that
   * was not asked.
   */
  slow: (StoredInPart & { until: Date | null }) | null
  /** What taking it back would do; null where that was not asked, or it cannot be taken back. */
  wayBack: StoredWayBack | null
  /** The campaign that took the version back that it carries, the last one of several; null where none did. */
  versionRolledBackBy: string | null
  /** Who could approve it; null where that was not asked, or nobody waits for it. */
  help: ApprovalHelp | null
  /** Who got its version by itself and keeps it; null where there is none. */
  byItself: KeptByItself | null
  /** Who got its version by itself and is taken back, by state; null where nobody is. */
  takenBack: Readonly<Record<string, number>> | null
  /** What was said about it; none where it is not read by itself. */
  comments: readonly Comment[]
  /** Whether the reader may see config texts. */
  withTexts: boolean
  /** Whether a workload that it names is shown; null for all. */
  sees: ((workloadId: string) => boolean) | null
}

/** A campaign as the wire shows it. */
export function toCampaignRecord(campaign: CampaignSummary, facts: CampaignFacts): CampaignRecord {
  const { planning, counts, tally, help, rule, byItself, takenBack, withTexts, sees } = facts
  const { rules, plan, waveEndedAt, change } = campaign
  const dwellMs = (plan?.waves[campaign.wave]?.dwell_seconds ?? 0) * 1_000
  return {
    id: campaign.id,
    name: campaign.name,
    description: campaign.description,
    status: campaign.status,
    change: (withTexts ? change : withoutTexts(change)) as CampaignChange,
    ...(sees === null ? { scope: campaign.scope } : seenOf(campaign.scope, sees)),
    waves: [...rules.waves],
    limits: { ...rules.limits },
    ...(Object.keys(campaign.raised).length === 0 ? {} : { raised: { ...campaign.raised } }),
    max_in_flight: rules.maxInFlight,
    catch_up_seconds: rules.catchUpSeconds,
    windows: [...rules.windows],
    retry_quarantined: rules.retryQuarantined,
    ...(planning === null ? {} : { planning }),
    ...(plan === null ? {} : { plan: planAsSeen(plan, facts) }),
    ...(campaign.planHash === null ? {} : { plan_hash: campaign.planHash }),
    ...(facts.versionRolledBackBy === null
      ? {}
      : { version_rolled_back: true, version_rolled_back_by: facts.versionRolledBackBy }),
    wave: campaign.wave,
    ...(waveEndedAt === null || campaign.status !== 'running'
      ? {}
      : { wave_ends_at: new Date(waveEndedAt.getTime() + dwellMs).toISOString() }),
    counts: { ...counts.all } as Record<string, number>,
    ...(facts.heldUp === null ? {} : { held_up: toHeldUp(facts.heldUp) }),
    ...(facts.stagesHalted === 0 ? {} : { stages_halted: facts.stagesHalted }),
    ...(facts.failedSince === null ? {} : { failed_since: { ...facts.failedSince } }),
    ...(facts.becameUnhealthy === null ? {} : { became_unhealthy: facts.becameUnhealthy }),
    ...(facts.unwellNow === null ? {} : { unwell_now: facts.unwellNow }),
    ...toInPartRecord(facts),
    ...(facts.wayBack === null ? {} : { way_back: toWayBackRecord(facts.wayBack) }),
    wave_counts: counts.waves.map((wave) => ({ ...wave }) as Record<string, number>),
    ...(campaign.halt === null ? {} : { halt: haltAsSeen(campaign.halt, facts) }),
    created_by: campaign.createdBy,
    created_by_id: campaign.createdById,
    ...present('requested_by', campaign.requestedBy),
    ...present('requested_at', campaign.requestedAt),
    ...present('request_comment', campaign.requestComment),
    approvals: campaign.approvals.map(({ by, at, comment }) => ({ by, at, comment })),
    ...(facts.comments.length === 0 ? {} : { comments: facts.comments.map(toComment) }),
    ...(rule === null ? {} : { approval_rule: rule }),
    ...(tally === null ? {} : { tally }),
    ...(help === null ? {} : { help }),
    ...(byItself === null ? {} : { by_itself: keptAsSeen(byItself, sees) }),
    ...(takenBack === null ? {} : { by_itself_counts: { ...takenBack } }),
    ...present('closed_by', campaign.closedBy),
    ...present('close_comment', campaign.closeComment),
    ...present('started_by', campaign.startedBy),
    ...present('started_at', campaign.startedAt),
    ...present('ended_at', campaign.endedAt),
    created_at: campaign.createdAt.toISOString(),
    updated_at: campaign.updatedAt.toISOString(),
  }
}

const toComment = ({ author, isByToken, body, createdAt }: Comment) => ({
  by: author,
  ...(isByToken ? { by_token: true } : {}),
  at: createdAt.toISOString(),
  comment: body,
})

/** What keeps a campaign from going on, as the wire shows it. */
const toHeldUp = (held: HeldUp): NonNullable<CampaignRecord['held_up']> =>
  held.reason === 'frozen' ? { ...held, until: held.until.toISOString() } : held

/** Where a campaign reached only some instances, as the wire shows it. */
function toInPartRecord({
  appliedInPart: applied,
  slow,
  sees,
}: Pick<CampaignFacts, 'appliedInPart' | 'slow' | 'sees'>): Pick<CampaignRecord, 'in_part'> {
  if (applied === null && slow === null) return {}
  const partOf = ({ workloads, instances, ids, names, places }: StoredInPart) => ({
    workload_count: workloads,
    instance_count: instances,
    workloads: ids
      .map((workload_id, at) => ({
        workload_id,
        workload_name: names[at]!,
        ...present('workload_place', places[at] || null),
      }))
      .filter(({ workload_id }) => sees === null || sees(workload_id)),
  })
  return {
    in_part: {
      ...(applied === null ? {} : { applied: partOf(applied) }),
      ...(slow === null ? {} : { started: { ...partOf(slow), ...present('until', slow.until) } }),
    },
  }
}

/** What taking a campaign back would do, as the wire shows it. */
export const toWayBackRecord = ({ goesBack, withoutBase, movedOn, leftScope }: StoredWayBack): WayBack => ({
  goes_back: goesBack,
  no_way_back: withoutBase,
  moved_on: movedOn,
  ...(leftScope > 0 ? { left_scope: leftScope } : {}),
})

/** A scope without the ids of workloads that are not shown, and how many these are of those that it names. */
function seenOf(scope: CampaignScope, sees: (workloadId: string) => boolean) {
  const { workload_ids: ids, exclude_ids: left } = scope
  const seen = ids?.filter(sees)
  const outside = (ids?.length ?? 0) - (seen?.length ?? 0)
  return {
    scope: {
      ...scope,
      ...(seen === undefined ? {} : { workload_ids: seen }),
      ...(left === undefined ? {} : { exclude_ids: left.filter(sees) }),
    },
    ...(outside === 0 ? {} : { outside_scope_count: outside }),
  }
}

/** A plan, with which components a config uses only where the reader may see configs. */
function planAsSeen(
  { missing_components: missing, ...plan }: CampaignPlan,
  { withTexts }: Pick<CampaignFacts, 'withTexts'>,
): CampaignPlan {
  const left_out = countLeftOut(plan)
  return { ...plan, left_out, ...(withTexts && missing !== undefined ? { missing_components: missing } : {}) }
}

/** What a campaign carries, without its text or patch. */
function withoutTexts(change: StoredChange | NamedChange): NamedChange {
  const { yaml, patch, ...rest } = change as { yaml?: unknown; patch?: unknown } & NamedChange
  return rest
}

/** Why it stopped, naming only those that are shown of the workloads that it is about. */
function haltAsSeen(
  before: CampaignHalt,
  { sees, haltNow }: Pick<CampaignFacts, 'sees' | 'haltNow'>,
): CampaignHalt {
  const { workload_ids: ids, workloads, ...halt } = haltNow?.halt ?? before
  const isSeen = sees ?? (() => true)
  return {
    ...halt,
    workload_ids: ids.filter(isSeen),
    ...(workloads === undefined ? {} : { workloads: workloads.filter(({ workload_id: id }) => isSeen(id)) }),
    ...(haltNow === null ? {} : { holds: haltNow.holds, passed: haltNow.passed }),
  }
}

/** Those that are shown, of all that their number counts. */
const keptAsSeen = ({ workloads, ...counts }: KeptByItself, sees: CampaignFacts['sees']): KeptByItself => ({
  ...counts,
  workloads: workloads.filter(({ workload_id: id }) => sees === null || sees(id)),
})

/** A workload that got a campaign's version by itself, as the wire shows it. */
export const toKeptRecord = (kept: StoredKept): KeptByItself['workloads'][number] => ({
  workload_id: kept.workloadId,
  workload_name: kept.workloadName,
  ...present('workload_place', kept.workloadPlace || null),
  is_newcomer: kept.isNewcomer,
  has_base: kept.hasBase,
  ...present('state', kept.back),
  ...present('cause', kept.back === null ? null : kept.cause),
})

/** Workloads that were missed for one cause, as the wire shows them. */
export const toMissRecord = (miss: StoredMiss): CampaignMiss => ({
  state: miss.state,
  ...present('reason', miss.reason),
  ...present('cause', miss.cause),
  ...present('title', miss.title),
  count: miss.count,
  workloads: miss.ids.map((workload_id, at) => ({
    workload_id,
    workload_name: miss.names[at]!,
    ...present('workload_place', miss.places[at] || null),
  })),
})

/** Whether what is said of a target may tell of a config: why a plan refuses it, or why it was skipped. */
const isAboutText = ({ verdict, state }: StoredCampaignTarget): boolean =>
  verdict === 'refused' || state === 'skipped'

/** A target as the wire shows it. What a patch met in a config is told to whoever may read configs. */
export const toTargetRecord = (
  target: StoredCampaignTarget,
  { withTexts }: Pick<CampaignFacts, 'withTexts'>,
): CampaignTarget => ({
  workload_id: target.workloadId,
  workload_name: target.workloadName,
  ...present('workload_place', target.workloadPlace || null),
  wave: target.wave,
  verdict: target.verdict,
  ...present('reason', target.reason),
  state: target.state,
  ...present('base_hash', target.baseHash),
  ...present('result_hash', target.resultHash),
  ...present('group_key', target.groupKey),
  is_production: target.isProduction,
  instance_count: target.instanceCount,
  ...present('push_id', target.pushId),
  ...present('rollback_push_id', target.rollbackPushId),
  ...present('cause', target.cause),
  ...present('title', withTexts || !isAboutText(target) ? target.title : null),
  ...present('started_at', target.startedAt),
  ...present('ended_at', target.endedAt),
})

type Text<T> = T extends Date ? string : T

/** A field that is there only when it has a value; times in RFC 3339. */
function present<Key extends string, T extends string | Date>(
  key: Key,
  value: T | null,
): { [K in Key]?: Text<T> } {
  if (value === null) return {}
  return { [key]: value instanceof Date ? value.toISOString() : value } as { [K in Key]?: Text<T> }
}
