import type { StoredWorkloadEvent } from '../../store/workload-events.ts'
import type { WorkloadEventRecord } from '../../wire/events.ts'

/** One line of a workload's lifecycle log as the wire shows it. */
export function toEventRecord(event: StoredWorkloadEvent): WorkloadEventRecord {
  return {
    id: event.id,
    workload_id: event.workloadId,
    instance_uid: event.instanceUid,
    ...(event.podName === '' ? {} : { pod_name: event.podName }),
    event_type: event.eventType,
    ...(event.version === '' ? {} : { version: event.version }),
    ...(event.prevVersion === '' ? {} : { prev_version: event.prevVersion }),
    occurred_at: event.occurredAt.toISOString(),
  }
}
