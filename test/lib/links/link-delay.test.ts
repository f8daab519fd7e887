import { describe, expect, it } from 'vitest'
import { LinkDelay } from '../../../lib/links/link-delay.ts'
import { fakeClock } from '../../support/fakes.ts'

/** Two ends of a link whose monotonic clocks differ by this much, and how long what they send takes. */
function openEnds(skewMs: number) {
  const clock = fakeClock()
  const here = new LinkDelay(clock)
  const there = new LinkDelay({
    ...clock,
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs() - skewMs,
  })
  return {
    clock,
    /** Send a batch to here, and say how long it was under way at most. */
    toHere(ms: number) {
      const batch = { atMs: clock.monotonicMs() - skewMs, quickestMs: there.quickestMs }
      clock.advance(ms)
      return here.of(batch)
    },
    toThere(ms: number) {
      const batch = { atMs: clock.monotonicMs(), quickestMs: here.quickestMs }
      clock.advance(ms)
      return there.of(batch)
    },
  }
}

describe('how long a batch was under way', () => {
  it.each([0, 5_000, -5_000])('is no less than it was, with clocks that are %i ms apart', (skewMs) => {
    const ends = openEnds(skewMs)
    ends.toHere(1_500)
    ends.toThere(40)
    // Every batch is slow: the quickest of one end would say nothing of that.
    for (const ms of [1_500, 1_600, 3_000]) expect(ends.toHere(ms)).toBe(ms + 40)
    expect(ends.toThere(40)).toBe(40 + 1_500)
  })

  it('is told by the quickest batch, where the other end does not say how quick this one is', () => {
    const ends = openEnds(700)
    expect(ends.toHere(100)).toBe(0)
    expect(ends.toHere(350)).toBe(250)
  })

  it('does not grow as the clocks drift apart', () => {
    const ends = openEnds(0)
    const drifting = new LinkDelay(ends.clock)
    let late = 0
    // A thousandth: the other clock is behind by eleven seconds after three hours.
    for (let second = 0; second < 10_800; second++) {
      ends.clock.advance(1_000)
      late = drifting.of({ atMs: ends.clock.monotonicMs() * 0.999 - 20 })
    }
    expect(late).toBeLessThan(200)
  })
})
