import { expect, test } from 'vitest'
import { inPieces, keysBetween, tickedOf, withTicked } from '../../../runtime/ui/logic/selection.ts'

const ORDER = ['a', 'b', 'c', 'd', 'e']

test('a range goes both ways, and is one row where nothing was ticked before or that row has gone', () => {
  expect(keysBetween(ORDER, 'b', 'd')).toEqual(['b', 'c', 'd'])
  expect(keysBetween(ORDER, 'd', 'b')).toEqual(['b', 'c', 'd'])
  expect(keysBetween(ORDER, null, 'c')).toEqual(['c'])
  expect(keysBetween(ORDER, 'gone', 'c')).toEqual(['c'])
})

test('rows that are not shown stay ticked, and the heading says none, some or all of those that are', () => {
  const ticked = withTicked(new Set(['hidden']), ['a', 'b'], true)
  expect([...ticked]).toEqual(['hidden', 'a', 'b'])
  expect([['d'], ['a', 'd'], ['a', 'b']].map((keys) => tickedOf(ticked, keys))).toEqual([
    'none',
    'some',
    'all',
  ])
  expect([...withTicked(ticked, ORDER, false)]).toEqual(['hidden'])
  expect(tickedOf(ticked, [])).toBe('none')
})

test('a list is cut into pieces without losing any', () => {
  expect(inPieces(ORDER, 2)).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  expect(inPieces([], 2)).toEqual([])
})
