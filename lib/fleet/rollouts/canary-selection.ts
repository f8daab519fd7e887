import type { UsedComponent } from '../../model/components.ts'
import { type Refusal, refuse } from '../../model/refusal.ts'
import type { CanarySelection } from '../../wire/rollouts.ts'
import { canReport, hasOutstandingOffer } from '../decide/abilities.ts'
import { isDegrading, judgeHealth } from '../decide/status.ts'
import { exclusionOf } from '../pushes/push-plan.ts'
import type { FleetDeps } from '../state/deps.ts'
import type { Instance } from '../state/model.ts'

/** Why a live instance cannot be among the first to run a config. */
export type CanaryObstacle = 'remote_config_unsupported' | 'component_missing' | 'collector_degraded'

/** One live instance of the workload, as a selection looks at it. */
export interface CanaryCandidate {
  uid: string
  podName: string
  attributes: ReadonlyMap<string, string>
  /** Null when it can be chosen. */
  obstacle: CanaryObstacle | null
}

/** What is wrong with a selection. */
export type CanaryFault = Refusal<
  | 'canary-empty'
  | 'canary-too-broad'
  | 'collector-degraded'
  | 'instance-component-missing'
  | 'instance-remote-config-unsupported'
  | 'instance-target-cross-workload'
  | 'instance-target-not-connected'
  | 'invalid-count'
  | 'invalid-instance-target'
  | 'invalid-labels'
  | 'invalid-percentage'
  | 'percentage-of-everybody'
  | 'unsupported-selection-strategy'
>

/** What a selection comes to. */
export interface CanaryChoice {
  /** The chosen instances; where the selection is refused, those that it named or matched. */
  chosen: readonly CanaryCandidate[]
  eligibleCount: number
  /** Empty when the selection is accepted. */
  faults: readonly CanaryFault[]
}

/** A live instance as a candidate for a config that uses these components. */
export function toCanaryCandidate(
  instance: Instance,
  used: readonly UsedComponent[],
  isCompatible: FleetDeps['isCompatible'],
  nowMs: number,
): CanaryCandidate {
  const { uid, podName, attributes } = instance
  return {
    uid,
    podName,
    attributes: attributes ?? new Map(),
    obstacle: obstacleOf(instance, used, isCompatible, nowMs),
  }
}

function obstacleOf(
  instance: Instance,
  used: readonly UsedComponent[],
  isCompatible: FleetDeps['isCompatible'],
  nowMs: number,
): CanaryObstacle | null {
  const excluded = exclusionOf(instance, used, isCompatible)
  if (excluded === 'component_missing') return excluded
  // An instance that cannot report what became of a config proves nothing about it.
  if (excluded !== null || !canReport(instance)) return 'remote_config_unsupported'
  const { unhealthySinceMs } = instance
  const health = { verdict: judgeHealth(instance.health), unhealthySinceMs }
  const isSick = isDegrading({ ...health, hasOutstandingOffer: hasOutstandingOffer(instance) }, nowMs)
  return isSick ? 'collector_degraded' : null
}

const FAULT_OF: Readonly<Record<CanaryObstacle, CanaryFault['code']>> = {
  remote_config_unsupported: 'instance-remote-config-unsupported',
  component_missing: 'instance-component-missing',
  collector_degraded: 'collector-degraded',
}

type Picked = { chosen: readonly CanaryCandidate[]; faults: readonly CanaryFault[] }

/** The instances that are named one by one; `isElsewhere` tells whether a uid belongs to another workload. */
function pickNamed(
  uids: readonly string[],
  candidates: readonly CanaryCandidate[],
  isElsewhere: (uid: string) => boolean,
): Picked {
  const chosen: CanaryCandidate[] = []
  const faults: CanaryFault[] = []
  for (const uid of new Set(uids.filter((text) => text !== ''))) {
    const found = candidates.find((candidate) => candidate.uid === uid)
    const instance = { instance: uid }
    if (found !== undefined) {
      chosen.push(found)
      if (found.obstacle !== null) faults.push(refuse(FAULT_OF[found.obstacle], instance))
    } else if (isElsewhere(uid)) faults.push(refuse('instance-target-cross-workload', instance))
    else faults.push(refuse('instance-target-not-connected', instance))
  }
  return { chosen, faults }
}

const none = (...faults: CanaryFault[]): Picked => ({ chosen: [], faults })

function pick(
  selection: CanarySelection,
  candidates: readonly CanaryCandidate[],
  isElsewhere: (uid: string) => boolean,
): Picked {
  const eligible = candidates.filter(({ obstacle }) => obstacle === null)
  const first = (count: number): Picked => ({ chosen: eligible.slice(0, count), faults: [] })
  switch (selection.strategy) {
    case 'one':
      if (!selection.instance_uid) return none(refuse('invalid-instance-target'))
      return pickNamed([selection.instance_uid], candidates, isElsewhere)
    case 'instances':
      return pickNamed(selection.instance_uids ?? [], candidates, isElsewhere)
    case 'count':
    case 'n': {
      const { count = 0 } = selection
      return Number.isInteger(count) && count > 0 ? first(count) : none(refuse('invalid-count'))
    }
    case 'percentage': {
      const { percentage = 0 } = selection
      if (!(percentage > 0)) return none(refuse('invalid-percentage'))
      if (percentage >= 100) return none(refuse('percentage-of-everybody'))
      return first(Math.ceil((eligible.length * percentage) / 100))
    }
    case 'label_selector': {
      const wanted = Object.entries(selection.labels ?? {})
      if (wanted.length === 0) return none(refuse('invalid-labels'))
      const matches = (one: CanaryCandidate) =>
        wanted.every(([key, value]) => one.attributes.get(key) === value)
      return { chosen: eligible.filter(matches), faults: [] }
    }
    default:
      return none(refuse('unsupported-selection-strategy'))
  }
}

/**
 * The instances that run a config first. They must be fewer than those that could: with all of them a bad config would
 * reach the whole workload at once. `candidates` are the workload's live instances, in the order of choice.
 */
export function chooseCanary(
  selection: CanarySelection,
  candidates: readonly CanaryCandidate[],
  isElsewhere: (uid: string) => boolean,
): CanaryChoice {
  const { chosen, faults } = pick(selection, candidates, isElsewhere)
  const eligibleCount = candidates.filter(({ obstacle }) => obstacle === null).length
  if (faults.length > 0) return { chosen, eligibleCount, faults }
  if (chosen.length === 0) return { chosen, eligibleCount, faults: [refuse('canary-empty')] }
  if (chosen.length < eligibleCount) return { chosen, eligibleCount, faults: [] }
  return { chosen, eligibleCount, faults: [refuse('canary-too-broad')] }
}
