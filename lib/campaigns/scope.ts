import type { Workload } from '../fleet/state/model.ts'
import { isSelected, toSelectable } from '../selectors/selector.ts'
import type { StoredCampaign } from '../store/campaigns.ts'
import type { CampaignScope } from '../wire/campaigns.ts'
import type { CampaignParts } from './parts.ts'

/** Whether a campaign means a workload, and whether it leaves it out by name. */
export function isInScope(
  { fleetConfigs }: Pick<CampaignParts, 'fleetConfigs'>,
  workload: Workload,
  { scope, change }: Pick<StoredCampaign, 'scope' | 'change'>,
): 'selected' | 'excluded' | 'not' {
  const selectable = toSelectable(workload)
  const isEveryone = scope.selector === undefined && scope.workload_ids === undefined
  const isMeant =
    (isEveryone &&
      change.kind === 'version' &&
      fleetConfigs.membershipOf(workload).configId === change.fleet_config_id) ||
    scope.workload_ids?.includes(workload.id) === true ||
    (scope.selector !== undefined && isSelected(selectable, scope.selector))
  if (!isMeant) return 'not'
  const isExcluded =
    scope.exclude_ids?.includes(workload.id) === true ||
    (scope.exclude_selector !== undefined && isSelected(selectable, scope.exclude_selector))
  return isExcluded ? 'excluded' : 'selected'
}

/** Every workload of the inventory that a campaign means. */
export function listInScope(
  parts: Pick<CampaignParts, 'fleet' | 'fleetConfigs'>,
  { scope, change }: Pick<StoredCampaign, 'scope' | 'change'>,
): { workload: Workload; isExcluded: boolean }[] {
  // Looked up once: a list of thousands of ids is asked for each workload.
  const named = new Set(scope.workload_ids ?? [])
  const left = new Set(scope.exclude_ids ?? [])
  const found: { workload: Workload; isExcluded: boolean }[] = []
  for (const workload of parts.fleet.state.workloads.values()) {
    if (workload.archivedAt !== null && !named.has(workload.id)) continue
    const single: CampaignScope = {
      ...scope,
      ...(scope.workload_ids === undefined
        ? {}
        : { workload_ids: named.has(workload.id) ? [workload.id] : [] }),
      exclude_ids: left.has(workload.id) ? [workload.id] : [],
    }
    const verdict = isInScope(parts, workload, { scope: single, change })
    if (verdict !== 'not') found.push({ workload, isExcluded: verdict === 'excluded' })
  }
  return found
}
