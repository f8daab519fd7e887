import { describe, expect, it, test } from 'vitest'
import { isProduction, namesProduction } from '../../../lib/model/production.ts'

describe('names', () => {
  test.each(['prod', 'PRODUCTION', 'eu-prod-2', 'prod2', 'collectors/production'])(
    '%s is production',
    (name) => {
      expect(namesProduction(name)).toBe(true)
    },
  )
  test.each([
    'non-prod',
    'not_production',
    'pre-prod',
    'preprod',
    'product-team',
    'no prod',
    'préprod',
    '',
    'prodigy',
  ])('%s is not', (name) => {
    expect(namesProduction(name)).toBe(false)
  })
})

describe('the verdict', () => {
  const facts = { targetEnv: '', targetGroup: '', trustedLabels: {}, labels: {} }

  test.each([
    ['the target environment', { ...facts, targetEnv: 'prod' }],
    ['the target group', { ...facts, targetGroup: 'prod-eu' }],
    ['a trusted label', { ...facts, trustedLabels: { tier: 'production' } }],
    ["the workload's environment label", { ...facts, labels: { 'deployment.environment': 'prod' } }],
  ])('counts %s', (_, given) => {
    expect(isProduction(given)).toBe(true)
  })

  it("does not count the agents' other labels", () => {
    expect(isProduction({ ...facts, labels: { app: 'prod' } })).toBe(false)
  })
})
