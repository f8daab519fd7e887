import { expect, test } from 'vitest'
import { toTime } from '../../../lib/reports/section-items.ts'

const DAY_MS = 86_400_000

test('a time of a pack is written as Date writes it, whatever came before', () => {
  const around = [0, DAY_MS, Date.UTC(2024, 1, 29), Date.UTC(2026, 11, 31), Date.UTC(10_000, 0, 1), -DAY_MS]
  const times = around.flatMap((ms) => [ms - 1, ms, ms + 1, ms + 45_296_789, ms + DAY_MS - 1])
  expect(times.map(toTime)).toEqual(times.map((ms) => new Date(ms).toISOString()))
})

test('a time that is none is refused', () => {
  expect(() => toTime(Number.NaN)).toThrow('Invalid time value')
})
