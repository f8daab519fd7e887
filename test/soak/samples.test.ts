import { describe, expect, it } from 'vitest'
import { judgeSamples, type Sample, toTable } from './samples.ts'

const MIB = 1_048_576
/** Make `count` samples, each from its number. */
const run = (count: number, make: (n: number) => Sample) => Array.from({ length: count }, (_, n) => make(n))
const grew = (samples: readonly Sample[]) =>
  judgeSamples(samples)
    .filter(({ isFlat }) => !isFlat)
    .map(({ name }) => name)

describe('a soak', () => {
  it('finds flat what comes and goes', () => {
    const samples = run(60, (n) => ({
      'kept instances': 60 + (n % 7),
      'rows workloads': 200 - (n % 11),
      'memory heap': (20 + (n % 10) * 4) * MIB,
      'memory resident and swapped': (150 + (n % 3)) * MIB,
      descriptors: 80 + (n % 2),
    }))
    expect(grew(samples)).toEqual([])
  })

  it.each([
    ['kept homes', 100, 5],
    ['rows alerts', 100, 5],
    ['bytes alerts', MIB, MIB / 10],
    ['memory heap', 20 * MIB, MIB / 2],
    ['memory resident and swapped', 150 * MIB, 2 * MIB],
    ['descriptors', 80, 1],
  ])('finds that %s grow', (name, from, by) => {
    expect(grew(run(60, (n) => ({ [name]: from + n * by })))).toEqual([name])
  })

  it('finds what appears only later, and what nothing says how much it may grow', () => {
    expect(grew(run(60, (n): Sample => (n < 30 ? {} : { 'kept leaks': 1_000 })))).toEqual(['kept leaks'])
    expect(() => judgeSamples([{ surprise: 1 }])).toThrow('surprise')
  })

  it('tells what grows by design without judging it, and what grew last', () => {
    // A vote stays as long as its request.
    const kept = (n: number) => ({ 'rows audit_events': n * 1_000, 'rows approval_votes': n * 1_000 })
    const samples = run(30, (n) => ({ ...kept(n), 'kept homes': n * 1_000 }))
    expect(grew(samples)).toEqual(['kept homes'])
    expect(toTable(judgeSamples(samples)).split('\n').at(-1)).toMatch(/^kept homes .* GREW$/)
  })
})
