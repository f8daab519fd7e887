import { describe, expect, it } from 'vitest'
import type { CompatibilityRow } from '../../../lib/wire/version-intelligence.ts'
import { bucketAt, rangeOfBars, stackBars } from '../../../runtime/ui/logic/bars.ts'
import { sharesOf, verdictOf } from '../../../runtime/ui/logic/versions.ts'

const blockedBy = (...codes: string[]) => ({
  runnable: codes.length === 0,
  blocking_reasons: codes.map((code) => ({ code, message: '' })),
})

describe('the versions page', () => {
  it('does not say of a collector that reported nothing that it cannot', () => {
    expect(verdictOf(blockedBy())).toBe('can')
    expect(verdictOf(blockedBy('component_capabilities_unknown', 'unknown_version'))).toBe('unknown')
    expect(verdictOf(blockedBy('component_capabilities_unknown', 'known_issue'))).toBe('cannot')
  })

  it('counts collectors by version, the newest first', () => {
    const row = (reported: string, group: string) =>
      ({ version: { reported, status: 'at_recommended' }, group }) as CompatibilityRow
    const rows = [row('0.9.0', 'a'), row('0.149.0', 'b'), row('0.149.0', 'a'), row('0.149.0', 'a')]
    expect(sharesOf(rows)).toEqual([
      {
        version: '0.149.0',
        standing: 'at_recommended',
        count: 3,
        groups: [
          ['a', 2],
          ['b', 1],
        ],
      },
      { version: '0.9.0', standing: 'at_recommended', count: 1, groups: [['a', 1]] },
    ])
  })
})

describe('the bars of a chart', () => {
  const starts = [0, 3_600, 7_200]

  it('reach from the start of the first bucket to the end of the last', () => {
    expect(rangeOfBars(starts, 3_600)).toEqual([0, 10_800])
  })

  it('belong to the bucket that a moment lies in, not to the one whose start is nearest', () => {
    expect(bucketAt(starts, 3_600, 3_599)).toBe(0)
    expect(bucketAt(starts, 3_600, 10_799)).toBe(2)
    expect(bucketAt(starts, 3_600, 10_800)).toBeNull()
    expect(bucketAt(starts, 3_600, -1)).toBeNull()
  })

  it('stand on each other, the last at the bottom', () => {
    expect(
      stackBars([
        [1, 0, 2],
        [0, 3, 4],
      ]),
    ).toEqual([
      [1, 3, 6],
      [0, 3, 4],
    ])
  })
})
