import type { AvailableComponents, ConfigTarget } from '../../configs/target.ts'
import { isCapable } from '../derive.ts'
import type { Workload } from '../model.ts'

/** A workload as validation, plan and policy see it. */
export function toConfigTarget(workload: Workload): ConfigTarget {
  return {
    workloadId: workload.id,
    displayName: workload.displayName,
    type: workload.type,
    version: workload.version,
    status: workload.status,
    labels: workload.labels,
    trustedLabels: workload.trustedLabels,
    acceptsRemoteConfig: workload.acceptsRemoteConfig,
    instances: [...workload.instances]
      .filter((instance) => instance.connection !== null && instance.isDescribed)
      .map((instance) => ({
        uid: instance.uid,
        podName: instance.podName,
        components: instance.components?.components ?? null,
        isCapable: isCapable(instance),
      })),
    lastKnownComponents: toComponents(workload),
    activeConfigHash: workload.activeHash,
  }
}

function toComponents({ availableComponents }: Workload): AvailableComponents | null {
  return availableComponents === null ? null : new Map(Object.entries(availableComponents.components))
}
