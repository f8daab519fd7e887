export const WORKLOAD_EVENT_TYPES = ['connected', 'disconnected', 'version_changed'] as const
export type WorkloadEventType = (typeof WORKLOAD_EVENT_TYPES)[number]

/** One line of a workload's lifecycle log. */
export interface WorkloadEventRecord {
  id: number
  workload_id: string
  instance_uid: string
  pod_name?: string
  event_type: WorkloadEventType
  version?: string
  prev_version?: string
  occurred_at: string
}

export const EVENT_STATS_WINDOWS = ['1h', '6h', '24h', '7d'] as const
export type EventStatsWindow = (typeof EVENT_STATS_WINDOWS)[number]

/** One bar of the sparkline. */
export interface EventStatsBucket {
  start: string
  connected: number
  disconnected: number
  version_changed: number
}

/** `GET /api/workloads/{id}/events/stats`. */
export interface EventStats {
  connected: number
  disconnected: number
  version_changed: number
  churn_rate_per_hour: number
  window: EventStatsWindow
  bucket_seconds: number
  buckets: EventStatsBucket[]
}
