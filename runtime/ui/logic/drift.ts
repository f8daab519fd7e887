import type { DriftItem } from '../../../lib/wire/drift.ts'
import type { HubFrame, WorkloadUpdate } from '../../../lib/wire/hub.ts'

/** True of each that drifted, or a consequence of it: they say nothing beside another reason. */
const SAYS_NO_MORE: ReadonlySet<string> = new Set([
  'drifted',
  'config_drift_alert',
  'group_heterogeneous_config',
])

/** The reasons that tell one workload from the others, or all where these are all. */
export function tellingReasons(reasons: readonly string[]): readonly string[] {
  const telling = reasons.filter((reason) => !SAYS_NO_MORE.has(reason))
  return telling.length > 0 ? telling : reasons.filter((reason) => reason !== 'config_drift_alert')
}

/** Whether a workload is told otherwise than the list of drift has it. */
function saysOtherwise(item: DriftItem, { workload }: WorkloadUpdate): boolean {
  const has = (reason: string) => item.drift_reasons?.includes(reason) === true
  // One that was too old stays so as long as its alert is open.
  const wasOutdated =
    has('version_outdated') && !(item.has_version_outdated_alert && !workload.version_outdated)
  return (
    has('drifted') !== workload.drifted_instance_count > 0 ||
    has('altered') !== (workload.altered_instance_count ?? 0) > 0 ||
    wasOutdated !== workload.version_outdated ||
    item.version !== workload.version ||
    item.accepts_remote_config !== workload.accepts_remote_config ||
    (workload.active_config_hash ?? item.expected_config_hash) !== item.expected_config_hash
  )
}

/**
 * Whether the list of drift is to be read again after a frame. A config that somebody changed on a host, and a version
 * that is recommended now, are told by workloads alone, which are told of by the thousand: most say nothing new. `items`:
 * what is listed, by the id of its workload.
 */
export function touchesDrift(frame: HubFrame, items: ReadonlyMap<string, DriftItem>): boolean {
  if (frame.type === 'push_update' || frame.type === 'alert_update') return true
  if (frame.type === 'workload_removed') return items.has(frame.workload_id)
  if (frame.type !== 'workload_update') return false
  const { workload } = frame
  const item = items.get(workload.id)
  const isListed = workload.type === 'collector' && !workload.archived_at
  return item === undefined ? isListed : !isListed || saysOtherwise(item, frame)
}
