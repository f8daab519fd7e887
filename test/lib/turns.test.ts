import fc from 'fast-check'
import { expect, it } from 'vitest'
import { inTurns, mapInTurns, sortInTurns } from '../../lib/turns.ts'

it('cuts a list into pieces, and lets others work between them', async () => {
  let others = 0
  setImmediate(() => others++)
  const seen: [number, number][] = []
  for await (const piece of inTurns([1, 2, 3, 4, 5], 2)) seen.push([piece.length, others])
  expect(seen.map(([length]) => length)).toEqual([2, 2, 1])
  expect(seen[0]![1]).toBe(0)
  expect(seen.at(-1)![1]).toBe(1)
})

it('maps in order, whatever the size of the pieces', async () => {
  expect(await mapInTurns(new Set([1, 2, 3]), 2, (n) => n * 2)).toEqual([2, 4, 6])
  expect(await mapInTurns([], 2, (n) => n)).toEqual([])
})

it('sorts as an array does, equal items in their order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer()), { maxLength: 60 }),
      fc.integer({ min: 1, max: 10 }),
      async (items, size) => {
        const compare = (a: [number, number], b: [number, number]) => a[0] - b[0]
        expect(await sortInTurns(items, size, compare)).toEqual([...items].sort(compare))
      },
    ),
  )
})
