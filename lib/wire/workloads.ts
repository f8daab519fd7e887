import type { RevisionRecord } from './revisions.ts'

export const WORKLOAD_STATUSES = ['connected', 'degraded', 'disconnected'] as const
export type WorkloadStatus = (typeof WORKLOAD_STATUSES)[number]

export const REMOTE_CONFIG_STATES = ['applying', 'applied', 'failed'] as const
export type RemoteConfigState = (typeof REMOTE_CONFIG_STATES)[number]

/** What was last reported about a remote config. Texts are redacted; never any YAML. */
export interface RemoteConfigStatus {
  status: RemoteConfigState
  config_hash: string
  updated_at: string
  error_cause?: string
  error_title?: string
  /** Redacted; only with `config:read_content`. */
  error_message?: string
  /** The workload's newest push, without content and instances; only in hub frames. */
  push_status?: RevisionRecord
}

/** Component kind (`receivers`, `exporters`, …) to the type names built in, sorted. */
export interface AvailableComponents {
  components: Record<string, string[]>
  hash?: string
}

/** Why nothing can be pushed to a workload. */
export type ReadOnlyReason = 'not_a_collector' | 'no_remote_config'

/** One workload as lists, details and hub frames show it. In hub frames a cleared field is null. */
export interface WorkloadRecord {
  id: string
  fingerprint_source: 'k8s' | 'host' | 'uid'
  fingerprint_keys: Record<string, string>
  display_name: string
  type: 'collector' | 'sdk'
  /** The lowest live version; the last known one when none lives. */
  version: string
  status: WorkloadStatus
  last_seen_at: string
  /** Agent labels, and trusted ones under the prefix `muster/`. */
  labels: Record<string, string>
  active_config_id?: string
  active_config_hash?: string
  remote_config_status?: RemoteConfigStatus
  /** The newest push, without content; only in REST answers. */
  current_config_push?: RevisionRecord
  available_components?: AvailableComponents
  accepts_remote_config: boolean
  retention_until?: string
  archived_at?: string
  /** Hash of the normal form of what the instances report to run, where they agree. */
  reported_config_hash?: string
  connected_instance_count: number
  drifted_instance_count: number
  applying_instance_count: number
  open_alert_count: number
  waiting_approval_count: number
  version_outdated: boolean
}

/** Body of `PUT /api/workloads/{id}/trusted-labels`: replaces them all; keys without the prefix. */
export interface TrustedLabelsRequest {
  labels: Record<string, string>
}

/** Answer of `PUT /api/workloads/{id}/trusted-labels`; keys without the prefix. */
export interface TrustedLabels {
  workload_id: string
  labels: Record<string, string>
}
