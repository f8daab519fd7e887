import { placeOf } from '../model/places.ts'
import { lacksCause, type StoredChange } from '../store/change-feed.ts'
import type { ChangeRecord } from '../wire/change-feed.ts'

/** The fields of the record that say where a change stands, by its kind. */
function standingOf({ kind, status, phase, rolloutId, rolloutStatus }: StoredChange): Partial<ChangeRecord> {
  if (kind === 'request') return { request_status: status as NonNullable<ChangeRecord['request_status']> }
  if (kind === 'auto_apply')
    return { auto_apply_status: status as NonNullable<ChangeRecord['auto_apply_status']> }
  if (kind === 'campaign') return { campaign_status: status as NonNullable<ChangeRecord['campaign_status']> }
  const push = {
    status: status as NonNullable<ChangeRecord['status']>,
    phase: phase as NonNullable<ChangeRecord['phase']>,
  }
  if (rolloutId === null) return push
  return {
    ...push,
    rollout_id: rolloutId,
    rollout_status: rolloutStatus as NonNullable<ChangeRecord['rollout_status']>,
  }
}

/** Whether stages of a rollout have not come to all: it goes on, waits, or was given up. */
const isInSomeStages = ({ rolloutStatus }: StoredChange) =>
  rolloutStatus === 'running' || rolloutStatus === 'halted' || rolloutStatus === 'aborted'

/** Of why a campaign halted what everybody may read: no workload, and nobody's name. */
function toldHalt({ halt }: StoredChange): ChangeRecord['halt'] | null {
  if (halt === null) return null
  const { gate, value, limit, wave, cause, title } = halt
  return { gate, value, limit, wave, ...(cause ? { cause } : {}), ...(title ? { title } : {}) }
}

/** What the fleet knows of a change that goes on, or stands still. */
export interface FleetOfChanges {
  /** How many instances of a workload are connected. */
  countLive(workloadId: string): number
  /** What is the matter with a workload, as everybody may be told, where instances are unhealthy since this push. */
  troubleUnder(workloadId: string, pushId: string): ChangeRecord['unhealthy_since'] | null
  /** Why a rollout in stages stands still, as everybody may be told. */
  whyHalted(workloadId: string, rolloutId: string): Pick<ChangeRecord, 'error_cause' | 'error_title'>
  /** That instances do not answer to a push that goes on, or could not be sent it; nothing where all answer. */
  whySilent(workloadId: string, pushId: string): Pick<ChangeRecord, 'error_cause' | 'error_title'>
}

/**
 * Why a push failed, or is not on all of its instances; of a rollout that stands still without that any instance failed it,
 * why it does.
 */
function causeOf(change: StoredChange, fleet: FleetOfChanges): ReturnType<FleetOfChanges['whyHalted']> {
  const { errorCause, errorTitle, workloadId, rolloutId, rolloutStatus } = change
  if (errorCause === null && workloadId !== null && rolloutId !== null && rolloutStatus === 'halted')
    return fleet.whyHalted(workloadId, rolloutId)
  if (workloadId !== null && lacksCause(change)) {
    const { missedCause: error_cause, missedTitle: error_title } = change
    return error_cause && error_title ? { error_cause, error_title } : fleet.whySilent(workloadId, change.id)
  }
  return {
    ...(errorCause === null ? {} : { error_cause: errorCause }),
    ...(errorTitle === null ? {} : { error_title: errorTitle }),
  }
}

/** A change that was stored, and what keeps the campaign that it is from going on; null where nothing does. */
export interface FedChange extends StoredChange {
  heldUp: NonNullable<ChangeRecord['held_up']> | null
}

/** A change as the wire shows it. Comments are for those who may request changes. */
export function toChangeRecord(
  change: FedChange,
  sees: { comments: boolean },
  fleet: FleetOfChanges,
): ChangeRecord {
  const { workloadId } = change
  const optional = {
    ended_at: change.endedAt?.toISOString() ?? null,
    requester: change.requester,
    approver: change.approver,
    workload_id: change.workloadId,
    workload_name: change.workloadName,
    workload_place: placeOf(change.workloadKeys ?? {}) || null,
    config_hash: change.hash,
    failed_config_hash: change.failedHash,
    approval_id: change.approvalId,
    campaign_id: change.campaignId,
    campaign_name: change.campaignName,
    auto_apply_id: change.autoApplyId,
    fleet_config_id: change.fleetConfigId,
    fleet_config_name: change.fleetConfigName,
    version_number: change.versionNumber,
    comment: sees.comments && change.comment !== '' ? change.comment : null,
    unhealthy_since: workloadId === null ? null : fleet.troubleUnder(workloadId, change.id),
    target_count: change.targetCount,
    instance_count: workloadId !== null && isInSomeStages(change) ? fleet.countLive(workloadId) : null,
    applied_count: change.appliedCount,
    failed_count: change.failedCount,
    skipped_count: change.skippedCount ?? null,
    taken_back_count: change.takenBackCount ?? null,
    in_part_count: change.inPartCount ?? null,
    by_itself_taken_back_count: change.byItselfTakenBackCount ?? null,
    push_count: change.pushCount,
    held_up: change.heldUp,
    halt: toldHalt(change),
  }
  return {
    kind: change.kind,
    id: change.id,
    at: change.at.toISOString(),
    outcome: change.outcome,
    ...standingOf(change),
    who: change.who,
    is_break_glass: change.isBreakGlass,
    ...causeOf(change, fleet),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)),
  }
}
