import { expect, it } from 'vitest'
import { canReport, hasOutstandingOffer, isCapable } from '../../../../lib/fleet/decide/abilities.ts'
import type { Offer } from '../../../../lib/fleet/decide/offer.ts'
import { AGENT_CAPABILITIES } from '../../../../lib/opamp/report.ts'

const { acceptsRemoteConfig, reportsRemoteConfig, reportsStatus } = AGENT_CAPABILITIES

it('an instance is pushed to where it takes configs and nobody has excluded it', () => {
  expect(isCapable({ capabilities: reportsStatus | acceptsRemoteConfig, isExcluded: false })).toBe(true)
  expect(isCapable({ capabilities: reportsStatus | acceptsRemoteConfig, isExcluded: true })).toBe(false)
  expect(isCapable({ capabilities: reportsStatus | reportsRemoteConfig, isExcluded: false })).toBe(false)
})

it('an instance can take configs and never say what became of them', () => {
  expect(canReport({ capabilities: acceptsRemoteConfig })).toBe(false)
  expect(canReport({ capabilities: reportsRemoteConfig })).toBe(true)
})

it('an offer is outstanding from when it was sent until it has ended', () => {
  const offer = { lastSentAtMs: 1, ended: null } as Offer
  expect(hasOutstandingOffer({ offer: null })).toBe(false)
  expect(hasOutstandingOffer({ offer: { ...offer, lastSentAtMs: null } })).toBe(false)
  expect(hasOutstandingOffer({ offer })).toBe(true)
  expect(hasOutstandingOffer({ offer: { ...offer, ended: 'failed' } })).toBe(false)
})
