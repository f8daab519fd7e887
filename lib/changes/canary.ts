import { type ComponentRef, isCompatible } from '../configs/check/components.ts'
import {
  type CanaryCandidate,
  type CanaryChoice,
  type CanaryFault,
  chooseCanary,
  toCanaryCandidate,
} from '../fleet/rollouts/canary-selection.ts'
import { type Refusal, refuse } from '../model/refusal.ts'
import type { StagePlan } from '../store/rollouts.ts'
import type { ValidationErrorWire } from '../wire/errors.ts'
import type { CanarySelection, CanaryValidation } from '../wire/rollouts.ts'
import { ROLLOUT_GATES } from '../wire/values.ts'
import { type ApprovalParts, checkDraft, type DraftRefusal } from './approval-parts.ts'

/** A config, and the selection of instances that are to run it first. */
export interface CanaryWish {
  workloadId: string
  config: string
  selection: CanarySelection
}

/** Why a canary cannot be started. */
export type CanaryRefusal = CanaryFault | Refusal<'remote-config-unsupported' | 'validation-failed'>

/** Which instances a canary reaches, and its stages. */
export interface CanaryJudgement {
  ok: true
  targets: CanaryValidation['targets']
  /** The stages of the push; null where the canary cannot be started. */
  stages: readonly StagePlan[] | null
  /** The same stages as browsers see them. */
  shownStages: CanaryValidation['stages']
  stopReasons: readonly string[]
  /** Empty where it can be started. */
  refusals: readonly CanaryRefusal[]
  /** Why the config is not valid; empty unless that is what keeps the canary from starting. */
  findings: readonly ValidationErrorWire[]
}

/** A judged canary, which may be one that cannot be started, or why nothing could be judged. */
export type CanaryVerdict =
  | CanaryJudgement
  | Refusal<'config-empty' | 'workload-not-found'>
  | Exclude<DraftRefusal, { code: 'configuration-invalid' }>

/** Say which instances a canary would reach and in which stages, without starting it. */
export async function judgeCanary(parts: ApprovalParts, wish: CanaryWish): Promise<CanaryVerdict> {
  if (wish.config.trim() === '') return refuse('config-empty')
  const target = await parts.configTargets.find(wish.workloadId)
  if (target === null) return { ok: false, code: 'workload-not-found' }
  if (!target.acceptsRemoteConfig) return turnDown([refuse('remote-config-unsupported')])
  const checked = await checkDraft(parts, wish.config, target)
  if (checked.ok) {
    // Right after a start the instances that were chosen by name are still on their way.
    const workload = parts.fleet.workload(wish.workloadId)
    if (workload !== null) await parts.fleet.canTakeConfig(workload)
    return choose(parts, wish, checked.required)
  }
  if (checked.code !== 'configuration-invalid') return checked
  return { ...turnDown([refuse('validation-failed')]), findings: checked.validationErrors }
}

function choose(parts: ApprovalParts, wish: CanaryWish, used: readonly ComponentRef[]): CanaryVerdict {
  const workload = parts.fleet.workload(wish.workloadId)
  if (workload === null) return { ok: false, code: 'workload-not-found' }
  const nowMs = parts.fleet.clock.heardMs()
  const now = parts.clock.now().toISOString()
  const candidates = parts.fleet
    .liveInstances(workload)
    .map((instance) => toCanaryCandidate(instance, used, isCompatible, nowMs))
  const isElsewhere = (uid: string) => parts.fleet.state.instances.get(uid)?.connection != null
  const choice = chooseCanary(wish.selection, candidates, isElsewhere)
  if (choice.faults.length > 0) return turnDown(choice.faults, choice.chosen, now)
  const instanceUids = choice.chosen.map(({ uid }) => uid)
  const rest = { dwellMs: 0, gates: ROLLOUT_GATES }
  return {
    ok: true,
    targets: toTargets(choice.chosen, now),
    stages: [
      { count: instanceUids.length, ...rest, canary: { selection: wish.selection, instanceUids } },
      { percentage: 100, ...rest },
    ],
    shownStages: toStages(choice),
    stopReasons: [],
    refusals: [],
    findings: [],
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

function turnDown(
  refusals: readonly CanaryRefusal[],
  chosen: readonly CanaryCandidate[] = [],
  now = '',
): CanaryJudgement {
  return {
    ok: true,
    targets: toTargets(chosen, now),
    stages: null,
    shownStages: [],
    stopReasons: [...new Set(chosen.flatMap(({ obstacle }) => (obstacle === null ? [] : [obstacle])))],
    refusals,
    findings: [],
  }
}
