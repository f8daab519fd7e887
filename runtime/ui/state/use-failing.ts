import type { HealthNode } from '../../../lib/wire/instances.ts'
import type { WorkloadTopology } from '../../../lib/wire/topology.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { countFailing } from '../logic/health.ts'
import { api } from './endpoints.ts'
import { type Resource, touchesWorkload, useResource } from './use-resource.ts'

/** How many unhealthy instances are asked what ails them. */
const ASKED_MAX = 6
const NONE: ReadonlyMap<string, number> = new Map()

/** The components that unhealthy instances complain of, by `componentKey`, with how many do. */
export function useFailing({
  workload,
  topology,
}: {
  workload: WorkloadRecord
  topology: Resource<WorkloadTopology>
}): ReadonlyMap<string, number> {
  const uids = (topology.data?.instances ?? [])
    .filter(({ healthy }) => !healthy)
    .slice(0, ASKED_MAX)
    .map(({ instance_uid: uid }) => uid)
  const failing = useResource<ReadonlyMap<string, number>>(
    uids.length === 0 ? null : `failing:${workload.id}:${uids.join()}`,
    async (abort) => {
      const details = await Promise.all(uids.map((uid) => api.instance(workload.id, uid, abort)))
      const trees = details.flatMap((detail): HealthNode[] =>
        detail.ok && detail.value.health ? [detail.value.health] : [],
      )
      return { ok: true, value: countFailing(trees), headers: new Headers() }
    },
    touchesWorkload(workload.id),
  )
  return failing.data ?? NONE
}
