import type { HubFrame, WorkloadUpdate } from '../../../lib/wire/hub.ts'
import type { RemoteConfigStatus, WorkloadRecord } from '../../../lib/wire/workloads.ts'

type Trouble = NonNullable<WorkloadRecord['trouble']>

/** Whether what is wrong with a workload is still what it was, with the same configs. */
const isSameTrouble = (a: WorkloadRecord, b: WorkloadRecord): boolean =>
  a.trouble?.kind === b.trouble?.kind &&
  a.trouble?.since === b.trouble?.since &&
  a.trouble?.component === b.trouble?.component &&
  a.trouble?.error_cause === b.trouble?.error_cause &&
  a.active_config_hash === b.active_config_hash &&
  a.reported_config_hash === b.reported_config_hash

/** Whether one says more of the same error than the other, which leaves out names and an agent's own words. */
const saysMore = (a: Trouble, b: Trouble): boolean =>
  a.error_message !== undefined ||
  Object.keys(a.error_parameters ?? {}).length > Object.keys(b.error_parameters ?? {}).length

/** Frames leave out the names that a trouble is about and what instances say of it themselves: a record that was fetched has them, while nothing has changed. */
export function keepNames(before: WorkloadRecord | undefined, after: WorkloadRecord): WorkloadRecord {
  if (after.trouble?.is_abridged !== true || before?.trouble === undefined || before.trouble.is_abridged)
    return after
  if (!isSameTrouble(before, after) || !saysMore(before.trouble, after.trouble)) return after
  const { is_abridged: _, ...trouble } = after.trouble
  const { error_cause, error_title, error_parameters, error_message } = before.trouble
  return { ...after, trouble: { ...trouble, error_cause, error_title, error_parameters, error_message } }
}

function mergeUpdate(
  workloads: Map<string, WorkloadRecord>,
  frame: WorkloadUpdate,
  withArchived: boolean,
): void {
  const before = workloads.get(frame.workload.id)
  const merged: Record<string, unknown> = { ...before }
  const { remote_config_status: status } = frame.workload
  // A null in a frame is a field that was cleared.
  for (const [key, value] of Object.entries(frame.workload)) {
    if (value === null) delete merged[key]
    else merged[key] = value
  }
  if (status != null) merged['remote_config_status'] = withoutPush(status)
  merged['connected_instance_count'] = frame.connected_instance_count
  merged['drifted_instance_count'] = frame.drifted_instance_count
  const workload = keepNames(before, merged as unknown as WorkloadRecord)
  if (workload.archived_at !== undefined && !withArchived) workloads.delete(workload.id)
  else workloads.set(workload.id, workload)
}

function patch(
  workloads: Map<string, WorkloadRecord>,
  id: string,
  change: (workload: WorkloadRecord) => Partial<WorkloadRecord>,
): void {
  const workload = workloads.get(id)
  if (workload !== undefined) workloads.set(id, { ...workload, ...change(workload) })
}

/**
 * A status without its copy of the push, which is there for other clients: this one takes the push from a frame and a
 * field of its own, and they are newer.
 */
function withoutPush({ push_status: _, ...status }: RemoteConfigStatus): RemoteConfigStatus {
  return status
}

/** Take a frame into the list of workloads; false when it says nothing of it. */
export function applyFrame(
  workloads: Map<string, WorkloadRecord>,
  frame: HubFrame,
  { withArchived }: { withArchived: boolean },
): boolean {
  if (frame.type === 'workload_update') mergeUpdate(workloads, frame, withArchived)
  else if (frame.type === 'workload_removed') {
    if (frame.reason === 'deleted' || !withArchived) workloads.delete(frame.workload_id)
  } else if (frame.type === 'workload_config_status')
    patch(workloads, frame.workload_id, () => ({
      remote_config_status: withoutPush(frame.status),
    }))
  else if (frame.type === 'auto_rollback_applied')
    patch(workloads, frame.workload_id, () => ({ active_config_hash: frame.to_hash }))
  else if (frame.type === 'push_update')
    patch(workloads, frame.workload_id, (workload) =>
      (workload.current_config_push?.seq ?? 0) > frame.push.seq ? {} : { current_config_push: frame.push },
    )
  else return false
  return true
}
