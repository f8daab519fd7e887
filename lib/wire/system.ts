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
