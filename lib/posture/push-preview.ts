import { byBytes } from '../model/text-order.ts'
import { openSelector, type SelectableWorkload } from '../selectors/selector.ts'
import { eachInTurns, Pace, sortInTurns, type Turns } from '../turns.ts'
import type { PushPreview, PushPreviewBucket } from '../wire/pushes.ts'
import type { Selector } from '../wire/selectors.ts'

/** What a preview needs of one workload that is not archived. */
export interface PreviewedWorkload extends SelectableWorkload {
  id: string
  displayName: string
  status: string
  lastSeenAt: Date
}

/**
 * What to preview. `faultOf` says why a workload could not run the given config; null when it can, or no config is
 * given.
 */
export interface PreviewRequest<W extends PreviewedWorkload> {
  groupId: string | null
  selector: Selector
  /** Whether whoever asks is shown a workload; the others are counted only. */
  sees(workloadId: string): boolean
  faultOf(workload: W): string | null
}

function judge<W extends PreviewedWorkload>(
  workload: W,
  request: PreviewRequest<W>,
): { bucket: PushPreviewBucket; reason?: string } {
  if (workload.status === 'disconnected') return { bucket: 'offline', reason: 'workload is not connected' }
  if (workload.type !== 'collector' || !workload.acceptsRemoteConfig) {
    return { bucket: 'read_only', reason: 'workload does not accept remote config' }
  }
  const fault = request.faultOf(workload)
  return fault === null ? { bucket: 'remote_config_capable' } : { bucket: 'incompatible', reason: fault }
}

/**
 * Which workloads a selector selects, and which of them could be pushed to. Others have their turn in between: there may
 * be thousands.
 */
export async function previewPush<W extends PreviewedWorkload>(
  workloads: Iterable<W>,
  request: PreviewRequest<W>,
  turns: Turns,
): Promise<PushPreview> {
  const breakdown = { remote_config_capable: 0, read_only: 0, incompatible: 0, offline: 0 }
  const pace = new Pace(turns)
  const isSelected = openSelector(request.selector)
  const seen: W[] = []
  let outside = 0
  await eachInTurns(workloads, pace, (workload) => {
    if (!isSelected(workload)) return
    if (request.sees(workload.id)) seen.push(workload)
    else outside++
  })
  const targets: PushPreview['targets'] = []
  await eachInTurns(await sortInTurns(seen, turns.size, byName), pace, (workload) => {
    const verdict = judge(workload, request)
    breakdown[verdict.bucket]++
    targets.push({
      workload_id: workload.id,
      display_name: workload.displayName,
      type: workload.type,
      ...(workload.version === '' ? {} : { version: workload.version }),
      status: workload.status,
      ...verdict,
      accepts_remote_config: workload.acceptsRemoteConfig,
      last_seen_unix: Math.floor(workload.lastSeenAt.getTime() / 1000),
    })
  })
  return {
    ...(request.groupId === null ? {} : { group_id: request.groupId }),
    selector_source: request.groupId === null ? 'collector_labels' : 'trusted_labels',
    selector: request.selector,
    targeted_count: targets.length,
    ...(outside === 0 ? {} : { outside_scope_count: outside }),
    breakdown,
    targets,
  }
}

const byName = (a: PreviewedWorkload, b: PreviewedWorkload): number =>
  byBytes(a.displayName, b.displayName) || byBytes(a.id, b.id)
