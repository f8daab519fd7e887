/** Labels set by operators are shown under this prefix. No agent can set them. */
export const TRUSTED_PREFIX = 'muster/'

/** The labels that name the environment of a workload; the first that is set counts. */
export const ENVIRONMENT_KEYS = [
  'env',
  'environment',
  'deployment.environment',
  'deployment.environment.name',
] as const
/** The labels that name the cluster of a workload; the first that is set counts. */
export const CLUSTER_KEYS = ['k8s.cluster.name', 'cluster'] as const

type Labels = Readonly<Record<string, string>>

/** The first of these labels that is set; null when none is. */
export function findLabel(labels: Labels, keys: readonly string[]): { key: string; value: string } | null {
  for (const key of keys) {
    const value = Object.hasOwn(labels, key) ? labels[key]!.trim() : ''
    if (value !== '') return { key, value }
  }
  return null
}

/** Its value; empty when none is. */
export const firstLabel = (labels: Labels, keys: readonly string[]): string =>
  findLabel(labels, keys)?.value ?? ''

/** The trusted labels among labels as they are shown, without the prefix. */
export function trustedAmong(shown: Labels): Record<string, string> {
  const trusted = Object.entries(shown).filter(([key]) => key.startsWith(TRUSTED_PREFIX))
  return Object.fromEntries(trusted.map(([key, value]) => [key.slice(TRUSTED_PREFIX.length), value]))
}

/** The environment that operators set, else the one that agents report; empty when there is none. */
export const environmentOf = (trusted: Labels, own: Labels): string =>
  firstLabel(trusted, ENVIRONMENT_KEYS) || firstLabel(own, ENVIRONMENT_KEYS)

/** The cluster that operators set, else the one that agents report; empty when there is none. */
export const clusterOf = (trusted: Labels, own: Labels): string =>
  firstLabel(trusted, CLUSTER_KEYS) || firstLabel(own, CLUSTER_KEYS)
