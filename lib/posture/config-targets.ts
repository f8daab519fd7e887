import type { ConfigTarget, ConfigTargets, FailingExporter, FleetPeer } from '../configs/check/target.ts'
import { clusterNameOf, isOfBlastRadius } from '../configs/diff/blast-radius.ts'
import { classifyAgentError } from '../configs/redact/agent-error.ts'
import { isCapable } from '../fleet/decide/abilities.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Workload } from '../fleet/state/model.ts'
import { deadEndOf } from '../fleet/views/aftermath.ts'
import { findFailingExporters } from '../fleet/views/failing-exporters.ts'
import { isHealthy } from '../fleet/views/instance.ts'
import { CLUSTER_KEYS, clusterOf, environmentOf } from '../model/labels.ts'
import { isProductionByLabels } from '../model/production.ts'
import { findContent } from '../store/config-contents.ts'
import type { Db } from '../store/db.ts'
import { listAppliedHashes } from '../store/pushes.ts'
import { findReportedConfig } from '../store/reported-configs.ts'
import { inTurns } from '../turns.ts'

/** The fleet as validation, plan, policy and diff see it. */
export function openConfigTargets(fleet: Fleet, db: Db): ConfigTargets {
  return {
    async find(workloadId) {
      const workload = fleet.workload(workloadId)
      return workload === null ? null : toTarget(fleet, workload)
    },
    async currentConfig(workloadId) {
      const workload = fleet.workload(workloadId)
      if (workload === null) return null
      // A first config that failed everywhere stays active for want of another one, and runs nowhere.
      const isDead = deadEndOf(workload)?.hash === workload.activeHash
      const hash = (isDead ? null : workload.activeHash) ?? (await listAppliedHashes(db, workloadId))[0]
      return hash === undefined ? null : ((await findContent(db, hash))?.body ?? null)
    },
    async reportedConfig(workloadId) {
      const workload = fleet.workload(workloadId)
      if (workload === null) return null
      const common = workload.live.mostReported()
      if (common === null) return null
      const text = await findReportedConfig(db, common.hash)
      return text === null ? null : { ...common, text, liveCount: workload.live.count }
    },
    async peer(workloadId) {
      const workload = fleet.workload(workloadId)
      return workload === null || workload.archivedAt !== null ? null : toPeer(workload)
    },
    async neighbours(of) {
      const cluster = clusterNameOf(of)
      if (cluster === '') return '[]'
      const texts: string[] = []
      for await (const piece of inTurns(fleet.state.workloads.values(), LOOK_CHUNK)) {
        const here = piece.filter((one) => one.archivedAt === null && one.id !== of.id && isIn(cluster, one))
        if (here.length > 0) texts.push(here.map((one) => JSON.stringify(toNeighbour(one))).join(','))
      }
      return `[${texts.join(',')}]`
    },
  }
}

/** Workloads looked at in one turn of the event loop. */
const LOOK_CHUNK = 500

/**
 * Whether a workload may be in this cluster, by any trusted or reported label or fingerprint key. Called for every
 * workload of the fleet.
 */
function isIn(cluster: string, { labels, trustedLabels, fingerprintKeys }: Workload): boolean {
  if (clusterOf(trustedLabels, {}).trim() === cluster) return true
  return CLUSTER_KEYS.some(
    (key) =>
      trustedLabels[key]?.trim() === cluster ||
      labels[key]?.trim() === cluster ||
      fingerprintKeys[key]?.trim() === cluster,
  )
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
    failedHashes: workload.quarantinedHashes,
    failing: findFailing(workload),
  }
}

/** Unhealthy instances that are asked what fails, as each may say it of many exporters and at length. */
const ASKED_MAX = 20

/** What the live instances say of their exporters that fail. */
function findFailing({ live }: Workload): Map<string, FailingExporter> {
  const asked = [...live.unhealthy].slice(0, ASKED_MAX)
  const namedBy = new Map<string, Map<string, number>>()
  for (const { health } of asked) {
    for (const [id, error] of findFailingExporters(health)) {
      const counts = namedBy.get(id) ?? new Map<string, number>()
      const host = hostOf(error)
      if (host !== null) counts.set(host, (counts.get(host) ?? 0) + 1)
      namedBy.set(id, counts)
    }
  }
  // An instance that was not asked may reach what all others cannot.
  const everywhere = (counts: ReadonlyMap<string, number>) =>
    [...counts].flatMap(([host, count]) => (count === live.count ? [host] : []))
  return new Map([...namedBy].map(([id, counts]) => [id, { unreachable: new Set(everywhere(counts)) }]))
}

/** The host that an error of an exporter is about; null where it names none. */
function hostOf(error: string): string | null {
  const { unknown_host: unknown, address } = classifyAgentError(error, { withText: false }).parameters
  return (unknown ?? address?.replace(/:\d{1,5}$/, ''))?.toLowerCase() ?? null
}

function toPeer(workload: Workload): FleetPeer {
  return {
    id: workload.id,
    displayName: workload.displayName,
    type: workload.type,
    status: workload.status,
    labels: labelsOf(workload),
    fingerprintKeys: workload.fingerprintKeys,
    isProduction: isProductionByLabels(workload),
  }
}

/** A peer with only those labels that a blast radius looks at, because thousands of them are sent to a thread. */
function toNeighbour(workload: Workload): FleetPeer {
  const { labels, fingerprintKeys, ...peer } = toPeer(workload)
  return { ...peer, labels: pickShown(labels), fingerprintKeys: pickShown(fingerprintKeys) }
}

function pickShown(labels: FleetPeer['labels']): FleetPeer['labels'] {
  const shown: Record<string, string> = {}
  for (const key of Object.keys(labels)) if (isOfBlastRadius(key, labels[key]!)) shown[key] = labels[key]!
  return shown
}

/**
 * Labels of operators override those of agents. Environment and cluster stand under one key each, whichever of the keys
 * for them operators or agents use.
 */
function labelsOf({ labels, trustedLabels }: Workload): FleetPeer['labels'] {
  const environment = environmentOf(trustedLabels, labels)
  const cluster = clusterOf(trustedLabels, labels)
  return {
    ...labels,
    ...trustedLabels,
    ...(environment === '' ? {} : { 'deployment.environment': environment }),
    ...(cluster === '' ? {} : { 'k8s.cluster.name': cluster }),
  }
}
