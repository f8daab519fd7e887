import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'

/** Whether a push helped: all are healthy again, since when where that is known, or so many are not. */
export type Helped =
  | { kind: 'healthy'; total: number; since: string | undefined }
  | { kind: 'still'; count: number; total: number }

/**
 * Whether the newest push of a workload helped, where instances were unhealthy as it was pushed: what an alert said then, held to
 * how they are now. Null where none was, and of a push that is not applied or is not the newest.
 */
export function judgeHelp(
  push: Pick<RevisionRecord, 'push_id' | 'status' | 'submitted_at'>,
  workload: Pick<WorkloadRecord, 'current_config_push' | 'trouble' | 'connected_instance_count'>,
  alerts: readonly Pick<AlertRecord, 'rule' | 'fired_at' | 'resolved_at'>[],
): Helped | null {
  if (push.status !== 'applied' || workload.current_config_push?.push_id !== push.push_id) return null
  const { submitted_at: at } = push
  const before = alerts.find(
    ({ rule, fired_at: from, resolved_at: until }) =>
      rule === 'workload_unhealthy' && from < at && (until === undefined || until > at),
  )
  const total = workload.connected_instance_count
  if (before === undefined || total === 0) return null
  const { kind, count = 0, unhealthy_count: beside = 0 } = workload.trouble ?? {}
  const sick = kind === 'unhealthy' || kind === 'some_unhealthy' ? count : beside
  return sick > 0
    ? { kind: 'still', count: sick, total }
    : { kind: 'healthy', total, since: before.resolved_at }
}
