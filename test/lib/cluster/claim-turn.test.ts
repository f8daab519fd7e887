import { expect, it } from 'vitest'
import { claimWaitMs, type Suit } from '../../../lib/cluster/claim-turn.ts'

/** How long the process `self` waits among these, the last started first. */
function waitOf(...suits: [id: string, suit: Suit][]): number {
  const known = new Map(suits)
  return claimWaitMs(
    'self',
    suits.map(([id]) => ({ id })),
    (id) => known.get(id)!,
  )
}

it.each<[string, number, [string, Suit][]]>([
  ['is the only one, whatever it is', 0, [['self', 'poor']]],
  [
    'started last',
    0,
    [
      ['self', 'good'],
      ['a', 'good'],
    ],
  ],
  [
    'started before one that is as good',
    1_000,
    [
      ['a', 'good'],
      ['self', 'good'],
    ],
  ],
  [
    'started before those that leave it to others',
    0,
    [
      ['a', 'unknown'],
      ['b', 'poor'],
      ['self', 'good'],
    ],
  ],
  [
    'never had a link, as none has',
    0,
    [
      ['self', 'unknown'],
      ['a', 'unknown'],
    ],
  ],
  [
    'never had a link beside one that had',
    10_000,
    [
      ['self', 'unknown'],
      ['a', 'good'],
    ],
  ],
  [
    'never had a link beside one that was tried',
    0,
    [
      ['a', 'poor'],
      ['self', 'unknown'],
    ],
  ],
  [
    'was tried, as all were',
    1_000,
    [
      ['a', 'poor'],
      ['self', 'poor'],
    ],
  ],
  [
    'was tried beside one that was not',
    21_000,
    [
      ['a', 'poor'],
      ['self', 'poor'],
      ['b', 'unknown'],
    ],
  ],
])('a process that %s waits %i ms', (_, waitMs, suits) => {
  expect(waitOf(...suits)).toBe(waitMs)
})
