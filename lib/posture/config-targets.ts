import type { ConfigTarget, ConfigTargets, FleetPeer } from '../configs/check/target.ts'
import { isCapable } from '../fleet/decide/abilities.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Workload } from '../fleet/state/model.ts'
import { isHealthy } from '../fleet/views/instance.ts'
import { findContent } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { listAppliedHashes } from '../store/pushes.ts'
import { findReportedConfig } from '../store/reported-configs.ts'
import { clusterOf, environmentOf } from '../wire/labels.ts'

/** The fleet as validation, plan, policy and diff look at it. */
export function openConfigTargets(fleet: Fleet, db: Db): ConfigTargets {
  return {
    async find(workloadId) {
      const workload = fleet.workload(workloadId)
      return workload === null ? null : toTarget(fleet, workload)
    },
    async currentConfig(workloadId) {
      const workload = fleet.workload(workloadId)
      if (workload === null) return null
      const hash = workload.activeHash ?? (await listAppliedHashes(db, workloadId))[0]
      return hash === undefined ? null : ((await findContent(db, hash))?.body ?? null)
    },
    async reportedConfig(workloadId) {
      const workload = fleet.workload(workloadId)
      if (workload === null) return null
      const live = fleet.liveInstances(workload)
      const common = commonHash(live)
      if (common === null) return null
      const text = await findReportedConfig(db, common.hash)
      return text === null ? null : { ...common, text, liveCount: live.length }
    },
    async peers() {
      return [...fleet.state.workloads.values()].filter(({ archivedAt }) => archivedAt === null).map(toPeer)
    },
  }
}

/** The reported hash that most instances share; of several, the first in the order of texts. */
function commonHash(
  live: Iterable<{ reportedConfigHash: string }>,
): { hash: string; instanceCount: number } | null {
  const counts = new Map<string, number>()
  for (const { reportedConfigHash: hash } of live)
    if (hash !== '') counts.set(hash, (counts.get(hash) ?? 0) + 1)
  let found: { hash: string; instanceCount: number } | null = null
  for (const [hash, instanceCount] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (found === null || instanceCount > found.instanceCount) found = { hash, instanceCount }
  return found
}

function toTarget(fleet: Fleet, workload: Workload): ConfigTarget {
  const known = workload.availableComponents
  return {
    workloadId: workload.id,
    displayName: workload.displayName,
    type: workload.type,
    version: workload.version,
    status: workload.status,
    labels: workload.labels,
    trustedLabels: workload.trustedLabels,
    acceptsRemoteConfig: workload.acceptsRemoteConfig,
    instances: fleet.liveInstances(workload).map((instance) => ({
      uid: instance.uid,
      podName: instance.podName,
      components: instance.components?.components ?? null,
      isCapable: isCapable(instance),
      runsProfiles: instance.runsProfiles && isHealthy(instance),
    })),
    lastKnownComponents: known === null ? null : new Map(Object.entries(known.components)),
    activeConfigHash: workload.activeHash,
  }
}

function toPeer(workload: Workload): FleetPeer {
  return {
    id: workload.id,
    displayName: workload.displayName,
    type: workload.type,
    status: workload.status,
    labels: labelsOf(workload),
    fingerprintKeys: workload.fingerprintKeys,
  }
}

/** What operators set stands above what agents say, also where the two name the same thing differently. */
function labelsOf({ labels, trustedLabels }: Workload): FleetPeer['labels'] {
  const environment = environmentOf(trustedLabels, {})
  const cluster = clusterOf(trustedLabels, {})
  return {
    ...labels,
    ...trustedLabels,
    ...(environment === '' ? {} : { 'deployment.environment': environment }),
    ...(cluster === '' ? {} : { 'k8s.cluster.name': cluster }),
  }
}
