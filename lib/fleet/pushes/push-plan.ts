import type { UsedComponent } from '../../model/components.ts'
import type { PushTarget } from '../../store/push-targets.ts'
import { canReport, isCapable } from '../decide/abilities.ts'
import { awaitsComponents } from '../state/component-lists.ts'
import type { FleetDeps } from '../state/deps.ts'
import { newTarget } from '../state/followed-push.ts'
import type { Instance, Workload } from '../state/model.ts'
import { hasFailed, isQuarantined } from '../state/state.ts'

/** Why an instance of the workload gets no offer of a push. */
export type ExclusionReason = 'read_only' | 'not_a_collector' | 'component_missing' | 'failed_before'

/** Whom a push is for, as the instances stand now. */
export interface PushPlan {
  targets: readonly { instance: Instance; target: PushTarget }[]
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

/** Nothing offers it this config by itself. */
const hasFailedBefore = ({ workload, uid }: Instance, hash: string) =>
  workload !== null && isQuarantined(workload, hash, uid)

/** It reports this config as applied, and no offer of another one may still overtake that. */
function runsAlready(instance: Instance, hash: string): boolean {
  const { reported, offer } = instance
  if (!reported.isKnown || reported.hash !== hash || reported.status !== 'applied') return false
  const isOtherUnderWay =
    offer !== null && offer.hash !== hash && offer.ended === null && offer.lastSentAtMs !== null
  return !isOtherUnderWay && instance.unansweredOtherHash === null
}

/**
 * The targets of a push over the live instances of a workload. `lifted` names those whose quarantine an operator's
 * push has lifted; with null it lifts none, and who has failed the config is left out.
 */
export function planPush(
  live: readonly Instance[],
  push: { hash: string; generation: number; now: Date },
  used: readonly UsedComponent[],
  lifted: ReadonlySet<string> | null,
  isCompatible: FleetDeps['isCompatible'],
): PushPlan {
  const targets: { instance: Instance; target: PushTarget }[] = []
  const excluded: Record<string, number> = {}
  for (const instance of live) {
    // It joins when it is known what it is and can run.
    if (instance.undescribedSinceMs !== null) continue
    if (awaitsComponents(instance) && !runsAlready(instance, push.hash)) continue
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
      state: !reports ? 'cannot_report' : runsAlready(instance, push.hash) ? 'applied' : 'offered',
      hadFailedBefore: hasFailed(instance, push.hash) || lifted?.has(instance.uid) === true,
      now: push.now,
    })
    targets.push({ instance, target })
  }
  return { targets, excluded }
}

/** Is there anyone who could take a config now? */
export function hasCapableInstance(workload: Workload): boolean {
  for (const instance of workload.instances) {
    if (instance.connection !== null && isCapable(instance)) return true
  }
  return false
}
