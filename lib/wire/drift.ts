import { array, boolean, enums, type Infer, number, optional, partial, string, type } from 'superstruct'
import { InstanceFault } from './instances.ts'
import { RevisionRecord } from './revisions.ts'
import { dictionary, named, note } from './structs.ts'
import { DRIFT_STATUSES } from './values.ts'

export const DriftStatus = named('DriftStatus', '', enums(DRIFT_STATUSES))
export type DriftStatus = Infer<typeof DriftStatus>

export const DriftItem = named(
  'DriftItem',
  "One workload's drift.",
  type({
    workload_id: string(),
    collector: string(),
    place: note(
      'Namespace with its cluster, or host: what tells workloads of one name apart.',
      optional(string()),
    ),
    env: string(),
    version: string(),
    expected_config_hash: optional(string()),
    rollout_id: note(
      'A push in stages, which a part of it is assigned beside the expected config.',
      optional(string()),
    ),
    rollout_config_hash: optional(string()),
    effective_config_hash: optional(string()),
    effective_config_hashes: optional(array(string())),
    unknown_instance_count: note(
      'Its live instances that take configs and of which it is not known what they run; absent for none.',
      optional(number()),
    ),
    drift_status: DriftStatus,
    drift_reasons: optional(array(string())),
    altered_since: note(
      'When an instance was first seen to be changed on its host, where one is now.',
      optional(string()),
    ),
    last_push: optional(partial(RevisionRecord)),
    last_push_age_seconds: optional(number()),
    fault: note(
      'Why the first of the instances that run something else has not applied it, where that is known.',
      optional(InstanceFault),
    ),
    pending_too_long: boolean(),
    accepts_remote_config: boolean(),
    missing_effective_config: boolean(),
    unknown_incomplete_components: boolean(),
    group_heterogeneous_config: boolean(),
    has_config_drift_alert: boolean(),
    has_version_outdated_alert: boolean(),
    actions: dictionary(
      type({
        enabled: boolean(),
        reason: string(),
      }),
    ),
  }),
)
export type DriftItem = Infer<typeof DriftItem>

export const DriftOverview = named(
  'DriftOverview',
  '`GET /api/config-safety/drift`.',
  type({
    generated_at: string(),
    summary: type({
      total_collectors: number(),
      drifted_collectors: number(),
      differ_from_git: number(),
      pending_too_long: number(),
      missing_effective_config: number(),
      remote_config_unsupported: number(),
      outdated_versions: number(),
      unknown_incomplete_components: number(),
      heterogeneous_groups: number(),
    }),
    items: array(DriftItem),
  }),
)
export type DriftOverview = Infer<typeof DriftOverview>
