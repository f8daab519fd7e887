/** What people call an instance: its pod, else the host that all of its workload are on, else its uid. */
export const callInstance = (
  podName: string | undefined,
  fingerprintKeys: Readonly<Record<string, string>> | undefined,
  uid: string,
): string => podName || fingerprintKeys?.['host.name'] || uid
