import type { LiveInstance } from '../../../lib/wire/instances.ts'
import type { TopologySummary } from '../../../lib/wire/topology.ts'

/** How much an instance stands out: failed before unhealthy before applying before another version. */
export function oddnessOf(instance: LiveInstance, summary: TopologySummary): number {
  let oddness = 0
  if (instance.remote_config_status?.status === 'failed') oddness += 16
  if (!instance.healthy) oddness += 8
  if (instance.remote_config_status?.status === 'applying') oddness += 4
  if (instance.effective_matches === false) oddness += 4
  const assigned = instance.assigned_config_hash
  if (assigned !== undefined && instance.effective_config_hash !== assigned) oddness += 2
  // The lowest version is the one to look at.
  if (summary.version_diversity.length > 1 && instance.version === summary.version_diversity[0]) oddness += 1
  return oddness
}
