import { type Refusal, refuse } from '../../model/refusal.ts'
import type {
  RolloutGate,
  RolloutHalt,
  RolloutStall,
  StagePlan,
  StageProgress,
} from '../../store/rollouts.ts'

/** The members of all started stages as the gates see them. Instances waived by an operator are in no gate's list. */
export interface StageFacts {
  isLast: boolean
  plan: StagePlan
  members: number
  memberUids: readonly string[]
  applied: number
  /** Members that will not answer any more: stragglers, gone, or lost each time they applied the config. */
  silentUids: readonly string[]
  /** Members that are connected, or away for less than the grace. */
  living: number
  failedUids: readonly string[]
  unhealthyUids: readonly string[]
  /** Members that do not run the config though they had the time to. */
  driftedUids: readonly string[]
  /** For how long the stage has been converged, halts apart; null while it has not converged. */
  convergedForMs: number | null
  /** The stage is a canary that no operator has promoted yet. */
  isUnpromoted: boolean
  /**
   * The process has just started, and agents that the stage or the next one counts on are on their way; or a gate asks
   * how healthy its members are, and of one that is still to be seen: it has vanished a moment ago, came back and has yet
   * to say so, or is not well and does not count yet.
   */
  isAwaiting: boolean
}

/** What a rollout does next. */
export type StageVerdict =
  | { kind: 'wait' }
  /** Every member has applied or will not answer any more, and at least one has applied: the dwell begins. */
  | { kind: 'converged' }
  | { kind: 'advance' }
  | { kind: 'complete' }
  | ({ kind: 'halt' } & Omit<RolloutHalt, 'stage' | 'at'>)

/** What the push of a rollout failed of that a gate halted. */
export const ROLLOUT_HALTED = {
  cause: 'rollout_halted',
  title: 'The rollout in this workload halted',
} as const

/** How many members may fail a gate before it halts the rollout. */
export const GATE_LIMIT = 0
/** How many instances a halt keeps at most, which are those that Continue waives. */
const KEPT_MAX = 10_000

const haltFor = (gate: RolloutHalt['gate'], value: number, uids: readonly string[]): StageVerdict => ({
  kind: 'halt',
  gate,
  value,
  limit: GATE_LIMIT,
  instanceUids: uids.slice(0, KEPT_MAX),
})

/** What the running stage does next: wait, begin its dwell, go on, complete, or halt with the gate that says why. */
export function decideStage(facts: StageFacts): StageVerdict {
  const offenders: Record<RolloutGate, readonly string[]> = {
    no_failure: facts.failedUids,
    health: facts.unhealthyUids,
    drift: facts.driftedUids,
  }
  for (const gate of facts.plan.gates) {
    const uids = offenders[gate]
    if (uids.length > GATE_LIMIT) return haltFor(gate, uids.length, uids)
  }
  // Without a member that is still there nothing proves the config, whatever the members said before.
  if (facts.living === 0) return haltFor('no_member', facts.members, facts.memberUids)
  if (facts.isAwaiting || facts.applied + facts.silentUids.length < facts.members) return { kind: 'wait' }
  if (facts.applied === 0) return haltFor('no_answer', facts.silentUids.length, facts.silentUids)
  if (facts.convergedForMs === null) return { kind: 'converged' }
  if (facts.convergedForMs < facts.plan.dwellMs || facts.isUnpromoted) return { kind: 'wait' }
  return { kind: facts.isLast ? 'complete' : 'advance' }
}

/** How many of the eligible instances are members once this stage has started; at least one, where any is eligible. */
export function stageSize(plan: StagePlan, eligible: number): number {
  const wanted = 'count' in plan ? plan.count : Math.ceil((eligible * plan.percentage) / 100)
  return Math.min(eligible, Math.max(1, wanted))
}

const STAGES_MAX = 20
const DWELL_MAX_S = 7 * 86_400

/** Why a list of stages is refused; where one stage is at fault, `index` says which, from 0. */
export type StageRefusal = Refusal<
  | 'stage-count-invalid'
  | 'stage-dwell-invalid'
  | 'stage-not-larger'
  | 'stage-percentage-invalid'
  | 'stages-required'
  | 'stages-too-many'
>

/** Refuse a list of stages that cannot be followed; null when it can. */
export function refuseStages(stages: readonly StagePlan[]): StageRefusal | null {
  if (stages.length === 0) return refuse('stages-required')
  if (stages.length > STAGES_MAX) return refuse('stages-too-many', { max: STAGES_MAX })
  for (const [index, stage] of stages.entries()) {
    const refusal = refuseStage(stage, index, stages[index - 1])
    if (refusal !== null) return refusal
  }
  return null
}

function refuseStage(stage: StagePlan, index: number, before: StagePlan | undefined): StageRefusal | null {
  if ('count' in stage) {
    if (!Number.isInteger(stage.count) || stage.count < 1) return refuse('stage-count-invalid', { index })
  } else if (!(stage.percentage > 0 && stage.percentage <= 100)) {
    return refuse('stage-percentage-invalid', { index })
  }
  if (!(stage.dwellMs >= 0 && stage.dwellMs <= DWELL_MAX_S * 1_000))
    return refuse('stage-dwell-invalid', { index, max: DWELL_MAX_S })
  if (before === undefined) return null
  const isSmaller =
    'count' in stage && 'count' in before
      ? stage.count <= before.count
      : 'percentage' in stage && 'percentage' in before && stage.percentage <= before.percentage
  return isSmaller ? refuse('stage-not-larger', { index }) : null
}

/** Since when a stage dwells by the wall clock, and for how long it did before a halt; null while it has not converged. */
export function dwellOf(progress: StageProgress): { since: Date; dwelledMs: number } | null {
  if (progress.convergedAt === null) return null
  const { convergedAt, resumedAt = convergedAt, dwelledMs = 0 } = progress
  return { since: new Date(resumedAt), dwelledMs }
}

/**
 * When the dwell of a stage ends by the wall clock, time in a halt not counted; null while it has not converged. A stage
 * that a process found at its start dwells for longer.
 */
export function dwellEndsAt({ dwellMs }: StagePlan, progress: StageProgress): Date | null {
  const dwell = dwellOf(progress)
  return dwell === null ? null : new Date(dwell.since.getTime() + dwellMs - dwell.dwelledMs)
}

const GATE_WORDS: Record<RolloutGate, string> = {
  no_failure: 'failed the config',
  health: 'unhealthy',
  drift: 'not running the config',
}

const NOT_ONE: Record<RolloutStall, string> = {
  no_member: 'is not connected any more',
  no_answer: 'did not say what became of the config',
}

/** A halt in one sentence. */
export function describeHalt(halt: RolloutHalt): string {
  const named = halt.instanceUids.slice(0, 3).join(', ')
  const more = halt.value > 3 ? ` and ${halt.value - 3} more` : ''
  if (halt.gate === 'no_member' || halt.gate === 'no_answer') {
    const none = halt.value === 1 ? 'its one member' : `none of its ${halt.value} members`
    const isNone = halt.gate === 'no_member' ? 'is connected any more' : 'said what became of the config'
    return `Stage ${halt.stage + 1} halted: ${none} ${halt.value === 1 ? NOT_ONE[halt.gate] : isNone}: ${named}${more}`
  }
  const who = halt.value === 1 ? '1 instance is' : `${halt.value} instances are`
  const verb = halt.gate === 'no_failure' ? who.replace(/ (is|are)$/, '') : who
  return (
    `Stage ${halt.stage + 1} halted by gate ${halt.gate}: ${verb} ${GATE_WORDS[halt.gate]} ` +
    `(limit ${halt.limit}): ${named}${more}`
  )
}
