import { describe, expect, it, test } from 'vitest'
import { systemClock } from '../../../lib/clock.ts'
import { tallyRecords } from '../../../lib/fleet/views/tally.ts'
import { parseSearch } from '../../../lib/model/workload-search.ts'
import { sharesOf, verdictOf } from '../../../lib/posture/version-overview.ts'
import type { CompatibilityRow } from '../../../lib/wire/version-intelligence.ts'
import type { WorkloadRecord } from '../../../lib/wire/workloads.ts'
import { describeVersions } from '../../../runtime/ui/i18n/fleet.ts'
import { bucketAt, rangeOfBars, stackBars } from '../../../runtime/ui/logic/bars.ts'
import { matchesSearch } from '../../../runtime/ui/logic/search.ts'

import { groupValueOf } from '../../../runtime/ui/logic/workloads.ts'

const blockedBy = (...codes: string[]) => ({
  runnable: codes.length === 0,
  blocking_reasons: codes.map((code) => ({ code, message: '' })),
  config: { hash: 'ab', source: 'active_or_applied' as const },
})

describe('the versions page', () => {
  it('does not say of a collector that reported nothing that it cannot', () => {
    expect(verdictOf(blockedBy())).toBe('can')
    // Nor that it can run its config where it has none.
    expect(verdictOf({ ...blockedBy(), config: { source: 'none' } })).toBe('unassigned')
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
        mixed_count: 0,
        group_count: 2,
        groups: [
          { group: 'a', count: 2 },
          { group: 'b', count: 1 },
        ],
      },
      {
        version: '0.9.0',
        standing: 'at_recommended',
        count: 1,
        mixed_count: 0,
        group_count: 1,
        groups: [{ group: 'a', count: 1 }],
      },
    ])
  })
})

test('a workload whose instances differ counts with each of its versions, and is found, grouped and named by them', async () => {
  const mix = {
    count: 2,
    lowest: [
      { version: '0.98.0', instance_count: 1, status: 'below_recommended' as const },
      { version: '0.150.0', instance_count: 2, status: 'above_recommended' as const },
    ],
  }
  const mixed = { id: 'm', type: 'collector', version: '0.98.0', version_mix: mix, version_outdated: true }
  const plain = { id: 'p', type: 'collector', version: '0.150.0', version_outdated: false }
  const fleet = [mixed, plain] as WorkloadRecord[]
  const rows = [
    { version: { reported: '0.98.0', status: 'below_recommended', mix }, group: 'g' },
    { version: { reported: '0.150.0', status: 'above_recommended' }, group: 'g' },
  ] as CompatibilityRow[]
  const counted = (await tallyRecords(fleet, systemClock)).versions.first
  expect(counted).toEqual([
    { version: '0.150.0', count: 2, mixed_count: 1, is_outdated: false },
    { version: '0.98.0', count: 1, mixed_count: 1, is_outdated: true },
  ])
  // The page about versions, the overview and the search that both lead to agree.
  expect(
    sharesOf(rows).map(({ version, count, mixed_count, standing }) => [
      version,
      count,
      mixed_count,
      standing,
    ]),
  ).toEqual([
    ['0.150.0', 2, 1, 'above_recommended'],
    ['0.98.0', 1, 1, 'below_recommended'],
  ])
  for (const { version, count } of counted) {
    const terms = parseSearch(`version:${version}`)
    expect(fleet.filter((one) => matchesSearch(one, terms))).toHaveLength(count)
  }
  expect(fleet.map((one) => groupValueOf(one, 'version'))).toEqual(['0.98.0, 0.150.0', '0.150.0'])
  expect(describeVersions('0.98.0', mix)).toBe('mixed: 0.98.0 on 1, 0.150.0 on 2')
  expect(describeVersions('0.98.0', { ...mix, count: 14 })).toBe(
    'mixed: 0.98.0 on 1, 0.150.0 on 2 and 12 more',
  )
  expect(describeVersions('0.150.0', undefined)).toBe('0.150.0')
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

  it('show a small count too, at the cost of the largest one, and never one that is 0', () => {
    const [well, down] = stackBars(
      [
        [3_999, 4_000, 1],
        [1, 0, 0],
      ],
      0.05,
    )
    expect(down).toEqual([200, 0, 0])
    expect(well).toEqual([4_000, 4_000, 1])
  })

  it('never show one of few as half of them, however many there were later', () => {
    const [well, down] = stackBars(
      [
        [45, 1_538],
        [1, 9],
      ],
      0.04,
    )
    expect(well![0]).toBe(46)
    expect(down![0]).toBeCloseTo(4.6)
    expect(down![1]).toBeLessThan(0.05 * well![1]!)
  })
})
