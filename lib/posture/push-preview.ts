import { isSelected, type SelectableWorkload, type SelectorSource } from '../fleet/decide/selector.ts'
import { byBytes } from '../model/text-order.ts'
import type { PushPreview, PushPreviewBucket, PushSelector } from '../wire/pushes.ts'

/** One workload that is not archived, as far as a preview cares. */
export interface PreviewedWorkload extends SelectableWorkload {
  id: string
  displayName: string
  status: string
  lastSeenAt: Date
}

/** What a preview is asked. `faultOf` says why a workload could not run the given config; null when it can. */
export interface PreviewRequest<W extends PreviewedWorkload> {
  groupId: string | null
  selector: PushSelector
  source: SelectorSource
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

/** Whom a selector reaches, and who of them could be pushed to. */
export function previewPush<W extends PreviewedWorkload>(
  workloads: readonly W[],
  request: PreviewRequest<W>,
): PushPreview {
  const breakdown = { remote_config_capable: 0, read_only: 0, incompatible: 0, offline: 0 }
  const targets = workloads
    .filter((workload) => isSelected(workload, request.selector, request.source))
    .sort((a, b) => byBytes(a.displayName, b.displayName) || byBytes(a.id, b.id))
    .map((workload) => {
      const verdict = judge(workload, request)
      breakdown[verdict.bucket]++
      return {
        workload_id: workload.id,
        display_name: workload.displayName,
        type: workload.type,
        ...(workload.version === '' ? {} : { version: workload.version }),
        status: workload.status,
        ...verdict,
        accepts_remote_config: workload.acceptsRemoteConfig,
        last_seen_unix: Math.floor(workload.lastSeenAt.getTime() / 1000),
      }
    })
  return {
    ...(request.groupId === null ? {} : { group_id: request.groupId }),
    selector_source: request.source,
    selector: request.selector,
    targeted_count: targets.length,
    breakdown,
    targets,
  }
}
