import type { AlertRecord } from '../../../lib/wire/alerts.ts'
import type { RevisionRecord } from '../../../lib/wire/revisions.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'

/**
 * Whether a push helped: all are healthy again, since when where that is known, or so many are not: as before it, since it, or
 * for whatever reason.
 */
export type Helped =
  | { kind: 'healthy'; total: number; since: string | undefined }
  | { kind: 'still' | 'since' | 'unhealthy'; count: number; total: number }

/**
 * What the newest push of a workload did to the health of its instances: what an alert said as it was pushed, held to how they
 * are now. Null where all were healthy and are, and of a push that is not applied or is not the newest.
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
  if (total === 0) return null
  const { kind, count = 0, unhealthy_count: beside = 0, under_push: cause } = workload.trouble ?? {}
  const sick = kind === 'unhealthy' || kind === 'some_unhealthy' ? count : beside
  if (sick === 0) return before === undefined ? null : { kind: 'healthy', total, since: before.resolved_at }
  if (before !== undefined) return { kind: 'still', count: sick, total }
  return cause?.push_id === push.push_id
    ? { kind: 'since', count: cause.instance_count, total }
    : { kind: 'unhealthy', count: sick, total }
}
