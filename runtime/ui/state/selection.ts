import { signal } from '@preact/signals'
import { workloads } from './fleet.ts'
import { query } from './router.ts'

/** The ids of the workloads that are ticked in the fleet's table, until somebody clears them or signs out. */
export const selection = signal<ReadonlySet<string>>(new Set())

/** Untick all workloads. */
export const clearSelection = (): void => {
  selection.value = new Set()
}

/** The ids of ticked workloads that still exist. */
export const listSelected = (): string[] => [...selection.value].filter((id) => workloads.has(id))

/** How many ids stand in an address; servers and proxies refuse addresses that are too long. */
const IDS_IN_ADDRESS_MAX = 60
const KEPT_KEY = 'muster.chosen'

/**
 * An address that carries workloads: a few in itself, so that it can be sent to somebody, many in the storage of this
 * tab.
 */
export function addressWith(path: string, ids: readonly string[]): string {
  if (ids.length <= IDS_IN_ADDRESS_MAX) return `${path}?ids=${ids.join(',')}`
  const stamp = Date.now().toString(36)
  try {
    // Replaces the former one, so that there is never more than one.
    sessionStorage.setItem(KEPT_KEY, JSON.stringify({ stamp, ids }))
  } catch {
    // The browser stores nothing: the page will say that it does not know the workloads.
  }
  return `${path}?chosen=${stamp}`
}

/** The workloads that the present address carries; null where this tab does not know them any more. */
export function carriedIds(): readonly string[] | null {
  const stamp = query.value.get('chosen')
  if (stamp === null) return (query.value.get('ids') ?? '').split(',').filter((id) => id !== '')
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT_KEY) ?? 'null') as { stamp: string; ids: string[] }
    return kept.stamp === stamp && Array.isArray(kept.ids) ? kept.ids.map(String) : null
  } catch {
    return null
  }
}
