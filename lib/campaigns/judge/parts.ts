import type { ApprovalParts } from '../../changes/approval-parts.ts'
import type { Workload } from '../../fleet/state/model.ts'
import type { Log } from '../../log.ts'
import { configHash } from '../../model/config-hash.ts'
import { sortedJson } from '../../model/sorted-json.ts'
import type { ChangeReach } from '../../selectors/within-scope.ts'

/** What campaigns work with. */
export interface CampaignParts extends ApprovalParts {
  log: Log
  /** Whether this user may approve all of this now; asked about the approvers of a campaign while it runs. */
  mayApprove(userId: string, reach: ChangeReach): Promise<boolean>
  /** Why campaigns leave a workload alone now; null when they do not. */
  reservationOf(workload: Workload): 'held' | 'frozen' | null
  /** Who holds or froze a workload, and why; null where nobody does. */
  whoReserves?(workload: Workload): { by: string; reason: string } | null
  /** The freeze that a workload is under now; null when there is none. */
  freezeOf?(workload: Workload): { until: Date; reason: string } | null
  /** A workload with more instances than this is pushed to in stages. */
  stagedAbove: number
}

/**
 * Hash the config policy of the server. What was approved while another policy was in force is not started any further.
 * Three settings stand first, as when there were no others, so that what is under way goes on after an upgrade; any
 * other setting is hashed without being named here.
 */
export function hashPolicy(policy: CampaignParts['config']['policy']): string {
  const { otlpAllowlist, criticalExporters, requiredResourceAttributes, ...more } = policy
  const first = [otlpAllowlist, criticalExporters, requiredResourceAttributes]
  return configHash(JSON.stringify(Object.keys(more).length === 0 ? first : [...first, sortedJson(more)]))
}
