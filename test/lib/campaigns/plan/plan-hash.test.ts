import { expect, it } from 'vitest'
import { type BoundTarget, hashPlan } from '../../../../lib/campaigns/plan/plan-hash.ts'
import { configHash } from '../../../../lib/model/config-hash.ts'

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
const PLAN: Bound = { changeHash: 'c', rules: RULES, policyHash: 'p', targets: TARGETS }
const withRules = (more: Partial<Bound['rules']>): Bound => ({ ...PLAN, rules: { ...RULES, ...more } })
const withTarget = (more: Partial<BoundTarget>): Bound => ({
  ...PLAN,
  targets: [{ ...TARGETS[0]!, ...more }, TARGETS[1]!],
})

it('is the same in whatever order the targets come', async () => {
  expect(await hashPlan({ ...PLAN, targets: [...TARGETS].reverse() })).toBe(await hashPlan(PLAN))
})

it('is the same as when plans were hashed in one piece: approvals of that time hold', async () => {
  const many = Array.from({ length: 600 }, (_, n) => ({ ...TARGETS[0]!, workloadId: `w${1_000 + n}` }))
  const rows = many.map(({ workloadId }) => [workloadId, 'changes', 'b', 'r', false, 0])
  const rules = [[{}], { failed: 1 }, 500, 60, [], false]
  const whole = JSON.stringify(['muster-campaign-plan.v1', 'c', ...rules, 'p', rows])
  expect(await hashPlan({ ...PLAN, targets: many })).toBe(configHash(whole))
})

it.each<[string, Bound]>([
  ['the change', { ...PLAN, changeHash: 'other' }],
  ['the config policy', { ...PLAN, policyHash: 'other' }],
  ['the waves', withRules({ waves: [{ count: 1 }, {}] })],
  ['the limits', withRules({ limits: { failed: 2 } })],
  ['how many at a time', withRules({ maxInFlight: 1 })],
  ['how long to wait for those offline', withRules({ catchUpSeconds: 61 })],
  ['the windows', withRules({ windows: [{ from: '01:00', to: '02:00' }] })],
  ['whether quarantined ones are tried again', withRules({ retryQuarantined: true })],
  ['a target more', { ...PLAN, targets: [...TARGETS, { ...TARGETS[0]!, workloadId: 'c' }] }],
  ['a verdict', withTarget({ verdict: 'same' as BoundTarget['verdict'] })],
  ['a base', withTarget({ baseHash: 'moved' })],
  ['a result', withTarget({ resultHash: 'other' })],
  ['whether a target is production', withTarget({ isProduction: true })],
  ['the wave of a target', withTarget({ wave: 1 })],
])('is another when this changes: %s', async (_, changed) => {
  expect(await hashPlan(changed)).not.toBe(await hashPlan(PLAN))
})
