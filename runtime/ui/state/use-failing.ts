import type { HealthNode, LiveInstance } from '../../../lib/wire/instances.ts'
import { countFailing, findComplaint } from '../logic/health.ts'
import { isUnwell } from '../logic/instances.ts'
import { api } from './endpoints.ts'
import { touchesWorkload, useResource } from './use-resource.ts'

/** How many unhealthy instances are asked for their health in detail. */
const ASKED_MAX = 6

/** What unhealthy instances complain of. */
export interface Failing {
  /** How many of the instances that were asked (six at most) complain of each component, by `componentKey`. */
  components: ReadonlyMap<string, number>
  /** The component that most of them name, as one of them reports it. */
  complaint: HealthNode | null
  /** Others are unhealthy too, and were not asked: the counts are at least. */
  isPart: boolean
  /** They have been asked, and have not answered yet. */
  isAwaited: boolean
}

const NONE: Failing = { components: new Map(), complaint: null, isPart: false, isAwaited: false }

/** What the unhealthy ones of these instances complain of. */
export function useFailing(
  workloadId: string,
  instances: readonly Pick<LiveInstance, 'healthy' | 'settling' | 'instance_uid'>[],
): Failing {
  const unwell = instances.filter(isUnwell)
  const uids = unwell.slice(0, ASKED_MAX).map(({ instance_uid: uid }) => uid)
  const failing = useResource<Omit<Failing, 'isPart' | 'isAwaited'>>(
    uids.length === 0 ? null : `failing:${workloadId}:${uids.join()}`,
    async (abort) => {
      const details = await Promise.all(uids.map((uid) => api.instance(workloadId, uid, abort)))
      const trees = details.flatMap((detail): HealthNode[] =>
        detail.ok && detail.value.health ? [detail.value.health] : [],
      )
      const value = { components: countFailing(trees), complaint: findComplaint(trees) }
      return { ok: true, value, headers: new Headers() }
    },
    touchesWorkload(workloadId),
  )
  const isPart = unwell.length > uids.length
  return failing.data
    ? { ...failing.data, isPart, isAwaited: false }
    : { ...NONE, isAwaited: failing.isLoading }
}
