import { type ComponentRef, isCompatible } from '../configs/check/components.ts'
import {
  type CanaryCandidate,
  type CanaryChoice,
  type CanaryFault,
  chooseCanary,
  toCanaryCandidate,
} from '../fleet/rollouts/canary-selection.ts'
import type { StagePlan } from '../store/rollouts.ts'
import type { CanarySelection, CanaryValidation } from '../wire/rollouts.ts'
import { ROLLOUT_GATES } from '../wire/values.ts'
import { type ApprovalParts, checkDraft, type DraftRefusal } from './approval-parts.ts'

/** A config and who is to run it first. */
export interface CanaryWish {
  workloadId: string
  config: string
  selection: CanarySelection
}

export type CanaryVerdict =
  | {
      ok: true
      validation: CanaryValidation
      /** Null when the validation says that it cannot be started. */
      stages: readonly StagePlan[] | null
      /** Whether the fleet as it stands now is in the way, and not what was sent. */
      isConflict: boolean
    }
  | { ok: false; code: 'workload-not-found' }
  | Exclude<DraftRefusal, { code: 'configuration-invalid' }>

const UNSUPPORTED: CanaryFault = {
  code: 'remote_config_unsupported',
  error: 'workload does not accept remote config',
  isConflict: true,
}

/** Say whom a canary would reach and how it would go on, without starting it. */
export async function judgeCanary(parts: ApprovalParts, wish: CanaryWish): Promise<CanaryVerdict> {
  if (wish.config.trim() === '') return { ok: false, code: 'bad-request', error: 'empty config body' }
  const target = await parts.configTargets.find(wish.workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  if (!target.acceptsRemoteConfig) return refuse([UNSUPPORTED])
  const checked = await checkDraft(parts, wish.config, target)
  if (checked.ok) return choose(parts, wish, checked.required)
  if (checked.code !== 'configuration-invalid') return checked
  const found = checked.validationErrors.map(({ code, message }) => ({ code, error: message }))
  const faults = [{ code: 'validation_failed', error: 'configuration failed validation' }, ...found]
  return refuse(faults.map((fault) => ({ ...fault, isConflict: false })))
}

function choose(parts: ApprovalParts, wish: CanaryWish, used: readonly ComponentRef[]): CanaryVerdict {
  const workload = parts.fleet.workload(wish.workloadId)
  if (workload === null) return { ok: false, code: 'workload-not-found' }
  const nowMs = parts.clock.monotonicMs()
  const now = parts.clock.now().toISOString()
  const candidates = parts.fleet
    .liveInstances(workload)
    .map((instance) => toCanaryCandidate(instance, used, isCompatible, nowMs))
  const isElsewhere = (uid: string) => parts.fleet.state.instances.get(uid)?.connection != null
  const choice = chooseCanary(wish.selection, candidates, isElsewhere)
  if (choice.faults.length > 0) return refuse(choice.faults, choice.chosen, now)
  const instanceUids = choice.chosen.map(({ uid }) => uid)
  const rest = { dwellMs: 0, gates: ROLLOUT_GATES }
  return {
    ok: true,
    isConflict: false,
    stages: [
      { count: instanceUids.length, ...rest, canary: { selection: wish.selection, instanceUids } },
      { percentage: 100, ...rest },
    ],
    validation: { valid: true, targets: toTargets(choice.chosen, now), stages: toStages(choice) },
  }
}

const toTargets = (chosen: readonly CanaryCandidate[], now: string): CanaryValidation['targets'] =>
  chosen.map(({ uid, podName, obstacle }) => ({
    instance_uid: uid,
    ...(podName === '' ? {} : { pod_name: podName }),
    status: obstacle === null ? 'eligible' : 'refused',
    ...(obstacle === null ? {} : { stop_reason: obstacle }),
    updated_at: now,
  }))

const toStages = ({ chosen, eligibleCount }: CanaryChoice): CanaryValidation['stages'] => [
  { index: 0, count: chosen.length, target_count: chosen.length, dwell_seconds: 0 },
  { index: 1, percentage: 100, target_count: eligibleCount, dwell_seconds: 0 },
]

function refuse(
  faults: readonly CanaryFault[],
  chosen: readonly CanaryCandidate[] = [],
  now = '',
): CanaryVerdict {
  const reasons = [...new Set(chosen.flatMap(({ obstacle }) => (obstacle === null ? [] : [obstacle])))]
  return {
    ok: true,
    stages: null,
    isConflict: faults.some(({ isConflict }) => isConflict),
    validation: {
      valid: false,
      targets: toTargets(chosen, now),
      stages: [],
      ...(reasons.length === 0 ? {} : { stop_reasons: reasons }),
      error_codes: [...new Set(faults.map(({ code }) => code))],
      errors: faults.map(({ error }) => error),
    },
  }
}
