const PRODUCTION = /^prod(uction)?\d*$/
const NEGATIONS = new Set(['no', 'non', 'not', 'pre'])

/** Labels in which a workload says where it runs; the first that is set counts. */
const ENVIRONMENT_LABELS = [
  'env',
  'environment',
  'deployment.environment',
  'deployment.environment.name',
] as const

/** Whether a name means production: `prod-eu`, `eu/production2`; but not `non-prod`, `preprod` or `product`. */
export function namesProduction(name: string): boolean {
  const tokens = name.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return tokens.some((token, index) => PRODUCTION.test(token) && !NEGATIONS.has(tokens[index - 1] ?? ''))
}

/** The environment that a workload's own labels name; empty when they name none. */
export function environmentLabel(labels: Readonly<Record<string, string>>): string {
  for (const key of ENVIRONMENT_LABELS) {
    const value = Object.hasOwn(labels, key) ? labels[key]!.trim() : ''
    if (value !== '') return value
  }
  return ''
}

/** Everything that can make a push one to production. */
export interface ProductionFacts {
  targetEnv: string
  targetGroup: string
  trustedLabels: Readonly<Record<string, string>>
  /** As the agents report them. */
  labels: Readonly<Record<string, string>>
}

/** The one verdict for confirmations and policy. It is taken again at push, and the stricter moment counts. */
export function isProduction(facts: ProductionFacts): boolean {
  return [
    facts.targetEnv,
    facts.targetGroup,
    ...Object.values(facts.trustedLabels),
    environmentLabel(facts.labels),
  ].some(namesProduction)
}
