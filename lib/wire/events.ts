import { array, enums, type Infer, number, optional, string, type } from 'superstruct'
import { named, note } from './structs.ts'
import { EVENT_STATS_WINDOWS, WORKLOAD_EVENT_TYPES } from './values.ts'

export const WorkloadEventType = named('WorkloadEventType', '', enums(WORKLOAD_EVENT_TYPES))
export type WorkloadEventType = Infer<typeof WorkloadEventType>

export const WorkloadEventRecord = named(
  'WorkloadEventRecord',
  "One line of a workload's lifecycle log.",
  type({
    id: number(),
    workload_id: string(),
    instance_uid: string(),
    pod_name: optional(string()),
    event_type: WorkloadEventType,
    version: optional(string()),
    prev_version: optional(string()),
    occurred_at: string(),
  }),
)
export type WorkloadEventRecord = Infer<typeof WorkloadEventRecord>

export const EventStatsWindow = named('EventStatsWindow', '', enums(EVENT_STATS_WINDOWS))
export type EventStatsWindow = Infer<typeof EventStatsWindow>

export const EventStatsBucket = named(
  'EventStatsBucket',
  'One bar of the sparkline.',
  type({
    start: string(),
    connected: number(),
    disconnected: number(),
    version_changed: number(),
  }),
)
export type EventStatsBucket = Infer<typeof EventStatsBucket>

export const EventStats = named(
  'EventStats',
  '`GET /api/workloads/{id}/events/stats`.',
  type({
    connected: number(),
    disconnected: number(),
    version_changed: number(),
    churn_rate_per_hour: number(),
    window: EventStatsWindow,
    bucket_seconds: number(),
    buckets: array(EventStatsBucket),
  }),
)
export type EventStats = Infer<typeof EventStats>

export const WorkloadActivity = named(
  'WorkloadActivity',
  'How much happened to the instances of one workload.',
  type({
    workload_id: string(),
    events: note(
      'How many instances came, went or changed their version in each bucket, oldest first.',
      array(number()),
    ),
  }),
)
export type WorkloadActivity = Infer<typeof WorkloadActivity>

export const FleetActivity = named(
  'FleetActivity',
  '`GET /api/fleet/activity`: how much happened to several workloads over a window.',
  type({
    window: EventStatsWindow,
    bucket_seconds: number(),
    since: note('When the first bucket begins.', string()),
    workloads: note(
      'In the order in which they were asked for. Unknown ones are left out.',
      array(WorkloadActivity),
    ),
  }),
)
export type FleetActivity = Infer<typeof FleetActivity>
