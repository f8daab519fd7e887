import {
  array,
  boolean,
  defaulted,
  enums,
  type Infer,
  literal,
  number,
  omit,
  optional,
  string,
  type,
} from 'superstruct'
import { AlertRecord } from './alerts.ts'
import { ApprovalStatus } from './approvals.ts'
import { AutoApplyStatus } from './auto-apply.ts'
import { CampaignStatus } from './campaigns.ts'
import { WorkloadEventRecord } from './events.ts'
import { ReviewKind } from './reviews.ts'
import { RevisionRecord } from './revisions.ts'
import { anyOf, cleared, dictionary, named } from './structs.ts'
import { RemoteConfigStatus, WorkloadRecord } from './workloads.ts'

const WorkloadUpdate = type({
  type: literal('workload_update'),
  /** The newest push has frames of its own, because it changes more often than the rest. */
  workload: cleared(omit(WorkloadRecord, ['current_config_push'])),
  connected_instance_count: number(),
  drifted_instance_count: number(),
})
export type WorkloadUpdate = Infer<typeof WorkloadUpdate>

const WorkloadRemoved = type({
  type: literal('workload_removed'),
  workload_id: string(),
  reason: literal('deleted'),
})

const WorkloadEvent = type({ type: literal('workload_event'), event: WorkloadEventRecord })

const WorkloadConfigStatus = type({
  type: literal('workload_config_status'),
  workload_id: string(),
  status: RemoteConfigStatus,
})

const AutoRollbackApplied = type({
  type: literal('auto_rollback_applied'),
  workload_id: string(),
  from_hash: string(),
  to_hash: string(),
  reason: string(),
  target_kind: enums(['last_known_good', 'previous']),
  push_id: string(),
})

const AlertUpdate = type({ type: literal('alert_update'), alert: cleared(AlertRecord) })

const ApprovalUpdate = type({
  type: literal('approval_update'),
  approval: type({
    id: string(),
    workload_id: string(),
    status: ApprovalStatus,
    target_group: string(),
    updated_at: string(),
  }),
})

/** A review began to wait for a second person, or somebody has looked at it. */
const ReviewUpdate = type({
  type: literal('review_update'),
  review: type({ id: string(), workload_id: string(), kind: ReviewKind, is_open: boolean() }),
})

/** A push changed; counts and error groups only. */
const PushUpdate = type({ type: literal('push_update'), workload_id: string(), push: RevisionRecord })

/** A campaign made progress; counts only. */
const CampaignUpdate = type({
  type: literal('campaign_update'),
  campaign: type({
    id: string(),
    status: CampaignStatus,
    wave: number(),
    planning: optional(type({ done: number(), total: number() })),
    counts: dictionary(number()),
    updated_at: string(),
  }),
})

/** The version of a fleet config that applies by itself, or how it stands, has changed; counts only. */
const AutoApplyUpdate = type({
  type: literal('auto_apply_update'),
  auto_apply: type({
    fleet_config_id: string(),
    status: optional(AutoApplyStatus),
    number: optional(number()),
    counts: optional(dictionary(number())),
    is_requested: boolean(),
    left_out: dictionary(number()),
  }),
})
/** The label rules have changed; workloads whose labels changed by that have frames of their own. */
const LabelRulesUpdate = type({ type: literal('label_rules_update'), rule_count: number() })

/** Frames may have been missed: fetch again what is shown. */
const Resync = type({ type: literal('resync') })

/** The answer to a `ping`: when each workload that it named was last heard of. */
const Pong = type({ type: literal('pong'), seen: dictionary(string()) })

/** Every kind of frame. */
export const HUB_FRAMES = [
  WorkloadUpdate,
  WorkloadRemoved,
  WorkloadEvent,
  WorkloadConfigStatus,
  AutoRollbackApplied,
  AlertUpdate,
  ApprovalUpdate,
  ReviewUpdate,
  PushUpdate,
  CampaignUpdate,
  AutoApplyUpdate,
  LabelRulesUpdate,
  Resync,
  Pong,
] as const

export const HubFrame = named(
  'HubFrame',
  'One text frame of `/ws`. Clients ignore types they do not know.',
  anyOf(HUB_FRAMES),
)
export type HubFrame = Infer<typeof HubFrame>

/**
 * What a browser sends: that it is still there, and the ids of the workloads whose last-seen time it shows. Anything
 * else is dropped.
 */
export const HubPing = type({ type: literal('ping'), seen: defaulted(array(string()), () => []) })
export type HubPing = Infer<typeof HubPing>
