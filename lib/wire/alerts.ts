import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  number,
  optional,
  string,
  type,
} from 'superstruct'
import { anyOf, dictionary, named, note, type Sent, texts } from './structs.ts'
import { ALERT_RULES, ALERT_STEPS, type TOPIC_ALERT_RULES, type WORKLOAD_ALERT_RULES } from './values.ts'

export const AlertRule = named('AlertRule', '', enums(ALERT_RULES))
export type AlertRule = Infer<typeof AlertRule>
/** A rule about one workload. */
export type WorkloadAlertRule = (typeof WORKLOAD_ALERT_RULES)[number]
/** A rule about a campaign, a fleet config or people. */
export type TopicAlertRule = (typeof TOPIC_ALERT_RULES)[number]

export const AlertSeverity = named('AlertSeverity', '', enums(['warning', 'critical']))
export type AlertSeverity = Infer<typeof AlertSeverity>

export const AlertAbout = named(
  'AlertAbout',
  'What the workload of an alert is called, and where it runs.',
  type({
    name: string(),
    place: note('What tells it from others of its name: namespace or host.', string()),
    environment: string(),
    cluster: string(),
    is_production: boolean(),
    lost_at: note('Since when no instance of it is there, where it is disconnected now.', optional(string())),
  }),
)
export type AlertAbout = Infer<typeof AlertAbout>

export const AlertRecord = named(
  'AlertRecord',
  'One alert; open while `resolved_at` is absent.',
  type({
    id: string(),
    workload_id: note(
      'Empty for an alert of a campaign, a fleet config or people, which `details` names.',
      string(),
    ),
    rule: AlertRule,
    severity: AlertSeverity,
    message: string(),
    details: note(
      'What the message says, for whoever says it in other words; absent where there is nothing to add.',
      optional(dictionary(anyOf([string(), number()]))),
    ),
    next: note('What to do about it, in English; only of an open one.', optional(string())),
    next_steps: note(
      'What can be done now about a workload that is unhealthy or drifts; absent from messages of the hub.',
      optional(array(enums(ALERT_STEPS))),
    ),
    about: note(
      'Of one about a workload of the fleet; absent from messages of the hub.',
      optional(AlertAbout),
    ),
    fired_at: string(),
    resolved_at: optional(string()),
    resolve_reason: note('Why an operator resolved it; absent where nobody said.', optional(string())),
    reopen_until: note(
      'Until when it may be opened again; absent where it may not: only while its cause has not gone.',
      optional(string()),
    ),
  }),
)
export type AlertRecord = Infer<typeof AlertRecord>

export const AlertCount = named('AlertCount', '`GET /api/alerts/count`.', type({ open_count: number() }))
export type AlertCount = Infer<typeof AlertCount>

export const AlertResolveRequest = named(
  'AlertResolveRequest',
  'Body of `POST /api/alerts/{id}/resolve`; it may be left out.',
  type({ reason: defaulted(string(), '') }),
)
export type AlertResolveRequest = Sent<typeof AlertResolveRequest>

export const AlertResolved = named(
  'AlertResolved',
  'Answer of `POST /api/alerts/{id}/resolve`.',
  type({
    status: literal('resolved'),
  }),
)
export type AlertResolved = Infer<typeof AlertResolved>

export const AlertsResolveRequest = named(
  'AlertsResolveRequest',
  'Body of `POST /api/alerts/resolve`: at most 100 alerts.',
  type({ alert_ids: texts(1_000), reason: defaulted(string(), '') }),
)
export type AlertsResolveRequest = Sent<typeof AlertsResolveRequest>

export const AlertsResolved = named(
  'AlertsResolved',
  'Answer of `POST /api/alerts/resolve`.',
  type({ resolved_count: note('Those that were open before.', number()) }),
)
export type AlertsResolved = Infer<typeof AlertsResolved>
