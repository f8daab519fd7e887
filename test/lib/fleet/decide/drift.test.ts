import { expect, it } from 'vitest'
import { isDrifted, isHeldToConfig } from '../../../../lib/fleet/decide/drift.ts'
import type { Reported } from '../../../../lib/fleet/decide/offer.ts'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'

const { acceptsRemoteConfig, reportsRemoteConfig } = AGENT_CAPABILITIES
const reports = (hash: string, status: 'none' | 'applied' | 'applying' | 'failed'): Reported => ({
  isKnown: true,
  hash,
  status,
  sinceMs: 0,
})
const held = {
  connection: {} as object | null,
  isDescribed: true,
  reported: reports('other', 'applied'),
  capabilities: acceptsRemoteConfig | reportsRemoteConfig,
  isExcluded: false,
}
const assigned = { push: { hash: 'wanted' } }
const fits = () => true

it('an instance is held to its config where it is there, takes one, says so and is compatible', () => {
  expect(isHeldToConfig(held, assigned, fits)).toBe(true)
  expect(isHeldToConfig({ ...held, connection: null }, assigned, fits)).toBe(false)
  expect(isHeldToConfig({ ...held, isExcluded: true }, assigned, fits)).toBe(false)
  expect(isHeldToConfig({ ...held, capabilities: acceptsRemoteConfig }, assigned, fits)).toBe(false)
  expect(isHeldToConfig(held, assigned, () => false)).toBe(false)
  // Without a config nothing is incompatible.
  expect(isHeldToConfig(held, null, () => false)).toBe(true)
})

it.each([
  ['another config', reports('other', 'applied'), true],
  ['no config', reports('', 'none'), true],
  ['the config, which failed', reports('wanted', 'failed'), true],
  ['the config, which it is applying', reports('wanted', 'applying'), true],
  ['the config', reports('wanted', 'applied'), false],
  ['nothing yet', { isKnown: false } as const, false],
])('an instance that reports %s', (_, reported, expected) => {
  expect(isDrifted({ ...held, reported }, assigned, fits)).toBe(expected)
  expect(isDrifted({ ...held, reported }, null, fits)).toBe(false)
  expect(isDrifted({ ...held, reported, connection: null }, assigned, fits)).toBe(false)
})
