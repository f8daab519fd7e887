import type { WorkloadEventRecord } from '../../../lib/wire/events.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'

/** An instance that connected while it was waited for. */
export interface Newcomer {
  workloadId: string
  /** Which instance it is; null where only the workload is known. */
  instance: Pick<WorkloadEventRecord, 'instance_uid' | 'pod_name'> | null
}

/** Waits for the first instance that was not there when the waiting began; one that went and came back is none. */
export class NewcomerWatch {
  readonly #left = new Set<string>()

  /** The newcomer of which a frame tells; null where it tells of none. */
  read(frame: HubFrame): Newcomer | null {
    if (frame.type !== 'workload_event') return null
    const { event_type, instance_uid, workload_id } = frame.event
    if (event_type === 'disconnected') this.#left.add(instance_uid)
    if (event_type !== 'connected' || this.#left.has(instance_uid)) return null
    return { workloadId: workload_id, instance: frame.event }
  }
}
