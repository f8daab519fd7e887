import type { Workload } from '../../fleet/state/model.ts'
import { isSelected, toSelectable } from '../../selectors/selector.ts'
import type { StoredCampaign } from '../../store/campaigns.ts'
import type { CampaignParts } from './parts.ts'

/** Whether a campaign means a workload, and whether it leaves it out by name. */
export type ScopeVerdict = 'selected' | 'excluded' | 'not'

/** What a campaign says of each workload; its lists are read once. */
export function openScope(
  { fleetConfigs }: Pick<CampaignParts, 'fleetConfigs'>,
  { scope, change }: Pick<StoredCampaign, 'scope' | 'change'>,
): (workload: Workload) => ScopeVerdict {
  const { selector, exclude_selector: excludeSelector } = scope
  const named = new Set(scope.workload_ids ?? [])
  const left = new Set(scope.exclude_ids ?? [])
  // Of a version all that are under its fleet config, where nothing else is said.
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
