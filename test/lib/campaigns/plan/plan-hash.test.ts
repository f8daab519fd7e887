import { expect, it } from 'vitest'
import { hashPolicy } from '../../../../lib/campaigns/judge/parts.ts'
import { type BoundTarget, hashPlan } from '../../../../lib/campaigns/plan/plan-hash.ts'
import {
  type ApprovalClass,
  type ApprovalRule,
  DEFAULT_APPROVAL_POLICY,
} from '../../../../lib/model/approval-policy.ts'
import { configHash } from '../../../../lib/model/config-hash.ts'
import { sortedJson } from '../../../../lib/model/sorted-json.ts'

const TARGETS: readonly BoundTarget[] = ['a', 'b'].map((workloadId) => ({
  workloadId,
  verdict: 'changes' as const,
  baseHash: 'b',
  resultHash: 'r',
  isProduction: false,
  wave: 0,
}))
const RULES = {
  waves: [{}],
  limits: { failed: 1 },
  maxInFlight: 500,
  catchUpSeconds: 60,
  windows: [],
  retryQuarantined: false,
}
type Bound = Parameters<typeof hashPlan>[0]
const PLAN: Bound = {
  changeHash: 'c',
  rules: RULES,
  policyHash: 'p',
  approvalPolicy: DEFAULT_APPROVAL_POLICY,
  targets: TARGETS,
}
const POLICY = { otlpAllowlist: ['a'], criticalExporters: ['b'], requiredResourceAttributes: ['c'] }
const withApprovals = (of: ApprovalClass, more: Partial<ApprovalRule>): Bound => ({
  ...PLAN,
  approvalPolicy: {
    ...DEFAULT_APPROVAL_POLICY,
    [of]: { ...DEFAULT_APPROVAL_POLICY[of], ...more },
  },
})
const withRules = (more: Partial<Bound['rules']>): Bound => ({ ...PLAN, rules: { ...RULES, ...more } })
const withTarget = (more: Partial<BoundTarget>): Bound => ({
  ...PLAN,
  targets: [{ ...TARGETS[0]!, ...more }, TARGETS[1]!],
})

it('is the same in whatever order the targets come', async () => {
  expect(await hashPlan({ ...PLAN, targets: [...TARGETS].reverse() })).toBe(await hashPlan(PLAN))
})

it('is the same whether the targets are hashed in one piece or in many', async () => {
  const many = Array.from({ length: 600 }, (_, n) => ({ ...TARGETS[0]!, workloadId: `w${1_000 + n}` }))
  const rows = many.map(({ workloadId }) => [workloadId, 'changes', 'b', 'r', false, 0])
  const head = sortedJson(['muster-campaign-plan.v2', 'c', RULES, 'p', DEFAULT_APPROVAL_POLICY])
  expect(await hashPlan({ ...PLAN, targets: many })).toBe(
    configHash(`${head.slice(0, -1)},${JSON.stringify(rows)}]`),
  )
})

it('is the same in whatever order the fields of the rules come', async () => {
  const rules = Object.fromEntries(Object.entries(RULES).reverse()) as unknown as Bound['rules']
  expect(await hashPlan({ ...PLAN, rules })).toBe(await hashPlan(PLAN))
})

it('is another when the rules have a field that nobody knew before', async () => {
  const rules = { ...RULES, brandNew: true } as Bound['rules']
  expect(await hashPlan({ ...PLAN, rules })).not.toBe(await hashPlan(PLAN))
})

it.each([
  ...Object.keys(POLICY).map((key) => ({ ...POLICY, [key]: ['other'] })),
  { ...POLICY, brandNew: ['x'] },
])('has a config policy of its own for %j', (other) => {
  expect(hashPolicy(other)).not.toBe(hashPolicy(POLICY))
})

it('has the config policy of a plan that was approved before there were other settings', () => {
  expect(hashPolicy(POLICY)).toBe(configHash(JSON.stringify([['a'], ['b'], ['c']])))
})

it.each<[string, Bound]>([
  ['the change', { ...PLAN, changeHash: 'other' }],
  ['the config policy', { ...PLAN, policyHash: 'other' }],
  ['how many approve production', withApprovals('production', { approvals: 2 })],
  ['whether an author counts elsewhere', withApprovals('other', { authorCounts: false })],
  ['how long approvals hold where nobody said', withApprovals('unlabelled', { validHours: 1 })],
  ['the waves', withRules({ waves: [{ count: 1 }, {}] })],
  ['the limits', withRules({ limits: { failed: 2 } })],
  ['how many at a time', withRules({ maxInFlight: 1 })],
  ['how long to wait for those offline', withRules({ catchUpSeconds: 61 })],
  ['the windows', withRules({ windows: [{ from: '01:00', to: '02:00' }] })],
  ['whether quarantined ones are tried again', withRules({ retryQuarantined: true })],
  ['a target more', { ...PLAN, targets: [...TARGETS, { ...TARGETS[0]!, workloadId: 'c' }] }],
  ['a verdict', withTarget({ verdict: 'same' as BoundTarget['verdict'] })],
  ['a base', withTarget({ baseHash: 'moved' })],
  ['what a target without a base reports', withTarget({ reportedHash: 'reported' })],
  ['a result', withTarget({ resultHash: 'other' })],
  ['whether a target is production', withTarget({ isProduction: true })],
  ['the wave of a target', withTarget({ wave: 1 })],
])('is another when this changes: %s', async (_, changed) => {
  expect(await hashPlan(changed)).not.toBe(await hashPlan(PLAN))
})
