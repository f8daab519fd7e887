import { array, boolean, defaulted, enums, type Infer, number, optional, string, type } from 'superstruct'
import { ErrorParameters, PushAftermath, RevisionRecord } from './revisions.ts'
import { dictionary, named, note, type Sent, textsByKey } from './structs.ts'
import { REMOTE_CONFIG_STATES, WORKLOAD_STATUSES, WORKLOAD_TROUBLES } from './values.ts'

export const WorkloadStatus = named('WorkloadStatus', '', enums(WORKLOAD_STATUSES))
export type WorkloadStatus = Infer<typeof WorkloadStatus>

export const RemoteConfigState = named('RemoteConfigState', '', enums(REMOTE_CONFIG_STATES))
export type RemoteConfigState = Infer<typeof RemoteConfigState>

export const RemoteConfigStatus = named(
  'RemoteConfigStatus',
  'What was last reported about a remote config. Texts are redacted; never any YAML.',
  type({
    status: RemoteConfigState,
    config_hash: string(),
    updated_at: string(),
    error_cause: optional(string()),
    error_title: optional(string()),
    error_parameters: ErrorParameters,
    error_message: note('Redacted; only with `config:read_content`.', optional(string())),
    push_status: note(
      "The workload's newest push, without content and instances; only in hub frames.",
      optional(RevisionRecord),
    ),
  }),
)
export type RemoteConfigStatus = Infer<typeof RemoteConfigStatus>

export const AvailableComponents = named(
  'AvailableComponents',
  'Component kind (`receivers`, `exporters`, …) to the type names built in, sorted.',
  type({
    components: dictionary(array(string())),
    hash: optional(string()),
  }),
)
export type AvailableComponents = Infer<typeof AvailableComponents>

export const ReadOnlyReason = named(
  'ReadOnlyReason',
  'Why nothing can be pushed to a workload.',
  enums(['not_a_collector', 'no_remote_config']),
)
export type ReadOnlyReason = Infer<typeof ReadOnlyReason>

const UnderPush = named(
  'UnderPush',
  'The push since which instances are unhealthy.',
  type({
    push_id: string(),
    config_hash: string(),
    submitted_at: string(),
    pushed_by: string(),
    instance_count: note('Of the unhealthy instances: those that are so since this push.', number()),
  }),
)
export type UnderPush = Infer<typeof UnderPush>

export const WorkloadTrouble = named(
  'WorkloadTrouble',
  'The worst thing that there is to say about a workload.',
  type({
    kind: enums(WORKLOAD_TROUBLES),
    since: note(
      'Absent where it is not known. Of a workload without an instance: when the last one was there, however late that was noticed.',
      optional(string()),
    ),
    count: note('Instances that it is about, of `total`.', optional(number())),
    total: optional(number()),
    unhealthy_count: note(
      'Of a push or a rollout: the live instances, of `instance_count`, that are unhealthy as well.',
      optional(number()),
    ),
    instance_count: optional(number()),
    under_push: note(
      'Of unhealthy instances: the newest push since which some of them are. All instances were healthy when it was made, and these became unhealthy within ten minutes of applying it. Absent where that is so of none, or is not known, as once the service was started anew.',
      optional(UnderPush),
    ),
    component: note(
      'The part of the collector that complains, as the agent names it: `exporter:otlp/eu`.',
      optional(string()),
    ),
    error_cause: note('Why, where that is known: a code, and its title in English.', optional(string())),
    error_title: optional(string()),
    error_parameters: ErrorParameters,
    error_message: note(
      'What the instance that failed says of it itself, in one line without secrets, where nothing else says what it is about; only for whoever may read configs.',
      optional(string()),
    ),
    is_abridged: note(
      'The parameters or the message are not told: hub frames and who may not read configs are told numbers only.',
      optional(boolean()),
    ),
    config_hash: note('The config, push and rollout that it is about.', optional(string())),
    push_id: optional(string()),
    rollout_id: optional(string()),
    aftermath: note('What was done about a failed push.', optional(PushAftermath)),
  }),
)
export type WorkloadTrouble = Infer<typeof WorkloadTrouble>

export const RunningConfigs = named(
  'RunningConfigs',
  'What the live instances run that take configs and report on them, by what they say.',
  type({
    wanted_count: note('Those that run the active config.', number()),
    instance_count: number(),
    unknown_count: note('Those of which it is not known.', number()),
    others: note(
      'Other configs, five at most: first what an aborted rollout left, then those of most instances.',
      array(type({ config_hash: string(), instance_count: number() })),
    ),
  }),
)
export type RunningConfigs = Infer<typeof RunningConfigs>

export const VersionMix = named(
  'VersionMix',
  'The versions of live instances that do not all report the same one.',
  type({
    count: note('How many different versions there are.', number()),
    lowest: note(
      'The lowest ten, lowest first.',
      array(type({ version: string(), instance_count: number() })),
    ),
  }),
)
export type VersionMix = Infer<typeof VersionMix>

export const WorkloadRecord = named(
  'WorkloadRecord',
  'One workload as lists, details and hub frames show it. In hub frames a cleared field is null.',
  type({
    id: string(),
    fingerprint_source: enums(['k8s', 'host', 'uid']),
    fingerprint_keys: dictionary(string()),
    display_name: string(),
    type: enums(['collector', 'sdk']),
    version: note('The lowest live version; the last known one when none lives.', string()),
    version_mix: note('Absent where all live instances report the same version.', optional(VersionMix)),
    status: WorkloadStatus,
    last_seen_at: string(),
    labels: note('Agent labels, and trusted ones under the prefix `muster/`.', dictionary(string())),
    active_config_id: optional(string()),
    active_config_hash: note('What it is to run.', optional(string())),
    running_configs: note(
      'What it runs; absent where every instance runs the active config, or none is active and no rollout was aborted.',
      optional(RunningConfigs),
    ),
    remote_config_status: optional(RemoteConfigStatus),
    current_config_push: note(
      'The newest push, without content; only in REST answers.',
      optional(RevisionRecord),
    ),
    available_components: optional(AvailableComponents),
    accepts_remote_config: boolean(),
    retention_until: optional(string()),
    archived_at: optional(string()),
    reported_config_hash: note(
      'Hash of the normal form of what the instances report to run, where they agree.',
      optional(string()),
    ),
    connected_instance_count: number(),
    drifted_instance_count: number(),
    altered_instance_count: note(
      'Instances that say that they applied their config and report to run something else, as far as that was compared; absent for none.',
      optional(number()),
    ),
    altered_since: note('When the first of these was first seen to be changed.', optional(string())),
    applying_instance_count: number(),
    open_alert_count: number(),
    waiting_approval_count: number(),
    version_outdated: boolean(),
    trouble: note('Absent when nothing is wrong.', optional(WorkloadTrouble)),
  }),
)
export type WorkloadRecord = Infer<typeof WorkloadRecord>

export const TrustedLabelsRequest = named(
  'TrustedLabelsRequest',
  'Body of `PUT /api/workloads/{id}/trusted-labels`: replaces them all; keys without the prefix.',
  type({ labels: defaulted(textsByKey(1_000), () => ({})) }),
)
export type TrustedLabelsRequest = Sent<typeof TrustedLabelsRequest>

export const TrustedLabels = named(
  'TrustedLabels',
  'Answer of `GET` and `PUT /api/workloads/{id}/trusted-labels`; keys without the prefix.',
  type({
    workload_id: string(),
    labels: note('Those that operators set; they win over rules.', dictionary(string())),
    rule_labels: note(
      'Those that label rules give.',
      dictionary(type({ value: string(), rule_id: string(), rule_name: string(), is_overruled: boolean() })),
    ),
    stricter_until: note(
      'Where these labels change which rule holds for approvals: until when the stricter one holds, if nobody else accepts them.',
      optional(string()),
    ),
  }),
)
export type TrustedLabels = Infer<typeof TrustedLabels>
