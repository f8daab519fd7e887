import { describe, expect, it } from 'vitest'
import { readTime } from '../../../lib/model/times.ts'

describe('a time that somebody sent', () => {
  it.each([
    ['2027-01-31T00:00:00Z', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31t00:00:00z', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T02:00:00+02:00', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T00:00Z', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T00:00:00.123987654Z', '2027-01-31T00:00:00.123Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['2000-02-29T23:59:59Z', '2000-02-29T23:59:59.000Z'],
  ])('%s is one', (text, iso) => {
    expect(readTime(text)?.toISOString()).toBe(iso)
  })

  it.each([
    ...['', 'soon', '12', '2027-01-31', ' 2027-01-31T00:00:00Z'],
    // Without a zone the meaning would depend on the server's.
    ...['2027-01-31T00:00', '2027-01-31T00:00:00', '2027-01-31T00:00:00.5'],
    // Days, hours and zones that do not exist.
    ...['2027-02-29T00:00:00Z', '2100-02-29T00:00:00Z', '2027-09-31T00:00:00Z', '2027-01-00T00:00:00Z'],
    ...['2027-13-01T00:00:00Z', '2027-01-31T24:00:00Z', '2027-01-31T00:60:00Z', '2027-01-31T00:00:60Z'],
    ...['2027-01-31T00:00:00+24:00', '2027-01-31T00:00:00+0200'],
    // In UTC before the first year, or after the last that four digits can say.
    ...['0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'],
  ])('%j is none', (text) => {
    expect(readTime(text)).toBeNull()
  })
})
