import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import type { HubFrame } from '../../../lib/wire/hub.ts'
import type { WorkloadTrouble } from '../../../lib/wire/workloads.ts'

/** Frames after which the feed may begin with something else. */
const CHANGE_FRAMES: ReadonlySet<string> = new Set([
  'push_update',
  'approval_update',
  'campaign_update',
  'auto_apply_update',
  'auto_rollback_applied',
])

/** Whether a workload's trouble is another than a push of it tells: instances fell ill since it, or are well again. */
function saysOtherwise(push: ChangeRecord, trouble: WorkloadTrouble | null): boolean {
  const [told, now] = [push.unhealthy_since, trouble?.under_push?.push_id === push.id ? trouble : null]
  return (
    told?.kind !== now?.kind ||
    told?.since !== now?.since ||
    told?.count !== now?.count ||
    told?.total !== now?.total
  )
}

/**
 * Whether a list of changes is to be read again after a frame: something was changed, or a change that it lists is told
 * otherwise now. Workloads are told of by the thousand; most say nothing about a push that is listed.
 */
export const touchesChanges = (frame: HubFrame, listed: readonly ChangeRecord[]): boolean =>
  CHANGE_FRAMES.has(frame.type) || touchesListed(frame, listed)

/** Whether a change of a list is told otherwise now, as its workload is in another trouble. */
export const touchesListed = (frame: HubFrame, listed: readonly ChangeRecord[]): boolean =>
  frame.type === 'workload_update' &&
  listed.some(
    (change) =>
      change.workload_id === frame.workload.id && saysOtherwise(change, frame.workload.trouble ?? null),
  )
