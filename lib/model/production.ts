import { ENVIRONMENT_KEYS, firstLabel } from './labels.ts'

const PRODUCTION = /^prod(uction)?\d*$/
const NEGATIONS = new Set(['no', 'non', 'not', 'pre'])

/** Whether a name means production: `prod-eu`, `eu/production2`; but not `non-prod`, `preprod` or `product`. */
export function namesProduction(name: string): boolean {
  const tokens = name.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return tokens.some((token, index) => PRODUCTION.test(token) && !NEGATIONS.has(tokens[index - 1] ?? ''))
}

/** Everything that can make a push one to production. */
export interface ProductionFacts {
  targetEnv: string
  targetGroup: string
  trustedLabels: Readonly<Record<string, string>>
  /** As the agents report them. */
  labels: Readonly<Record<string, string>>
}

/**
 * Whether a push is one to production, for confirmations and policy alike. Asked when a request is made and again at
 * its push; one yes is enough.
 */
export function isProduction(facts: ProductionFacts): boolean {
  return [
    facts.targetEnv,
    facts.targetGroup,
    ...Object.values(facts.trustedLabels),
    firstLabel(facts.labels, ENVIRONMENT_KEYS),
  ].some(namesProduction)
}

/** Whether the labels of a workload alone make every push to it one to production. */
export const isProductionByLabels = (labels: Pick<ProductionFacts, 'labels' | 'trustedLabels'>): boolean =>
  isProduction({ ...labels, targetEnv: '', targetGroup: '' })

/**
 * Whether a workload counts as production: by its labels now, or by those that it had before a change of them that nobody
 * has accepted (`kept` are the ids of such workloads).
 */
export const countsAsProduction = (
  workload: Pick<ProductionFacts, 'labels' | 'trustedLabels'> & { id: string },
  kept: ReadonlySet<string>,
): boolean => kept.has(workload.id) || isProductionByLabels(workload)

/** What a plan that reaches production is refused with until that is confirmed: which field is missing. */
export const PRODUCTION_UNCONFIRMED = {
  field: 'prod_confirmation',
  error: 'this reaches production: it needs "prod_confirmation": true',
} as const
