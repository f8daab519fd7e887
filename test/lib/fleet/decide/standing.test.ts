import { expect, it } from 'vitest'
import type { Offer, Reported } from '../../../../lib/fleet/decide/offer.ts'
import {
  isOfferedAnother,
  runsAnother,
  runsForGood,
  standingOf,
  standsTo,
} from '../../../../lib/fleet/decide/standing.ts'

const reports = (hash: string, status: 'none' | 'applied' | 'applying' | 'failed'): Reported => ({
  isKnown: true,
  hash,
  status,
  sinceMs: 0,
})

it.each([
  [{ isKnown: false } as const, 'unknown'],
  [reports('', 'none'), 'other'],
  [reports('b', 'applied'), 'other'],
  [reports('b', 'failed'), 'other'],
  [reports('a', 'applied'), 'agrees'],
  [reports('a', 'applying'), 'applying'],
  [reports('a', 'failed'), 'failed'],
])('what reports %j stands to config a as %s', (reported, expected) => {
  expect(standsTo({ reported }, 'a')).toBe(expected)
})

it('whatever an instance runs agrees with no config at all', () => {
  expect(standingOf(null, { kind: 'unknown' })).toBe('agrees')
  expect(standingOf(null, { kind: 'status', status: 'failed', hash: 'a' })).toBe('agrees')
})

const offer = { hash: 'b', lastSentAtMs: 5, lastSentOn: 1, ended: null } as Offer

it('an offer of another config may overtake what is said while it is out on this connection', () => {
  expect(isOfferedAnother({ offer, connectionId: 1 }, 'a')).toBe(true)
  expect(isOfferedAnother({ offer, connectionId: 2 }, 'a')).toBe(false)
  expect(isOfferedAnother({ offer, connectionId: 1 }, 'b')).toBe(false)
  expect(isOfferedAnother({ offer: { ...offer, ended: 'applied' }, connectionId: 1 }, 'a')).toBe(false)
  expect(isOfferedAnother({ offer: null, connectionId: 1 }, 'a')).toBe(false)
})

it('an instance runs a config for good when nothing that is under way may replace it', () => {
  const instance = {
    reported: reports('a', 'applied'),
    offer: null,
    unansweredOtherHash: null,
    connectionId: 1,
  }
  expect(runsForGood(instance, 'a')).toBe(true)
  expect(runsForGood({ ...instance, offer }, 'a')).toBe(false)
  expect(runsForGood({ ...instance, unansweredOtherHash: 'b' }, 'a')).toBe(false)
  expect(runsForGood({ ...instance, reported: reports('a', 'applying') }, 'a')).toBe(false)
})

it('an instance runs another config only when it has applied that', () => {
  expect(runsAnother({ reported: reports('b', 'applied') }, 'a')).toBe(true)
  expect(runsAnother({ reported: reports('b', 'applying') }, 'a')).toBe(false)
  expect(runsAnother({ reported: reports('a', 'applied') }, 'a')).toBe(false)
  expect(runsAnother({ reported: { isKnown: false } }, 'a')).toBe(false)
})
