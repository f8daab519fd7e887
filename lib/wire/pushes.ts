/** One UTC day of push activity. */
export interface PushActivityDay {
  /** `YYYY-MM-DD`. */
  day: string
  count: number
}

/** Which workloads a group or a scope means. */
export interface PushSelector {
  match_labels?: Record<string, string>
  types?: string[]
  versions?: string[]
  capabilities?: string[]
}

/** A named selector over trusted labels. */
export interface PushGroup {
  id: string
  name: string
  description?: string
  selector: PushSelector
}

/** Body of `POST /api/push-groups` and `PUT /api/push-groups/{id}` (there the path's id counts). */
export interface PushGroupRequest {
  id?: string
  name: string
  description?: string
  selector: PushSelector
}

export type PushPreviewBucket = 'remote_config_capable' | 'read_only' | 'incompatible' | 'offline'

/** Body of `POST /api/pushes/preview`; exactly one of `group_id` and `selector`. */
export interface PushPreviewRequest {
  group_id?: string
  selector?: PushSelector
  config_content?: string
}

/** Whom a group or a selector reaches. */
export interface PushPreview {
  group_id?: string
  selector_source: 'trusted_labels' | 'collector_labels'
  selector: PushSelector
  targeted_count: number
  breakdown: Record<PushPreviewBucket, number>
  targets: {
    workload_id: string
    display_name: string
    type: string
    version?: string
    status: string
    bucket: PushPreviewBucket
    reason?: string
    accepts_remote_config: boolean
    last_seen_unix?: number
  }[]
}
