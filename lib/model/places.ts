/**
 * What tells workloads of one name apart, of what identifies a workload: its namespace or its host; empty where neither is
 * known.
 */
export const placeOf = (fingerprintKeys: Readonly<Record<string, string>>): string =>
  fingerprintKeys['namespace'] ?? fingerprintKeys['host.name'] ?? ''

/** The place as a field of a record; none where nothing says where the workload runs. */
export const placeFieldOf = (fingerprintKeys: Readonly<Record<string, string>>): { place?: string } => {
  const place = placeOf(fingerprintKeys)
  return place === '' ? {} : { place }
}
