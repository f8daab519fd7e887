import {
  array,
  boolean,
  enums,
  type Infer,
  literal,
  number,
  optional,
  type Struct,
  string,
  type,
} from 'superstruct'
import { ErrorParameters } from './revisions.ts'
import { anyOf, dictionary, itself, named, note } from './structs.ts'
import { AvailableComponents, RemoteConfigStatus } from './workloads.ts'

export const InstanceFault = named(
  'InstanceFault',
  'Why an instance is not as it should be.',
  type({
    component: note('The part of the collector that complains.', optional(string())),
    error_cause: optional(string()),
    error_title: optional(string()),
    error_parameters: ErrorParameters,
    error_message: note('Only with `config:read_content`.', optional(string())),
    is_abridged: note('The reader is not told all of it.', optional(boolean())),
  }),
)
export type InstanceFault = Infer<typeof InstanceFault>

export const LiveInstance = named(
  'LiveInstance',
  'One live instance as in lists and topology.',
  type({
    instance_uid: string(),
    pod_name: optional(string()),
    version: optional(string()),
    connected_at: string(),
    last_message_at: string(),
    described: note(
      'False for one that belongs here since before and has not said yet what it is; else absent.',
      optional(literal(false)),
    ),
    healthy: note('What it says itself, and true where it says nothing.', boolean()),
    settling: note(
      'True for one that says that it is not healthy and does not count as unhealthy yet: it starts or stops, or was offered a config, for a minute at most, or it has only just said so. Else absent.',
      optional(literal(true)),
    ),
    accepts_remote_config: boolean(),
    remote_config_capability_known: optional(boolean()),
    reports_remote_config: note(
      'False for one that takes configs but never says what became of them.',
      optional(boolean()),
    ),
    effective_config_hash: note(
      'What it runs of the configs from here, by what it says: what it applied last, in hex; absent where that is not known, as after it could not apply it again.',
      optional(string()),
    ),
    reported_config_hash: note(
      'Hash of the normal form of the config it reports to run.',
      optional(string()),
    ),
    assigned_config_hash: note('What it should run.', optional(string())),
    effective_matches: note(
      'Whether its effective config holds everything the assigned config asks for. That it failed the assigned config outranks what it reported before.',
      anyOf([boolean(), literal('unknown')]),
    ),
    effective_mismatch_paths: note(
      'Config paths at which it does not; only when `effective_matches` is false, and empty where it failed the assigned config.',
      optional(array(string())),
    ),
    altered_since: note(
      'When it was first seen to run something else than what it says that it applied, where it does now.',
      optional(string()),
    ),
    remote_config_status: optional(RemoteConfigStatus),
    fault: note(
      'Why it is unhealthy or has not applied what it is assigned, as far as that is known; absent for one that says itself that it failed a config.',
      optional(InstanceFault),
    ),
  }),
)
export type LiveInstance = Infer<typeof LiveInstance>

/** One node of the health tree as reported. */
export interface HealthNode {
  healthy: boolean
  /** The agent's own word, such as `StatusOK`. */
  status?: string
  started_at?: string
  updated_at?: string
  error_cause?: string
  error_title?: string
  error_parameters?: Record<string, string>
  /** Redacted; only with `config:read_content`. */
  last_error?: string
  components?: Record<string, HealthNode>
}

export const HealthNode: Struct<HealthNode, unknown> = named(
  'HealthNode',
  'One node of the health tree as reported.',
  type({
    healthy: boolean(),
    status: note("The reporter's own word, such as `StatusOK`.", optional(string())),
    started_at: optional(string()),
    updated_at: optional(string()),
    error_cause: optional(string()),
    error_title: optional(string()),
    error_parameters: ErrorParameters,
    last_error: note('Redacted; only with `config:read_content`.', optional(string())),
    components: optional(dictionary(itself('HealthNode', () => HealthNode))),
  }),
)

export const ReportedConfigRecord = named(
  'ReportedConfigRecord',
  '`GET /api/workloads/{id}/config/reported`: what most live instances report to run.',
  type({
    config_hash: note('Hash of `content`; not one of a revision.', string()),
    content: note('Normal form: keys sorted, what differs between instances left out.', string()),
    instance_count: note('Live instances that report this one.', number()),
    live_instance_count: number(),
  }),
)
export type ReportedConfigRecord = Infer<typeof ReportedConfigRecord>

export const InstanceDetail = named(
  'InstanceDetail',
  '`GET /api/workloads/{id}/instances/{uid}`.',
  type({
    ...LiveInstance.schema,
    workload_id: string(),
    transport: optional(enums(['websocket', 'http'])),
    capabilities: optional(array(string())),
    attributes: dictionary(string()),
    health: optional(HealthNode),
    available_components: optional(AvailableComponents),
    effective_config: note(
      'The reported config in normal form; only with `config:read_content`.',
      optional(string()),
    ),
  }),
)
export type InstanceDetail = Infer<typeof InstanceDetail>
