import type { ApprovalParts } from '../../changes/approval-parts.ts'
import type { Workload } from '../../fleet/state/model.ts'
import type { Log } from '../../log.ts'
import { configHash } from '../../model/config-hash.ts'
import type { ChangeReach } from '../../selectors/within-scope.ts'

/** What campaigns work with. */
export interface CampaignParts extends ApprovalParts {
  log: Log
  /** Whether this user may approve all of this now; asked about the approvers of a campaign while it runs. */
  mayApprove(userId: string, reach: ChangeReach): Promise<boolean>
  /** Why campaigns leave a workload alone now; null when they do not. */
  reservationOf(workload: Workload): 'held' | 'frozen' | null
}

/**
 * Hash the config policy of the server. What was approved while another policy was in force is not started any further.
 */
export const hashPolicy = (policy: CampaignParts['config']['policy']): string =>
  configHash(
    JSON.stringify([...[policy.otlpAllowlist, policy.criticalExporters, policy.requiredResourceAttributes]]),
  )
