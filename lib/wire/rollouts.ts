import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  number,
  optional,
  pick,
  string,
  type,
} from 'superstruct'
import { ErrorParameters, PushAftermath, RevisionErrorGroup, RolloutStatus } from './revisions.ts'
import { listOf, named, note, type Sent, texts, textsByKey } from './structs.ts'
import { CANARY_STRATEGIES, ROLLOUT_GATES, ROLLOUT_HOLD_REASONS } from './values.ts'

export const RolloutGateName = named('RolloutGateName', '', enums(ROLLOUT_GATES))
export type RolloutGateName = Infer<typeof RolloutGateName>

export const RolloutHoldReason = named('RolloutHoldReason', '', enums(ROLLOUT_HOLD_REASONS))
export type RolloutHoldReason = Infer<typeof RolloutHoldReason>

export const StageHold = named(
  'StageHold',
  'What keeps the next stage of a rollout from starting.',
  type({
    reason: RolloutHoldReason,
    about: note('The reason of a freeze, or the owner in Git.', optional(string())),
  }),
)
export type StageHold = Infer<typeof StageHold>

export const RolloutContinueRequest = named(
  'RolloutContinueRequest',
  'Body of `POST …/promote`, which may be left out; `break_glass` goes on past what holds the next stage.',
  type({
    break_glass: defaulted(boolean(), false),
    break_glass_reason: defaulted(string(), ''),
  }),
)
export type RolloutContinueRequest = Sent<typeof RolloutContinueRequest>

export const RolloutStageRequest = named(
  'RolloutStageRequest',
  'One wanted stage: how many instances in all shall run the config when it is done. Exactly one of the two.',
  type({
    count: optional(number()),
    percentage: optional(number()),
    dwell_seconds: note('How long the gates must hold before the next stage starts.', defaulted(number(), 0)),
    gates: optional(listOf(100, RolloutGateName)),
  }),
)
export type RolloutStageRequest = Infer<typeof RolloutStageRequest>

export const RolloutGate = named(
  'RolloutGate',
  'One gate of a stage: what was measured against what is allowed.',
  type({
    name: RolloutGateName,
    value: number(),
    limit: number(),
    passed: boolean(),
    waived: note('How many of them an operator let pass.', optional(number())),
  }),
)
export type RolloutGate = Infer<typeof RolloutGate>

export const RolloutStage = named(
  'RolloutStage',
  'One stage of a rollout.',
  type({
    index: number(),
    count: optional(number()),
    percentage: optional(number()),
    target_count: number(),
    dwell_seconds: number(),
    status: enums(['waiting', 'running', 'dwelling', 'done', 'halted', 'aborted', 'failed']),
    started_at: optional(string()),
    converged_at: optional(string()),
    dwell_ends_at: note(
      'While it is being watched: until when. The time of a halt does not count.',
      optional(string()),
    ),
    ended_at: optional(string()),
    counts: type({
      pending: number(),
      applying: number(),
      applied: number(),
      failed: number(),
    }),
    gates: array(RolloutGate),
  }),
)
export type RolloutStage = Infer<typeof RolloutStage>

export const RolloutTarget = named(
  'RolloutTarget',
  'One member of a stage that was started.',
  type({
    instance_uid: string(),
    pod_name: optional(string()),
    stage: number(),
    status: string(),
    stop_reason: optional(string()),
    unhealthy: note(
      'It is unhealthy now; its error says why where its push did not fail.',
      optional(literal(true)),
    ),
    error_cause: optional(string()),
    error_title: optional(string()),
    error_parameters: ErrorParameters,
    error_message: note('Redacted; only with `config:read_content`.', optional(string())),
    updated_at: string(),
  }),
)
export type RolloutTarget = Infer<typeof RolloutTarget>

export const CanaryStrategy = named('CanaryStrategy', '', enums(CANARY_STRATEGIES))
export type CanaryStrategy = Infer<typeof CanaryStrategy>

export const CanarySelection = named(
  'CanarySelection',
  'Who runs a config first. Labels are compared with what the instances say of themselves.',
  type({
    strategy: defaulted(string(), ''),
    instance_uid: optional(string()),
    instance_uids: optional(texts(10_000)),
    count: optional(number()),
    percentage: optional(number()),
    labels: optional(textsByKey(1_000)),
  }),
)
export type CanarySelection = Infer<typeof CanarySelection>

export const CanaryRequest = named(
  'CanaryRequest',
  'Body of `POST …/config/canary/validate`, and of the start, which takes the words for the push as well.',
  type({
    config: defaulted(string(), ''),
    selection: defaulted(CanarySelection, () => ({ strategy: '' })),
    comment: defaulted(string(), ''),
    prod_double_confirmed: defaulted(boolean(), false),
  }),
)
export type CanaryRequest = Sent<typeof CanaryRequest>

export const CanaryTarget = named(
  'CanaryTarget',
  'One instance that a selection names.',
  type({
    instance_uid: string(),
    pod_name: optional(string()),
    status: enums(['eligible', 'refused']),
    stop_reason: optional(string()),
    updated_at: string(),
  }),
)
export type CanaryTarget = Infer<typeof CanaryTarget>

export const CanaryValidation = named(
  'CanaryValidation',
  'Answer of `POST …/config/canary/validate`, and the body of a start that is refused.',
  type({
    valid: boolean(),
    targets: array(CanaryTarget),
    stages: note(
      'As they would be; empty when the selection is refused.',
      array(pick(RolloutStage, ['index', 'count', 'percentage', 'target_count', 'dwell_seconds'])),
    ),
    stop_reasons: optional(array(string())),
    error_codes: optional(array(string())),
    errors: optional(array(string())),
  }),
)
export type CanaryValidation = Infer<typeof CanaryValidation>

export const RolloutRecord = named(
  'RolloutRecord',
  'A staged rollout. Never any YAML.',
  type({
    id: string(),
    workload_id: string(),
    config_hash: string(),
    push_id: string(),
    approval_id: optional(string()),
    status: note(
      '`succeeded` without `promoted_at`: the chosen instances run it, and it waits to be promoted to the others.',
      RolloutStatus,
    ),
    selection: note('Who runs it first.', CanarySelection),
    stages: array(RolloutStage),
    stage_index: note('The stage that runs, or halted, or ended last.', number()),
    targets: array(RolloutTarget),
    counts: type({
      pending: number(),
      applying: number(),
      applied: number(),
      failed: number(),
    }),
    stop_reasons: optional(array(string())),
    halt: note(
      'Why it halted: which gate, its value, and where.',
      optional(
        type({
          gate: string(),
          value: number(),
          limit: number(),
          stage: number(),
          instance_uids: array(string()),
          message: string(),
        }),
      ),
    ),
    hold: note('Why the next stage waits; it starts once that is over.', optional(StageHold)),
    error_groups: note(
      'Why instances could not apply it, the gravest first.',
      optional(array(RevisionErrorGroup)),
    ),
    aftermath: note('What was done about it; only once its push has failed.', optional(PushAftermath)),
    rollback_target_hash: note(
      'While it can be rolled back: what its members would return to; absent when there is nothing.',
      optional(string()),
    ),
    actor: optional(string()),
    created_at: string(),
    updated_at: string(),
    promoted_at: optional(string()),
    aborted_at: optional(string()),
    rolled_back_at: optional(string()),
  }),
)
export type RolloutRecord = Infer<typeof RolloutRecord>
