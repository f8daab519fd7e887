import { array, type Infer, number, string, type } from 'superstruct'
import { EventStatsWindow } from './events.ts'
import { named, note } from './structs.ts'

export const FleetHealthBucket = named(
  'FleetHealthBucket',
  'The worst count of workloads in a stretch of time: where most were disconnected, then unhealthy.',
  type({
    start: string(),
    connected: number(),
    degraded: number(),
    all_unhealthy: note('Those of the degraded of which no instance was healthy.', number()),
    disconnected: number(),
    leaving: note(
      'Those whose last instance had just left, so that nobody knew yet whether it comes back.',
      number(),
    ),
  }),
)
export type FleetHealthBucket = Infer<typeof FleetHealthBucket>

export const FleetHealth = named(
  'FleetHealth',
  '`GET /api/fleet/health`: how the fleet was over time, counted four times a minute; the last stretch runs until now.',
  type({
    window: EventStatsWindow,
    bucket_seconds: number(),
    since: note('When the first bucket of the window begins.', string()),
    buckets: note(
      'Oldest first. One in which nothing was counted, as while the service was not running, is not there.',
      array(FleetHealthBucket),
    ),
  }),
)
export type FleetHealth = Infer<typeof FleetHealth>
