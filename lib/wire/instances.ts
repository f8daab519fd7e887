import type { AvailableComponents, RemoteConfigStatus } from './workloads.ts'

/** One live instance as in lists and topology. */
export interface LiveInstance {
  instance_uid: string
  pod_name?: string
  version?: string
  connected_at: string
  last_message_at: string
  healthy: boolean
  accepts_remote_config: boolean
  remote_config_capability_known?: boolean
  /** False for one that takes configs but never says what became of them. */
  reports_remote_config?: boolean
  /** The last hash it reported as applied, hex. */
  effective_config_hash?: string
  /** Hash of the normal form of the config it reports to run. */
  reported_config_hash?: string
  /** What it should run. */
  assigned_config_hash?: string
  /** Whether its effective config holds everything the assigned config asks for. */
  effective_matches: boolean | 'unknown'
  /** Config paths at which it does not; only when `effective_matches` is false. */
  effective_mismatch_paths?: string[]
  remote_config_status?: RemoteConfigStatus
}

/** One node of the health tree as reported. */
export interface HealthNode {
  healthy: boolean
  /** The reporter's own word, such as `StatusOK`. */
  status?: string
  started_at?: string
  updated_at?: string
  error_cause?: string
  error_title?: string
  /** Redacted; only with `config:read_content`. */
  last_error?: string
  components?: Record<string, HealthNode>
}

/** `GET /api/workloads/{id}/instances/{uid}`. */
export interface InstanceDetail extends LiveInstance {
  workload_id: string
  transport?: 'websocket' | 'http'
  remote_address?: string
  capabilities?: string[]
  attributes: Record<string, string>
  health?: HealthNode
  available_components?: AvailableComponents
  /** The reported config in normal form; only with `config:read_content`. */
  effective_config?: string
}
