import type { HealthNode, LiveInstance } from '../../../lib/wire/instances.ts'
import { countFailing } from '../logic/health.ts'
import { api } from './endpoints.ts'
import { touchesWorkload, useResource } from './use-resource.ts'

/** How many unhealthy instances are asked what ails them. */
const ASKED_MAX = 6
const NONE: ReadonlyMap<string, number> = new Map()

/** The components that unhealthy instances complain of, by `componentKey`, with how many do. */
export function useFailing(
  workloadId: string,
  instances: readonly LiveInstance[],
): ReadonlyMap<string, number> {
  const uids = instances
    .filter(({ healthy }) => !healthy)
    .slice(0, ASKED_MAX)
    .map(({ instance_uid: uid }) => uid)
  const failing = useResource<ReadonlyMap<string, number>>(
    uids.length === 0 ? null : `failing:${workloadId}:${uids.join()}`,
    async (abort) => {
      const details = await Promise.all(uids.map((uid) => api.instance(workloadId, uid, abort)))
      const trees = details.flatMap((detail): HealthNode[] =>
        detail.ok && detail.value.health ? [detail.value.health] : [],
      )
      return { ok: true, value: countFailing(trees), headers: new Headers() }
    },
    touchesWorkload(workloadId),
  )
  return failing.data ?? NONE
}
