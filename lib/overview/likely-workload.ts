import type { Workload } from '../fleet/state/model.ts'
import { eachInTurns, type Pace } from '../turns.ts'

/** Workloads of Kubernetes by `name.namespace`, as a service of theirs is mostly called within the cluster. */
export type ByService = ReadonlyMap<string, readonly Workload[]>

/** Workloads of Kubernetes by how a service of theirs is mostly called. */
export async function indexByService(workloads: Iterable<Workload>, pace: Pace): Promise<ByService> {
  const found = new Map<string, Workload[]>()
  await eachInTurns(workloads, pace, (workload) => {
    const { name, namespace } = workload.fingerprintKeys
    if (name === undefined || namespace === undefined) return
    const service = `${name}.${namespace}`
    const known = found.get(service)
    if (known) known.push(workload)
    else found.set(service, [workload])
  })
  return found
}

/** The name of a service within its cluster, as `name.namespace`, of an address that is one; else something that is none. */
const serviceOf = (address: string): string =>
  address.replace(/:\d+$/, '').replace(/\.svc(?:\.cluster\.local)?\.?$/, '')

/**
 * The workload that a destination likely is, by its name: the only one that is called so in the cluster that all who
 * send there are in. Null where none is, or it may be another.
 */
export function likelyWorkload(
  address: string,
  clusters: ReadonlySet<string>,
  byService: ByService,
): Workload | null {
  const named = byService.get(serviceOf(address)) ?? []
  const near = named.filter(({ fingerprintKeys: { cluster = '' } }) => clusters.has(cluster))
  return clusters.size === 1 && near.length === 1 ? near[0]! : null
}
