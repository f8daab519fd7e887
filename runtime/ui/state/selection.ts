import { signal } from '@preact/signals'
import { workloads } from './fleet.ts'
import { query } from './router.ts'

/** Workloads that are ticked in the fleet's table. They stay so until somebody clears them, or signs out. */
export const selection = signal<ReadonlySet<string>>(new Set())

export const clearSelection = (): void => {
  selection.value = new Set()
}

/** Those of them that are still there. */
export const listSelected = (): string[] => [...selection.value].filter((id) => workloads.has(id))

/** Ids that stand in an address; servers and proxies cut off longer ones. */
const IDS_IN_ADDRESS_MAX = 60
const KEPT_KEY = 'muster.chosen'

/** An address that carries workloads: few in itself, so that it can be sent to somebody; many by way of this tab. */
export function addressWith(path: string, ids: readonly string[]): string {
  if (ids.length <= IDS_IN_ADDRESS_MAX) return `${path}?ids=${ids.join(',')}`
  const stamp = Date.now().toString(36)
  try {
    // The newest takes the place of the one before, so that there is never more than one.
    sessionStorage.setItem(KEPT_KEY, JSON.stringify({ stamp, ids }))
  } catch {
    // A browser that keeps nothing: the page says that it does not know them.
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
