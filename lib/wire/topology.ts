import type { LiveInstance } from './instances.ts'

export const HETEROGENEITY_FLAGS = [
  'mixed_versions',
  'mixed_effective_config_hashes',
  'unhealthy_instances',
  'mixed_remote_config_statuses',
  'applying_remote_config',
  'failed_remote_config',
] as const
export type HeterogeneityFlag = (typeof HETEROGENEITY_FLAGS)[number]

export const REMOTE_CONFIG_COUNTERS = [
  'capable',
  'no_status',
  'sent',
  'applying',
  'applied',
  'failed',
] as const
export type RemoteConfigCounter = (typeof REMOTE_CONFIG_COUNTERS)[number]

/** What a workload's instances have in common and where they part. */
export interface TopologySummary {
  connected_count: number
  healthy_count: number
  unhealthy_count: number
  drifted_count: number
  heterogeneous: boolean
  version_diversity: string[]
  config_hash_diversity: string[]
  remote_config_status_counts: Record<RemoteConfigCounter, number>
  heterogeneity: Record<HeterogeneityFlag, boolean>
  heterogeneity_reasons: HeterogeneityFlag[]
}

/** `GET /api/workloads/{id}/topology`. */
export interface WorkloadTopology {
  schema_version: 'workload-topology.v1'
  workload_id: string
  instances: LiveInstance[]
  summary: TopologySummary
}
