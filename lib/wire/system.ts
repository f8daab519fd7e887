import { array, enums, type Infer, number, string, type } from 'superstruct'
import { named, note } from './structs.ts'
import { LISTENER_NAMES } from './values.ts'

export const DatabaseCounters = named(
  'DatabaseCounters',
  '`GET /api/system/database`: counters only.',
  type({
    max_open_connections: number(),
    open_connections: number(),
    in_use: number(),
    idle: number(),
    wait_count: number(),
    wait_duration_ms: number(),
    max_idle_closed: number(),
    max_idle_time_closed: number(),
    max_lifetime_closed: number(),
  }),
)
export type DatabaseCounters = Infer<typeof DatabaseCounters>

export const ListenerName = named('ListenerName', '', enums(LISTENER_NAMES))
export type ListenerName = Infer<typeof ListenerName>

export const SystemInfo = named(
  'SystemInfo',
  '`GET /api/system/info`: which build runs, since when, on what, and where it listens.',
  type({
    version: string(),
    edition: string(),
    started_at: string(),
    node_version: string(),
    postgresql_version: string(),
    listeners: note(
      'As they were configured; an empty host is every address of the machine.',
      array(
        type({
          name: ListenerName,
          address: string(),
        }),
      ),
    ),
  }),
)
export type SystemInfo = Infer<typeof SystemInfo>
