/** Labels set by operators are shown under this prefix. No agent can set them. */
export const TRUSTED_PREFIX = 'muster/'

/** Labels in which a workload says where it runs, or was told to; the first that is set counts. */
export const ENVIRONMENT_KEYS = [
  'env',
  'environment',
  'deployment.environment',
  'deployment.environment.name',
] as const
export const CLUSTER_KEYS = ['k8s.cluster.name', 'cluster'] as const

type Labels = Readonly<Record<string, string>>

/** The first of these labels that is set; empty when none is. */
export function firstLabel(labels: Labels, keys: readonly string[]): string {
  for (const key of keys) {
    const value = Object.hasOwn(labels, key) ? labels[key]!.trim() : ''
    if (value !== '') return value
  }
  return ''
}

/** What operators set among labels as they are shown: without the prefix. */
export function trustedAmong(shown: Labels): Record<string, string> {
  const trusted = Object.entries(shown).filter(([key]) => key.startsWith(TRUSTED_PREFIX))
  return Object.fromEntries(trusted.map(([key, value]) => [key.slice(TRUSTED_PREFIX.length), value]))
}

/** The environment that operators set, else the one that the agents name; empty when nobody says. */
export const environmentOf = (trusted: Labels, own: Labels): string =>
  firstLabel(trusted, ENVIRONMENT_KEYS) || firstLabel(own, ENVIRONMENT_KEYS)

/** The cluster, in the same way. */
export const clusterOf = (trusted: Labels, own: Labels): string =>
  firstLabel(trusted, CLUSTER_KEYS) || firstLabel(own, CLUSTER_KEYS)
