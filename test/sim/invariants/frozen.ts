import type { Workload } from '../../../lib/fleet/state/model.ts'

/** Whether a stored freeze, as operators of a world make them, keeps a workload at this time; null where there is none. */
export function isFrozenBy(setting: string | null, workload: Workload | null, at: Date): boolean {
  if (setting === null) return false
  const { selector, until } = JSON.parse(setting) as {
    selector: { match_labels: Record<string, string> } | null
    until: string
  }
  if (new Date(until) <= at) return false
  const host = selector?.match_labels['identity/host.name']
  return host === undefined || workload?.fingerprintKeys['host.name'] === host
}
