import type { Workload } from '../../fleet/state/model.ts'
import { countsAsProduction } from '../../model/production.ts'
import type { StoredCampaignTarget } from '../../store/campaign-targets.ts'
import type { CampaignParts } from '../judge/parts.ts'
import type { ScopeVerdict } from '../judge/scope.ts'

/** What was approved about any workload: which the change means, and under which fleet config, if any, it must be. */
export interface ApprovedSet {
  scopeOf: (workload: Workload) => ScopeVerdict
  fleetConfigId: string | null
}

/** What was approved about one workload. */
export type ApprovedTarget = Pick<StoredCampaignTarget, 'baseHash' | 'isProduction'>

/**
 * Why a workload is not what was approved any more; null when it is. Asked before its push is written, again with it
 * locked, and before each later stage of that push.
 */
export function whyNotApproved(
  { fleetConfigs }: Pick<CampaignParts, 'fleetConfigs'>,
  { scopeOf, fleetConfigId }: ApprovedSet,
  target: ApprovedTarget,
  workload: Workload,
  /** Ids of workloads that keep being production after changes of labels that nobody has accepted. */
  keptProduction: ReadonlySet<string>,
) {
  if (scopeOf(workload) !== 'selected') return 'not_selected'
  if (workload.activeHash !== target.baseHash) return 'base_moved'
  if (!target.isProduction && countsAsProduction(workload, keptProduction)) return 'became_production'
  if (fleetConfigs.membershipOf(workload).configId === fleetConfigId) return null
  return fleetConfigId === null ? 'under_fleet_config' : 'not_under_fleet_config'
}
