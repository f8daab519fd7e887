/** `GET /api/system/database`: counters only. */
export interface DatabaseCounters {
  max_open_connections: number
  open_connections: number
  in_use: number
  idle: number
  wait_count: number
  wait_duration_ms: number
  max_idle_closed: number
  max_idle_time_closed: number
  max_lifetime_closed: number
}

export const LISTENER_NAMES = ['api', 'opamp', 'metrics'] as const
export type ListenerName = (typeof LISTENER_NAMES)[number]

/** `GET /api/system/info`: which build runs, since when, on what, and where it listens. */
export interface SystemInfo {
  version: string
  edition: string
  started_at: string
  node_version: string
  postgresql_version: string
  /** As they were configured; an empty host is every address of the machine. */
  listeners: { name: ListenerName; address: string }[]
}
