import type { ConfigTarget, ConfigTargets, FleetPeer } from '../configs/check/target.ts'
import { isCapable } from '../fleet/decide/abilities.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Workload } from '../fleet/state/model.ts'
import { isHealthy } from '../fleet/views/instance.ts'
import { findContent } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { listAppliedHashes } from '../store/pushes.ts'
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
    async peers() {
      return [...fleet.state.workloads.values()].filter(({ archivedAt }) => archivedAt === null).map(toPeer)
    },
  }
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
