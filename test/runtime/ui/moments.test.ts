import { describe, expect, test } from 'vitest'
import { fromLocalField, hrefOfMoment, moveStretch, toLocalField } from '../../../runtime/ui/logic/moments.ts'

describe('a stretch of a chart', () => {
  test('begins at its end, moves, and grows to both sides within the chart', () => {
    const start = moveStretch(null, -1, false, 10)
    expect(start).toEqual({ first: 9, last: 9 })
    expect(moveStretch(start, 1, false, 10)).toEqual({ first: 9, last: 9 })
    const longer = moveStretch(moveStretch(start, -1, true, 10), -1, true, 10)
    expect(longer).toEqual({ first: 7, last: 9 })
    expect(moveStretch(longer, -1, false, 10)).toEqual({ first: 6, last: 6 })
    expect(moveStretch({ first: 0, last: 2 }, -1, true, 10)).toEqual({ first: 0, last: 2 })
    expect(moveStretch({ first: 0, last: 2 }, 1, true, 10)).toEqual({ first: 0, last: 3 })
  })

  test('leads to the changes from a quarter of an hour before, of one workload or of all', () => {
    const from = Date.UTC(2026, 6, 1, 12) / 1000
    expect(hrefOfMoment(from, from + 3600)).toBe('/changes?from=2026-07-01T11:45:00Z&to=2026-07-01T13:00:00Z')
    expect(hrefOfMoment(from, from + 3600, 'a1')).toContain('workload=a1&')
  })
})

describe('a field of local time', () => {
  test('goes to an instant and back, and takes nothing for nothing', () => {
    expect(toLocalField(fromLocalField('2026-07-01T12:30'))).toBe('2026-07-01T12:30')
    expect(fromLocalField('')).toBe('')
    expect(toLocalField('yesterday')).toBe('')
  })
})
