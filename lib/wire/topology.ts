import { array, boolean, enums, type Infer, literal, number, string, type } from 'superstruct'
import { LiveInstance } from './instances.ts'
import { named, recordOf } from './structs.ts'
import { HETEROGENEITY_FLAGS, REMOTE_CONFIG_COUNTERS } from './values.ts'

export const HeterogeneityFlag = named('HeterogeneityFlag', '', enums(HETEROGENEITY_FLAGS))
export type HeterogeneityFlag = Infer<typeof HeterogeneityFlag>

export const RemoteConfigCounter = named('RemoteConfigCounter', '', enums(REMOTE_CONFIG_COUNTERS))
export type RemoteConfigCounter = Infer<typeof RemoteConfigCounter>

export const TopologySummary = named(
  'TopologySummary',
  "What a workload's instances have in common and where they part.",
  type({
    connected_count: number(),
    healthy_count: number(),
    unhealthy_count: number(),
    drifted_count: number(),
    heterogeneous: boolean(),
    version_diversity: array(string()),
    config_hash_diversity: array(string()),
    remote_config_status_counts: recordOf(REMOTE_CONFIG_COUNTERS, number()),
    heterogeneity: recordOf(HETEROGENEITY_FLAGS, boolean()),
    heterogeneity_reasons: array(HeterogeneityFlag),
  }),
)
export type TopologySummary = Infer<typeof TopologySummary>

export const WorkloadTopology = named(
  'WorkloadTopology',
  '`GET /api/workloads/{id}/topology`.',
  type({
    schema_version: literal('workload-topology.v1'),
    workload_id: string(),
    instances: array(LiveInstance),
    summary: TopologySummary,
  }),
)
export type WorkloadTopology = Infer<typeof WorkloadTopology>
