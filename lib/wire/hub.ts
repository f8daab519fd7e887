import { array, defaulted, type Infer, literal, string, type } from 'superstruct'
import type { AlertRecord } from './alerts.ts'
import type { ApprovalStatus } from './approvals.ts'
import type { WorkloadEventRecord } from './events.ts'
import type { RevisionRecord } from './revisions.ts'
import type { RemoteConfigStatus, WorkloadRecord } from './workloads.ts'

/** The same fields, null where one was cleared. */
export type Cleared<T> = {
  [K in keyof T]: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K]
}

/** One text frame of `/ws`. Clients ignore types they do not know. */
export type HubFrame =
  | {
      type: 'workload_update'
      workload: Cleared<Omit<WorkloadRecord, 'current_config_push'>>
      connected_instance_count: number
      drifted_instance_count: number
    }
  | { type: 'workload_removed'; workload_id: string; reason: 'deleted' }
  | { type: 'workload_event'; event: WorkloadEventRecord }
  | { type: 'workload_config_status'; workload_id: string; status: RemoteConfigStatus }
  | {
      type: 'auto_rollback_applied'
      workload_id: string
      from_hash: string
      to_hash: string
      reason: string
      target_kind: 'last_known_good' | 'previous'
      push_id: string
    }
  | { type: 'alert_update'; alert: Cleared<AlertRecord> }
  | {
      type: 'approval_update'
      approval: {
        id: string
        workload_id: string
        status: ApprovalStatus
        target_group: string
        updated_at: string
      }
    }
  /** A push changed; counts and error groups only. */
  | { type: 'push_update'; workload_id: string; push: RevisionRecord }
  /** Frames may have been missed: fetch again what is shown. */
  | { type: 'resync' }
  /** The answer to a `ping`: when each workload that it named was last heard of. */
  | { type: 'pong'; seen: Record<string, string> }

/** What a browser says: that it is there, and which workloads it shows the time of. Anything else is dropped. */
export const HubPing = type({ type: literal('ping'), seen: defaulted(array(string()), () => []) })
export type HubPing = Infer<typeof HubPing>
