import type { Scope } from '../model/scopes.ts'
import { isReachWithin, mayOverlap } from '../selectors/within-scope.ts'
import type { StoredFleetConfig } from '../store/fleet-configs.ts'

type Ranked = Pick<StoredFleetConfig, 'selector' | 'priority'>

/**
 * The fleet config from outside of somebody's scopes (null: everywhere) that another one would take workloads from, or
 * stand beside with the same priority; null where there is none.
 */
export function findOutranked(
  configs: readonly StoredFleetConfig[],
  wanted: Ranked & { id: string | null },
  scopes: readonly Scope[] | null,
): StoredFleetConfig | null {
  if (scopes === null) return null
  const isOutranked = (other: StoredFleetConfig) =>
    other.id !== wanted.id &&
    other.priority <= wanted.priority &&
    !isReachWithin(scopes, other) &&
    mayOverlap(other.selector, wanted.selector)
  return configs.find(isOutranked) ?? null
}
