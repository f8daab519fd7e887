import type { HeterogeneityFlag, RemoteConfigCounter, TopologySummary } from '../../wire/topology.ts'
import { HETEROGENEITY_FLAGS } from '../../wire/values.ts'
import { hasOutstandingOffer, isCapable } from '../decide/abilities.ts'
import { hashOfAny } from '../decide/running-hash.ts'
import type { Instance } from '../state/model.ts'

const distinct = (values: readonly string[]): string[] =>
  [...new Set(values.filter((value) => value !== ''))].sort()

function remoteState(instance: Instance): Exclude<RemoteConfigCounter, 'capable'> {
  if (hasOutstandingOffer(instance) && !instance.offer!.hasStatus) return 'sent'
  return instance.report?.status ?? 'no_status'
}

/** What the live instances of a workload have in common, and in what they differ; so many of them drifted and are unwell. */
export function summariseTopology(
  live: readonly Instance[],
  { drifted, unwell }: { drifted: number; unwell: number },
): TopologySummary {
  const counts: Record<RemoteConfigCounter, number> = {
    capable: 0,
    no_status: 0,
    sent: 0,
    applying: 0,
    applied: 0,
    failed: 0,
  }
  for (const instance of live) {
    if (!isCapable(instance)) continue
    counts.capable++
    counts[remoteState(instance)]++
  }
  const versions = distinct(live.map((instance) => instance.version))
  const hashes = distinct(live.map(hashOfAny))
  const { capable: _, ...states } = counts
  const heterogeneity: Record<HeterogeneityFlag, boolean> = {
    mixed_versions: versions.length > 1,
    mixed_effective_config_hashes: hashes.length > 1,
    unhealthy_instances: unwell > 0,
    mixed_remote_config_statuses: Object.values(states).filter((count) => count > 0).length > 1,
    applying_remote_config: counts.applying > 0,
    failed_remote_config: counts.failed > 0,
  }
  const reasons = HETEROGENEITY_FLAGS.filter((flag) => heterogeneity[flag])
  return {
    connected_count: live.length,
    healthy_count: live.length - unwell,
    unhealthy_count: unwell,
    drifted_count: drifted,
    heterogeneous: reasons.length > 0,
    version_diversity: versions,
    config_hash_diversity: hashes,
    remote_config_status_counts: counts,
    heterogeneity,
    heterogeneity_reasons: reasons,
  }
}
