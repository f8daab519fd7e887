/**
 * What tells workloads of one name apart, of what identifies a workload: its namespace or its host; empty where neither is
 * known.
 */
export const placeOf = (fingerprintKeys: Readonly<Record<string, string>>): string =>
  fingerprintKeys['namespace'] ?? fingerprintKeys['host.name'] ?? ''
