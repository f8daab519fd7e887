import { ENVIRONMENT_KEYS, findLabel } from './labels.ts'

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

/** Who names an environment: the request, a trusted label or what the agents report. `key` is that of a label. */
export interface Naming {
  by: 'request' | 'trusted' | 'agents'
  key: string
  value: string
}

/** What the agents of a workload report of its environment; null where they report nothing. */
export function namingOfAgents(labels: ProductionFacts['labels']): Naming | null {
  const label = findLabel(labels, ENVIRONMENT_KEYS)
  return label && { by: 'agents', ...label }
}

/** What names production; null where nothing does. One that does is enough; of several, that which lasts is told. */
export function findProduction(facts: ProductionFacts): Naming | null {
  const trusted = Object.entries(facts.trustedLabels).find(([, value]) => namesProduction(value))
  if (trusted !== undefined) return { by: 'trusted', key: trusted[0], value: trusted[1] }
  const reported = namingOfAgents(facts.labels)
  if (reported !== null && namesProduction(reported.value)) return reported
  const asked = [facts.targetEnv, facts.targetGroup].find(namesProduction)
  return asked === undefined ? null : { by: 'request', key: '', value: asked }
}

/**
 * Whether a push is one to production, for confirmations and policy alike. Asked when a request is made and again at
 * its push.
 */
export const isProduction = (facts: ProductionFacts): boolean => findProduction(facts) !== null

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
