type Keys = Readonly<Record<string, string>>

/** The namespace or the host of a workload, of what identifies it; empty where neither is known. */
export const namespaceOrHostOf = (fingerprintKeys: Keys): string =>
  fingerprintKeys['namespace'] ?? fingerprintKeys['host.name'] ?? ''

/**
 * What tells workloads of one name apart, of what identifies a workload: its namespace with the cluster that it is in, since
 * many clusters have the same namespaces, or its host; empty where neither is known.
 */
export function placeOf(fingerprintKeys: Keys): string {
  const { namespace, cluster = '' } = fingerprintKeys
  return namespace !== undefined && cluster !== ''
    ? `${cluster}/${namespace}`
    : namespaceOrHostOf(fingerprintKeys)
}

/** The place as a field of a record; none where nothing says where the workload runs. */
export const placeFieldOf = (fingerprintKeys: Readonly<Record<string, string>>): { place?: string } => {
  const place = placeOf(fingerprintKeys)
  return place === '' ? {} : { place }
}
