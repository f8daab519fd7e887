import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eachInTurns, inTurns, mapInTurns, sortInTurns } from '../../lib/turns.ts'
import { countLoopTurns } from '../support/loop-turns.ts'

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

describe('a long list whose items take long', () => {
  const turnsOf = async (items: number, size: number, clock: { monotonicMs(): number }) => {
    const seen: number[] = []
    const turns = countLoopTurns()
    await eachInTurns(Array(items).keys(), { size, clock }, (item) => seen.push(item))
    const turned = turns.over()
    expect(seen).toEqual([...Array(items).keys()])
    return turned
  }

  it('is cut by the clock', async () => {
    let nowMs = 0
    const monotonicMs = () => {
      nowMs += 4
      return nowMs
    }
    expect(await turnsOf(20, 1_000, { monotonicMs })).toBeGreaterThanOrEqual(5)
  })

  it('is cut by its length where the clock stands still, as in the simulation', async () => {
    expect(await turnsOf(20, 5, { monotonicMs: () => 0 })).toBe(3)
    expect(await turnsOf(20, 1_000, { monotonicMs: () => 0 })).toBe(0)
  })
})
