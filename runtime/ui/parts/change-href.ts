import type { ChangeRecord } from '../../../lib/wire/change-feed.ts'
import { holds, may } from '../state/session.ts'

/** Where a change is told in full; null for somebody who may not read that page. */
export function hrefOf(of: ChangeRecord): string | null {
  const workload = `/workloads/${of.workload_id}`
  if (of.kind === 'campaign') return holds('config:request') ? `/campaigns/${of.id}` : null
  if (of.kind === 'auto_apply') return `/fleet-configs/${of.fleet_config_id}`
  if (of.kind === 'request') return may('config:request') ? `${workload}/changes/${of.id}` : null
  if (of.rollout_id !== undefined) return `${workload}/rollouts/${of.rollout_id}`
  return `${workload}/pushes/${of.config_hash}?push=${of.id}`
}
