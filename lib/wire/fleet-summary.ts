import { array, assign, boolean, type Infer, number, optional, pick, string, type } from 'superstruct'
import { AlertRecord } from './alerts.ts'
import { NamedWorkload } from './fleet-names.ts'
import { Outage } from './outages.ts'
import { named, note } from './structs.ts'
import { WorkloadRecord } from './workloads.ts'

export const FleetSummaryWorkload = named(
  'FleetSummaryWorkload',
  'What a line about a workload is made of, as in its record.',
  pick(WorkloadRecord, ['id', 'display_name', 'fingerprint_keys', 'trouble']),
)
export type FleetSummaryWorkload = Infer<typeof FleetSummaryWorkload>

export const FleetSummary = named(
  'FleetSummary',
  '`GET /api/fleet/summary`: the fleet in numbers, with a few of the worst by name. Archived workloads do not count.',
  type({
    counts: note(
      'Workloads by how they are; `all_unhealthy` are those of the degraded of which no instance is healthy, and `leaving` those whose last instance has just left.',
      type({
        all: number(),
        connected: number(),
        degraded: number(),
        all_unhealthy: number(),
        disconnected: number(),
        leaving: number(),
      }),
    ),
    troubled_count: note(
      'Workloads that have a trouble now; an old version alone is work to do, and none.',
      number(),
    ),
    loud_count: note('Those of them whose trouble is more than drift or a part that is degraded.', number()),
    of_config_count: note(
      'Those of them whose trouble comes from a config, pushed whenever: it failed, halts, does not run everywhere, was changed on a host, or instances are unhealthy since it was pushed.',
      number(),
    ),
    worst: note(
      'The worst among them; at most three. Ten or more that lost their instances within the same minutes are one: the worst of them, with the outage. The largest stand first. Two or more in trouble for one reason are one as well: the worst of them, with how many they are.',
      array(
        assign(
          FleetSummaryWorkload,
          type({
            outage: optional(Outage),
            alike: optional(
              type({
                count: number(),
                since: note(
                  'Since when the first of them is; absent where it is not known.',
                  optional(string()),
                ),
              }),
            ),
          }),
        ),
      ),
    ),
    versions: type({
      count: note('How many different versions collectors run; an unknown one counts as one.', number()),
      first: note(
        'The newest twenty, the newest first; empty is unknown and last. A collector whose instances differ counts with each of its versions.',
        array(type({ version: string(), count: number(), mixed_count: number(), is_outdated: boolean() })),
      ),
    }),
    alerts: type({
      open_count: number(),
      over_count: note(
        'Those of them whose cause has gone: the service closes them at its next look.',
        number(),
      ),
      critical_count: note('Critical ones whose cause is still there.', number()),
      pressing: note(
        'The five causes to look at first: critical ones, then what waits for a decision, production first; those whose cause has gone last.',
        array(
          type({
            alert: AlertRecord,
            is_over: boolean(),
            workload: optional(NamedWorkload),
            alike: note(
              'Where several alerts have one cause: how many, itself among them, since when, and some of their workloads; of many that came within the same minutes, what they have in common.',
              optional(
                type({
                  count: number(),
                  since: string(),
                  workloads: array(FleetSummaryWorkload),
                  outage: optional(Outage),
                }),
              ),
            ),
          }),
        ),
      ),
    }),
  }),
)
export type FleetSummary = Infer<typeof FleetSummary>
