import { endOfStopped } from '../model/left-stopped.ts'
import type { StoredAutoApply } from '../store/auto-apply.ts'
import type { StoredAutoApplyTarget } from '../store/auto-apply-targets.ts'
import type { ApprovalHelp, ApprovalRuleInForce, ApprovalTally } from '../wire/approvals.ts'
import type { AutoApplyRecord, AutoApplyTarget } from '../wire/auto-apply.ts'

const isStopped = ({ status }: StoredAutoApply): boolean => status === 'paused' || status === 'held'

/** A version that applies by itself, as the wire shows it; without comments for whoever may not request changes. */
export function toAutoApplyRecord(
  stored: StoredAutoApply,
  counts: AutoApplyRecord['counts'],
  {
    tally,
    help,
    rule,
    withComments,
  }: {
    tally: ApprovalTally | null
    help: ApprovalHelp | null
    rule: ApprovalRuleInForce | null
    withComments: boolean
  },
): AutoApplyRecord {
  const { hold, endCause } = stored
  return {
    id: stored.id,
    fleet_config_id: stored.fleetConfigId,
    status: stored.status,
    number: stored.number,
    selector: stored.selector,
    priority: stored.priority,
    plan: stored.plan,
    plan_hash: stored.planHash,
    reaches_production: stored.reachesProduction,
    requested_by: stored.requestedBy,
    requested_at: stored.requestedAt.toISOString(),
    ...(stored.requestComment === '' || !withComments ? {} : { request_comment: stored.requestComment }),
    approvals: stored.approvals.map(({ by, at, comment }) => ({
      by,
      at,
      comment: withComments ? comment : '',
    })),
    ...(tally === null ? {} : { tally }),
    ...(help === null ? {} : { help }),
    ...(rule === null ? {} : { approval_rule: rule }),
    ...(stored.activeSince === null ? {} : { active_since: stored.activeSince.toISOString() }),
    ...(hold === null ? {} : { hold }),
    ...(isStopped(stored) ? { ends_at: endOfStopped(stored.updatedAt).toISOString() } : {}),
    counts,
    ...(stored.closedBy === null ? {} : { closed_by: stored.closedBy }),
    ...(stored.closeComment === null || !withComments ? {} : { close_comment: stored.closeComment }),
    ...(endCause === null ? {} : { end_cause: endCause }),
    ...(stored.endedAt === null ? {} : { ended_at: stored.endedAt.toISOString() }),
    updated_at: stored.updatedAt.toISOString(),
  }
}

/** What was pushed to one workload, as the wire shows it. */
export const toAutoApplyTarget = (target: StoredAutoApplyTarget): AutoApplyTarget => ({
  workload_id: target.workloadId,
  workload_name: target.workloadName,
  ...(target.workloadPlace === '' ? {} : { workload_place: target.workloadPlace }),
  is_newcomer: target.isNewcomer,
  is_production: target.isProduction,
  state: target.state,
  ...(target.baseHash === null ? {} : { base_hash: target.baseHash }),
  result_hash: target.resultHash,
  push_id: target.pushId,
  ...(target.rollbackPushId === null ? {} : { rollback_push_id: target.rollbackPushId }),
  ...(target.rolledBackBy === null ? {} : { rolled_back_by: target.rolledBackBy }),
  ...(target.cause === null ? {} : { cause: target.cause }),
  ...(target.title === null ? {} : { title: target.title }),
  started_at: target.startedAt.toISOString(),
  ...(target.endedAt === null ? {} : { ended_at: target.endedAt.toISOString() }),
})
