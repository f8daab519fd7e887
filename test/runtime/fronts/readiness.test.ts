import { expect, it } from 'vitest'
import { isReady } from '../../../runtime/fronts/readiness.ts'

it.each([
  ['lacks nothing', {}, true],
  ['lacks what another one has: a way to the owner', { hasWay: false }, false],
  ['lacks a way to the owner, as all do', { hasWay: false, hasBetter: false }, true],
  ['could not become the owner, as one of another build could', { hasFailed: true }, false],
  [
    'could not become the owner, as one of its own build could',
    { hasFailed: true, ownersVersion: '2' },
    true,
  ],
  [
    'could not become the owner, as nobody could',
    { hasFailed: true, ownersVersion: null, hasBetter: false },
    true,
  ],
  ['was never reached, and nobody else either', { wasReached: false, hasBetter: false }, false],
  ['never had a link, and nobody else either', { wasLinked: false, hasBetter: false }, false],
  ['was replaced as the owner', { wasReplaced: true, hasBetter: false }, false],
  ['alone has no database', { isBlind: true, hasBetter: false }, false],
  ['has another time than the database', { isInTime: false, hasBetter: false }, false],
])('a process that %s', (_, differs, expected) => {
  const facts = {
    wasReached: true,
    wasLinked: true,
    isInTime: true,
    wasReplaced: false,
    isBlind: false,
    hasWay: true,
    hasFailed: false,
    version: '2',
    ownersVersion: '1',
    hasBetter: true,
    ...differs,
  }
  expect(isReady(facts)).toBe(expected)
})
