import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareVersions, isBelowMinimum, isComparable } from '../../../lib/model/versions.ts'

/** Each is older than the next (semver.org, section 11, with numbers past 2^53). */
const ASCENDING = [
  '0.79.9',
  '0.80.0-alpha',
  '0.80.0-alpha.1',
  '0.80.0-alpha.beta',
  '0.80.0-beta',
  '0.80.0-beta.2',
  '0.80.0-beta.11',
  '0.80.0-rc.1',
  '0.80.0',
  '0.80.1',
  '0.100.0',
  '1.0.0-9007199254740992',
  '1.0.0-9007199254740993',
  '1.0.0-99999999999999999999999999',
  '1.0.0',
  '1.0.9007199254740992',
  '1.0.9007199254740993',
]

describe('compareVersions', () => {
  it('orders releases, pre-releases and numbers too large for a double', () => {
    for (const [i, a] of ASCENDING.entries()) {
      for (const [j, b] of ASCENDING.entries()) {
        expect(Math.sign(compareVersions(a, b)!), `${a} against ${b}`).toBe(Math.sign(i - j))
      }
    }
  })

  it('ignores spaces around, one leading v, build metadata, leading zeros and a bare trailing dash', () => {
    for (const same of [' 1.2.3 ', 'v1.2.3', '1.2.3+build.7', '1.2.3+a-b', '01.002.3', '1.2.3-']) {
      expect(compareVersions(same, '1.2.3'), same).toBe(0)
    }
  })

  it.each([
    '',
    '1.2',
    '1.2.3.4',
    'V1.2.3',
    'vv1.2.3',
    '1.2.x',
    '1..3',
    '-1.2.3',
    '1.2.3-a..b',
    '1.2.3-.',
    'latest',
    '18446744073709551616.0.0',
    '1.2.٣',
  ])('cannot compare %j', (text) => {
    expect(isComparable(text)).toBe(false)
    expect(compareVersions(text, '1.2.3')).toBeNull()
    expect(compareVersions('1.2.3', text)).toBeNull()
  })

  it('takes for no version what is longer than any that is shipped: agents choose theirs', () => {
    const long = (length: number) => `1.0.0-${'a.'.repeat(length)}`.slice(0, length - 1).concat('1')
    expect(compareVersions(long(128), '0.1.0')).toBe(1)
    expect(compareVersions(long(129), '0.1.0')).toBeNull()
  })

  it('is a total order on everything that can be compared', () => {
    const part = fc.oneof(fc.nat(3).map(String), fc.constantFrom('18446744073709551615', '9007199254740993'))
    const identifier = fc.constantFrom('0', '1', '10', 'a', 'b', 'rc', 'A-')
    const version = fc
      .tuple(part, part, part, fc.array(identifier, { maxLength: 3 }))
      .map(([a, b, c, pre]) => `${a}.${b}.${c}${pre.length > 0 ? `-${pre.join('.')}` : ''}`)
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        const ab = compareVersions(a, b)!
        expect(Math.sign(compareVersions(b, a)!) + Math.sign(ab)).toBe(0)
        if (ab <= 0 && compareVersions(b, c)! <= 0) expect(compareVersions(a, c)!).toBeLessThanOrEqual(0)
      }),
      { seed: 7, numRuns: 500 },
    )
  })
})

describe('the least version allowed', () => {
  it.each([
    ['0.99.0', '0.100.0', true],
    ['0.100.0', '0.100.0', false],
    ['v0.100.1', '0.100.0', false],
    // A pre-release is older than its release, both in the check before a push and in the alert.
    ['0.100.0-rc1', '0.100.0', true],
    ['0.100', '0.100.0', false],
    ['1', '0.100.0', false],
    ['abc', '0.100.0', true],
    ['', '0.100.0', true],
    ['0.99.0', 'abc', false],
  ])('%s is below %s: %s', (version, minimum, isBelow) => {
    expect(isBelowMinimum(version, minimum)).toBe(isBelow)
  })
})
