import type { Workload } from '../../fleet/state/model.ts'
import { isSelected, toSelectable } from '../../selectors/selector.ts'
import type { StoredCampaign } from '../../store/campaigns.ts'
import type { CampaignParts } from './parts.ts'

/**
 * What a campaign's scope says of a workload: `selected`; `excluded`, by its id or by the excluding selector; or `not`
 * selected at all.
 */
export type ScopeVerdict = 'selected' | 'excluded' | 'not'

/** Make a function that says whether a campaign's scope selects a workload. Its lists of ids become sets once. */
export function openScope(
  { fleetConfigs }: Pick<CampaignParts, 'fleetConfigs'>,
  { scope, change }: Pick<StoredCampaign, 'scope' | 'change'>,
): (workload: Workload) => ScopeVerdict {
  const { selector, exclude_selector: excludeSelector } = scope
  const named = new Set(scope.workload_ids ?? [])
  const left = new Set(scope.exclude_ids ?? [])
  // A campaign for a version, without selector and without named workloads, means all workloads under the fleet config.
  const everyoneOf =
    selector === undefined && scope.workload_ids === undefined && change.kind === 'version'
      ? change.fleet_config_id
      : null
  return (workload) => {
    const selectable = toSelectable(workload)
    const isMeant =
      named.has(workload.id) ||
      (selector !== undefined && isSelected(selectable, selector)) ||
      (everyoneOf !== null && fleetConfigs.membershipOf(workload).configId === everyoneOf)
    if (!isMeant) return 'not'
    const isExcluded =
      left.has(workload.id) || (excludeSelector !== undefined && isSelected(selectable, excludeSelector))
    return isExcluded ? 'excluded' : 'selected'
  }
}
