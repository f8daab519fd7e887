import type { Workload } from '../../fleet/state/model.ts'
import { isInScope, type Scope } from '../../model/scopes.ts'
import { isGlob, openGlob } from '../../selectors/glob.ts'
import { openSelector, toSelectable } from '../../selectors/selector.ts'
import type { ChangeReach } from '../../selectors/within-scope.ts'
import type { StoredCampaign } from '../../store/campaigns.ts'
import { inTurns } from '../../turns.ts'
import type { CampaignParts } from './parts.ts'

/**
 * What a campaign's scope says of a workload: `selected`; `excluded`, by its id, its name or the excluding selector;
 * `outside` of what its author may push to, though meant otherwise; or `not` selected at all.
 */
export type ScopeVerdict = 'selected' | 'excluded' | 'outside' | 'not'

/**
 * Which workloads a campaign can reach. One that names workloads, or means all of a fleet config, can reach any, unless
 * it is cut to scopes.
 */
export const reachOfCampaign = ({ scope }: Pick<StoredCampaign, 'scope'>): ChangeReach => ({
  ...(scope.workload_ids === undefined ? { selector: scope.selector } : {}),
  cutTo: scope.cut_to,
})

/** Whether a workload lies within one of the scopes that a campaign is cut to. */
export const isInOneOf = (
  cutTo: readonly Scope[],
  { trustedLabels }: Pick<Workload, 'trustedLabels'>,
): boolean => cutTo.some((scope) => isInScope(scope, trustedLabels))

/** Make a function that says whether a campaign's scope selects a workload. Its lists of ids become sets once. */
export function openScope(
  { fleetConfigs }: Pick<CampaignParts, 'fleetConfigs'>,
  scope: StoredCampaign['scope'],
  fleetConfigId: string | null,
): (workload: Workload) => ScopeVerdict {
  const { selector, exclude_selector: excludeSelector, cut_to: cutTo } = scope
  const named = new Set(scope.workload_ids ?? [])
  const left = new Set(scope.exclude_ids ?? [])
  const isSelected = selector && openSelector(selector)
  const isLeftOut = excludeSelector && openSelector(excludeSelector)
  const isNamed = openNames(scope.exclude_names ?? [])
  // A campaign for a version, without selector and without named workloads, means all workloads under the fleet config.
  const everyoneOf = selector === undefined && scope.workload_ids === undefined ? fleetConfigId : null
  return (workload) => {
    const selectable = toSelectable(workload)
    const isMeant =
      named.has(workload.id) ||
      isSelected?.(selectable) === true ||
      (everyoneOf !== null && fleetConfigs.membershipOf(workload).configId === everyoneOf)
    if (!isMeant) return 'not'
    const isExcluded =
      left.has(workload.id) || namesOf(workload).some(isNamed) || isLeftOut?.(selectable) === true
    if (isExcluded) return 'excluded'
    return cutTo === undefined || isInOneOf(cutTo, workload) ? 'selected' : 'outside'
  }
}

/** What people call a workload: its name in the fleet, its host, its Kubernetes object. */
export const namesOf = ({ displayName, fingerprintKeys }: Workload): string[] =>
  [displayName, fingerprintKeys['host.name'] ?? '', fingerprintKeys['name'] ?? ''].filter(
    (name) => name !== '',
  )

/** Make a function that says whether a name is one of these, some of which may be globs. */
export function openNames(names: readonly string[]): (name: string) => boolean {
  const whole = new Set(names)
  const globs = names.filter(isGlob).map(openGlob)
  return (name) => whole.has(name) || globs.some((isFit) => isFit(name))
}

/** Workloads that are looked at before other work gets a turn. */
const CHUNK = 500

/** A workload that is meant, or meant and left out. */
export interface MeantWorkload {
  workload: Workload
  meant: Exclude<ScopeVerdict, 'not'>
}

/** The workloads that a scope means. An archived one is meant only where its id is named. */
export async function listMeant(
  { fleet }: Pick<CampaignParts, 'fleet'>,
  { workload_ids: ids = [] }: StoredCampaign['scope'],
  scopeOf: (workload: Workload) => ScopeVerdict,
): Promise<MeantWorkload[]> {
  const named = new Set(ids)
  const found: MeantWorkload[] = []
  for await (const some of inTurns(fleet.state.workloads.values(), CHUNK))
    for (const workload of some) {
      if (workload.archivedAt !== null && !named.has(workload.id)) continue
      const meant = scopeOf(workload)
      if (meant !== 'not') found.push({ workload, meant })
    }
  return found
}
