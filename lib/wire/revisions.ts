import { array, boolean, defaulted, enums, type Infer, number, optional, string, type } from 'superstruct'
import { dictionary, named, note, type Sent } from './structs.ts'
import {
  PUSH_AFTERMATHS,
  PUSH_INSTANCE_STATES,
  PUSH_OUTCOMES,
  REVISION_PHASES,
  REVISION_STATUSES,
  ROLLOUT_STATUSES,
} from './values.ts'

export const RevisionStatus = named('RevisionStatus', '', enums(REVISION_STATUSES))
export type RevisionStatus = Infer<typeof RevisionStatus>

export const RevisionPhase = named('RevisionPhase', '', enums(REVISION_PHASES))
export type RevisionPhase = Infer<typeof RevisionPhase>

export const PushOutcome = named(
  'PushOutcome',
  'What became of a push: `in_part` where some targets run its config, and others failed it or do not answer; `aborted` where its stages were given up, and those that have it keep it.',
  enums(PUSH_OUTCOMES),
)
export type PushOutcome = Infer<typeof PushOutcome>

export const PushInstanceState = named('PushInstanceState', '', enums(PUSH_INSTANCE_STATES))
export type PushInstanceState = Infer<typeof PushInstanceState>

/** Details of an error of an agent that hold no secret: a port, a component type, a line, an exit code. */
export const ErrorParameters = note(
  'What the error is about: `port`, `yaml_line` and `exit_code`; with `config:read_content` `component_type` as well.',
  optional(dictionary(string())),
)
export type ErrorParameters = Infer<typeof ErrorParameters>

export const RevisionInstanceStatus = named(
  'RevisionInstanceStatus',
  'How a push went on one instance. Texts are redacted, and absent without `config:read_content`.',
  type({
    instance_uid: string(),
    pod_name: optional(string()),
    node: note('Where it runs, while it is connected and says so.', optional(string())),
    required: note('False for one that joined after the push was committed.', boolean()),
    status: PushInstanceState,
    config_hash: optional(string()),
    updated_at: string(),
    error_cause: optional(string()),
    error_title: optional(string()),
    error_parameters: ErrorParameters,
    error_message: optional(string()),
    timed_out: optional(boolean()),
  }),
)
export type RevisionInstanceStatus = Infer<typeof RevisionInstanceStatus>

export const RevisionTimelineEntry = named(
  'RevisionTimelineEntry',
  'One step of a push.',
  type({
    state: string(),
    at: string(),
    message: optional(string()),
    terminal: boolean(),
    timed_out: optional(boolean()),
  }),
)
export type RevisionTimelineEntry = Infer<typeof RevisionTimelineEntry>

export const RevisionErrorGroup = named(
  'RevisionErrorGroup',
  'Instances that failed for the same cause.',
  type({
    cause: string(),
    title: string(),
    severity: enums(['high', 'medium']),
    count: number(),
    first_seen_at: string(),
    last_seen_at: string(),
    retryable: boolean(),
    affected_instances: optional(array(string())),
    error_parameters: note('Where they are the same for all of them.', optional(dictionary(string()))),
    sample_message: note("One instance's own words, with `config:read_content`.", optional(string())),
    sample_path: note('What of the config they are about, as `exporters.otlp/eu`.', optional(string())),
    config_hash: optional(string()),
  }),
)
export type RevisionErrorGroup = Infer<typeof RevisionErrorGroup>

export const PushAftermath = named(
  'PushAftermath',
  'What was done about a push that failed.',
  type({
    kind: enums(PUSH_AFTERMATHS),
    config_hash: note(
      'What it went back to, and the push that did it; absent when there was nothing to go back to.',
      optional(string()),
    ),
    push_id: optional(string()),
    pushed_by: optional(string()),
    target_count: note('How far that push got.', optional(number())),
    applied_count: optional(number()),
    failed_count: optional(number()),
    no_status_count: optional(number()),
    error_cause: note('Why it failed, or failed in part, where that is known.', optional(string())),
    error_title: optional(string()),
    error_parameters: ErrorParameters,
    running_count: note('Live instances that report to run the failed config still.', number()),
  }),
)
export type PushAftermath = Infer<typeof PushAftermath>

export const WorstHealth = named(
  'WorstHealth',
  'The most instances that were unhealthy at once while they ran a config, of how many, and when.',
  type({ unhealthy_count: number(), instance_count: number(), at: string() }),
)
export type WorstHealth = Infer<typeof WorstHealth>

export const RolloutStatus = named('RolloutStatus', '', enums(ROLLOUT_STATUSES))
export type RolloutStatus = Infer<typeof RolloutStatus>

export const RevisionRecord = named(
  'RevisionRecord',
  'One push of a config to a workload. Lists, records and hub frames carry counts and error groups; only the single revision has `instance_statuses` (the first 200, failed first) and, with `config:read_content`, `content`.',
  type({
    workload_id: string(),
    config_id: string(),
    config_hash: string(),
    push_id: string(),
    seq: note('Grows per workload; the newest push is the one with the highest.', number()),
    status: RevisionStatus,
    phase: RevisionPhase,
    outcome: PushOutcome,
    applied_at: note("When it was submitted; the name is the contract's.", string()),
    submitted_at: string(),
    sent_at: optional(string()),
    updated_at: string(),
    pushed_by: note('E-mail of whoever pushed it, or `auto-rollback`.', optional(string())),
    label: optional(string()),
    error_message: optional(string()),
    timed_out_waiting_for_opamp_status: boolean(),
    opamp_status_timeout_at: optional(string()),
    timeout_message: optional(string()),
    is_rollback: note('It goes back to an earlier config, whoever or whatever did it.', boolean()),
    rollback_of_push_id: note(
      'The push that this rollback takes back, by an operator or by itself.',
      optional(string()),
    ),
    failed_config_hash: note('The hash whose failure this rollback answers.', optional(string())),
    approval_id: optional(string()),
    campaign_id: note('The campaign that brought it.', optional(string())),
    rollout_id: note('The staged rollout that it is, and how that stands.', optional(string())),
    rollout_status: optional(RolloutStatus),
    target_count: number(),
    applied_count: number(),
    failed_count: number(),
    pending_count: number(),
    timed_out_count: number(),
    no_status_count: number(),
    excluded_count: note(
      'Instances that were left out at commit: not compatible or read-only.',
      optional(number()),
    ),
    error_groups: optional(array(RevisionErrorGroup)),
    aftermath: note(
      'Only of a push that failed, and of the automatic rollback that took one back.',
      optional(PushAftermath),
    ),
    worst_health: note('Absent where no instance was seen unhealthy under it.', optional(WorstHealth)),
    timeline: optional(array(RevisionTimelineEntry)),
    instance_statuses: optional(array(RevisionInstanceStatus)),
    content: optional(string()),
    is_current: boolean(),
    is_previous: boolean(),
    is_last_known_good: boolean(),
    is_failed_candidate: boolean(),
    content_available: boolean(),
  }),
)
export type RevisionRecord = Infer<typeof RevisionRecord>

export const LabelRequest = named(
  'LabelRequest',
  'Body of `POST …/configs/{hash}/label`; an empty text clears the label.',
  type({ label: defaulted(string(), '') }),
)
export type LabelRequest = Sent<typeof LabelRequest>

export const RevisionLabel = named(
  'RevisionLabel',
  'Answer of `POST …/configs/{hash}/label`: the label as it is now.',
  type({ label: string() }),
)
export type RevisionLabel = Infer<typeof RevisionLabel>
