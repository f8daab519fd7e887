import { APPROVAL_CLASSES } from '../wire/values.ts'
import { ENVIRONMENT_KEYS, findLabel } from './labels.ts'
import { findProduction, type Naming, namingOfAgents, type ProductionFacts } from './production.ts'

/** Where a config is to run, as far as approvals go. */
export type ApprovalClass = (typeof APPROVAL_CLASSES)[number]

/** What the policy asks of a change before it counts as approved. */
export interface ApprovalRule {
  approvals: 1 | 2
  /** Whether whoever wrote or requested the text may be among those who approve it. */
  authorCounts: boolean
  /** How old an approval may be at the push, in hours; null for any age. */
  validHours: number | null
}

/** The rule for each class. */
export type ApprovalPolicy = Readonly<Record<ApprovalClass, ApprovalRule>>

const BY_ANYBODY: ApprovalRule = { approvals: 1, authorCounts: true, validHours: null }
const BY_SOMEBODY_ELSE: ApprovalRule = { approvals: 1, authorCounts: false, validHours: null }

/** The policy while none is stored. A workload that nobody labelled may be production, so as much is asked of it. */
export const DEFAULT_APPROVAL_POLICY: ApprovalPolicy = {
  production: BY_SOMEBODY_ELSE,
  other: BY_ANYBODY,
  unlabelled: BY_SOMEBODY_ELSE,
}

const BY_TWO_OTHERS: ApprovalRule = { approvals: 2, authorCounts: false, validHours: 1 }

/** What counts where the stored policy cannot be read: no policy asks more in any point. */
export const STRICTEST_APPROVAL_POLICY: ApprovalPolicy = {
  production: BY_TWO_OTHERS,
  other: BY_TWO_OTHERS,
  unlabelled: BY_TWO_OTHERS,
}

/** The longest time that an approval can be valid, in hours: a year. */
export const VALID_HOURS_MAX = 8_760

/** The class of a change and what makes it that; of an unlabelled one, what its agents report and nobody trusts. */
export interface ClassCause {
  approvalClass: ApprovalClass
  naming: Naming | null
}

/**
 * The class of a change, and why. What an agent or a requester says can make it production; only a trusted label makes
 * it `other`.
 */
export function findClass(facts: ProductionFacts): ClassCause {
  const production = findProduction(facts)
  if (production !== null) return { approvalClass: 'production', naming: production }
  const trusted = findLabel(facts.trustedLabels, ENVIRONMENT_KEYS)
  if (trusted !== null) return { approvalClass: 'other', naming: { by: 'trusted', ...trusted } }
  return { approvalClass: 'unlabelled', naming: namingOfAgents(facts.labels) }
}

/** The class of a change. */
export const approvalClassOf = (facts: ProductionFacts): ApprovalClass => findClass(facts).approvalClass

const shorter = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b)

/** The stricter of two rules, point by point. */
export function stricterRule(a: ApprovalRule, b: ApprovalRule): ApprovalRule {
  return {
    approvals: a.approvals === 2 || b.approvals === 2 ? 2 : 1,
    authorCounts: a.authorCounts && b.authorCounts,
    validHours: shorter(a.validHours, b.validHours),
  }
}

/**
 * The rule for a change of many workloads: the strictest of what the policy asks for `other` and `unlabelled` ones, and
 * for `production` where it reaches production.
 */
export const ruleForMany = (policy: ApprovalPolicy, reachesProduction: boolean): ApprovalRule =>
  strictest(policy, classesOfMany(reachesProduction))

/** The classes whose rules hold for a change of many workloads, the most telling one first. */
const classesOfMany = (reachesProduction: boolean): ApprovalClass[] => [
  ...(reachesProduction ? (['production'] as const) : []),
  'unlabelled',
  'other',
]

/** The strictest of the rules of some classes, at least one, point by point. */
const strictest = (policy: ApprovalPolicy, classes: readonly ApprovalClass[]): ApprovalRule =>
  classes.map((name) => policy[name]).reduce(stricterRule)

/** The classes that the rule for a change of many workloads comes from: none that asks no more than those before it. */
export function classesThatDecide(policy: ApprovalPolicy, reachesProduction: boolean): ApprovalClass[] {
  const deciding: ApprovalClass[] = []
  for (const name of classesOfMany(reachesProduction)) {
    const asked = deciding.length === 0 ? null : strictest(policy, deciding)
    if (asked === null || !isSameRule(stricterRule(asked, policy[name]), asked)) deciding.push(name)
  }
  return deciding
}

/** Whether a rule asks that somebody else than the author looks at a change. */
export const needsSecondPerson = ({
  approvals,
  authorCounts,
}: Pick<ApprovalRule, 'approvals' | 'authorCounts'>): boolean => !authorCounts || approvals > 1

/** Whether a rule asks less than another one in any point. */
export const isLooser = (from: ApprovalRule, to: ApprovalRule): boolean =>
  to.approvals < from.approvals ||
  (to.authorCounts && !from.authorCounts) ||
  (from.validHours !== null && (to.validHours === null || to.validHours > from.validHours))

/**
 * Whether labels that take a workload from one class to another lower the bar: it leaves production, whatever the
 * policy asks of it, or the policy asks less of its new class.
 */
export const lowersClass = (policy: ApprovalPolicy, from: ApprovalClass, to: ApprovalClass): boolean =>
  (from === 'production' && to !== 'production') || isLooser(policy[from], policy[to])

/** Whether two rules ask the same. */
export const isSameRule = (a: ApprovalRule, b: ApprovalRule): boolean => !isLooser(a, b) && !isLooser(b, a)

/** Whether a policy asks less than another one anywhere. */
export const lowersBar = (from: ApprovalPolicy, to: ApprovalPolicy): boolean =>
  APPROVAL_CLASSES.some((name) => isLooser(from[name], to[name]))

/** Whether two policies ask the same. */
export const isSamePolicy = (a: ApprovalPolicy, b: ApprovalPolicy): boolean =>
  !lowersBar(a, b) && !lowersBar(b, a)

/** A change of the policy that asks less and waits. */
export interface PendingPolicy {
  policy: ApprovalPolicy
  by: string
  byId: string
  /** By the database's clock. */
  at: Date
}

/** How long a policy that asks less, or labels by which less is asked, wait where no second person confirms them. */
export const LOWERING_WAIT_MS = 24 * 3_600_000

/** Whether a policy that asks less has waited long enough to count, by the clock that it was asked for by. */
export const hasWaited = (pending: PendingPolicy, now: Date): boolean =>
  now.getTime() - pending.at.getTime() >= LOWERING_WAIT_MS
