export type CapabilityState = 'enabled' | 'disabled' | 'read_only'

/** One thing the edition can or cannot do; `reason_code` is absent when enabled. */
export interface Capability {
  id: string
  state: CapabilityState
  reason_code?: 'not_enabled' | 'prerequisite_unavailable' | 'read_only_mode'
}

/** `GET /api/v1/capabilities`. */
export interface CapabilityDocument {
  api_version: 'v1'
  capabilities: Capability[]
}

/** `GET /api/features`. */
export interface Features {
  features: Record<string, boolean>
}
