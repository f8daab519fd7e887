import type { CampaignParts } from '../campaigns/judge/parts.ts'
import { isInOneOf } from '../campaigns/judge/scope.ts'
import type { StartedPush, Starter, StartTarget } from '../campaigns/run/start-targets.ts'
import { type StoredAutoApply, shareAutoApply } from '../store/auto-apply.ts'
import { insertAutoApplyTargets, type StoredAutoApplyTarget } from '../store/auto-apply-targets.ts'
import { hasOpenCampaign, listScopesRolledBack } from '../store/fleet-config-history.ts'

/** A workload that a version reaches by itself. */
export interface ReachedTarget extends StartTarget {
  workloadName: string
  workloadPlace: string
  isNewcomer: boolean
}

/**
 * The starter of the workloads that a version reaches by itself; pushes are made in the name of whoever requested it.
 */
export function autoApplyStarter(
  { clock, fleet }: Pick<CampaignParts, 'clock' | 'fleet'>,
  autoApply: StoredAutoApply,
): Starter<ReachedTarget> {
  const { id, fleetConfigId, number, requestedBy, requestedById } = autoApply
  return {
    id,
    path: 'auto-apply',
    transaction: 'auto-apply.push',
    // What was approved is carried out, whatever its requester may do by now.
    actor: { userId: requestedById, email: requestedBy, askAgain: null },
    fleetConfigId,
    retriesQuarantined: false,
    async note(tx, started) {
      if ((await shareAutoApply(tx, id)) !== 'active') return { ok: false, code: 'starter-stopped' }
      const isForOlder = started.some(({ target }) => !target.isNewcomer)
      if (isForOlder && (await hasOpenCampaign(tx, fleetConfigId)))
        return { ok: false, code: 'changed-meanwhile' }
      const rolledBackIn = await listScopesRolledBack(tx, fleetConfigId, number)
      const workloads = started.flatMap(({ target }) => fleet.workload(target.workloadId) ?? [])
      if (workloads.some((workload) => isInOneOf(rolledBackIn, workload)))
        return { ok: false, code: 'changed-meanwhile' }
      const startedAt = clock.now()
      const rows = started.map((one) => toRow(id, one, startedAt))
      // Where it was brought to one of several before, each is tried alone, so that the others do not wait for it.
      if (!(await insertAutoApplyTargets(tx, rows)))
        return { ok: false, code: started.length > 1 ? 'changed-meanwhile' : 'starter-stopped' }
      await tx.recordAll(
        started.map(({ push }) => ({
          action: 'auto_apply.push',
          resource: 'workload',
          resourceId: push.workloadId,
          configHash: push.hash,
          detail: JSON.stringify({
            auto_apply_id: id,
            fleet_config_id: fleetConfigId,
            number,
            push_id: push.pushId,
          }),
        })),
      )
      return { ok: true }
    },
  }
}

const toRow = (
  autoApplyId: string,
  { target, push }: Pick<StartedPush<ReachedTarget>, 'target' | 'push'>,
  startedAt: Date,
): StoredAutoApplyTarget => ({
  autoApplyId,
  workloadId: target.workloadId,
  workloadName: target.workloadName,
  workloadPlace: target.workloadPlace,
  isNewcomer: target.isNewcomer,
  isProduction: target.isProduction,
  baseHash: target.baseHash,
  resultHash: push.hash,
  state: 'started',
  pushId: push.pushId,
  rollbackPushId: null,
  rolledBackBy: null,
  startedAt,
  cause: null,
  title: null,
  endedAt: null,
})
