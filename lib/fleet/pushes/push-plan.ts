import type { UsedComponent } from '../../model/components.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { runsForGood, standsTo } from '../decide/standing.ts'
import { awaitsComponents } from '../state/component-lists.ts'
import type { FleetDeps } from '../state/deps.ts'
import { newTarget } from '../state/followed-push.ts'
import { connectionIdOf, type Instance, type Workload } from '../state/model.ts'
import type { PlannedTarget } from '../state/outcomes.ts'
import { isQuarantined } from '../state/state.ts'

/** Why a live instance of the workload is left out of a push. */
export type ExclusionReason = 'read_only' | 'not_a_collector' | 'component_missing' | 'failed_before'

/** The targets of a push as the instances are now, and how many are left out, by reason. */
export interface PushPlan {
  targets: readonly PlannedTarget[]
  excluded: Readonly<Record<string, number>>
}

/** Why this live instance is left out of a config that uses these components; null when it is not. */
export function exclusionOf(
  instance: Instance,
  used: readonly UsedComponent[],
  isCompatible: FleetDeps['isCompatible'],
): ExclusionReason | null {
  if (instance.isExcluded) return 'not_a_collector'
  if (!isCapable(instance)) return 'read_only'
  return isCompatible(used, instance.components?.components ?? null) ? null : 'component_missing'
}

/** Is the config in quarantine for this instance? */
const hasFailedBefore = ({ workload, uid }: Instance, hash: string) =>
  workload !== null && isQuarantined(workload, hash, uid)

const needsNoOffer = (instance: Instance, hash: string) =>
  runsForGood(
    {
      reported: instance.reported,
      offer: instance.offer,
      unansweredOtherHash: instance.unansweredOtherHash,
      connectionId: connectionIdOf(instance),
    },
    hash,
  )

/**
 * The targets of a push over the live instances of a workload. `lifted` names those whose quarantine an operator's
 * push has lifted; with null it lifts none, and instances for which the config is in quarantine are left out.
 */
export function planPush(
  live: readonly Instance[],
  push: { hash: string; generation: number; now: Date },
  used: readonly UsedComponent[],
  lifted: ReadonlySet<string> | null,
  isCompatible: FleetDeps['isCompatible'],
): PushPlan {
  const targets: PlannedTarget[] = []
  const excluded: Record<string, number> = {}
  for (const instance of live) {
    // An instance that has not said what it is, or what it can run, joins the push once it has.
    if (instance.undescribedSinceMs !== null) continue
    if (awaitsComponents(instance) && !needsNoOffer(instance, push.hash)) continue
    const reason =
      exclusionOf(instance, used, isCompatible) ??
      (lifted === null && hasFailedBefore(instance, push.hash) ? 'failed_before' : null)
    if (reason !== null) {
      excluded[reason] = (excluded[reason] ?? 0) + 1
      continue
    }
    const reports = canReport(instance)
    const target = newTarget(instance, {
      generation: push.generation,
      isTarget: reports,
      isJoiner: false,
      state: !reports ? 'cannot_report' : needsNoOffer(instance, push.hash) ? 'applied' : 'offered',
      hadFailedBefore: standsTo(instance, push.hash) === 'failed' || lifted?.has(instance.uid) === true,
      now: push.now,
    })
    targets.push({ instance, target })
  }
  return { targets, excluded }
}

/** Is a live instance of the workload able to take a config? */
export function hasCapableInstance(workload: Workload): boolean {
  for (const instance of workload.instances) {
    if (instance.connection !== null && isCapable(instance)) return true
  }
  return false
}
