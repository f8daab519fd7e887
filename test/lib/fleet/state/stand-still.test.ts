import { expect, it } from 'vitest'
import { StandStill } from '../../../../lib/fleet/state/stand-still.ts'
import { fakeClock } from '../../../support/fakes.ts'

/** One that ticks each second, and each time stands still for so long. */
function ticking() {
  const clock = fakeClock()
  const standStill = new StandStill(clock, 1_000)
  const pass = (ms: number) => {
    clock.advance(1_000 + ms)
    standStill.tick()
  }
  standStill.tick()
  return { clock, standStill, pass }
}

it('counts for how long it stood still since then, and no tick that came a little late', () => {
  const { clock, standStill, pass } = ticking()
  const startedMs = clock.monotonicMs()
  pass(1_900)
  pass(10_000)
  const betweenMs = clock.monotonicMs()
  pass(0)
  pass(5_000)
  expect([startedMs, betweenMs, clock.monotonicMs()].map((sinceMs) => standStill.stoodMs(sinceMs))).toEqual([
    15_000, 5_000, 0,
  ])
})

it('counts no more than what lies after that time: a message may be heard before the tick that is late', () => {
  const { clock, standStill, pass } = ticking()
  pass(10_000)
  expect(standStill.stoodMs(clock.monotonicMs() - 300)).toBe(300)
})

it('remembers the last twenty times alone', () => {
  const { clock, standStill, pass } = ticking()
  const startedMs = clock.monotonicMs()
  for (let time = 0; time < 25; time++) pass(3_000)
  expect(standStill.stoodMs(startedMs)).toBe(60_000)
})

it('counts as one stall, however long it lasts, that it was deaf, and two seconds to hear what had come meanwhile', () => {
  const { clock, standStill, pass } = ticking()
  const startedMs = clock.monotonicMs()
  for (let second = 0; second < 300; second++) {
    clock.advance(1_000)
    standStill.tick(false)
  }
  for (let second = 0; second < 60; second++) pass(0)
  expect(standStill.stoodMs(startedMs)).toBe(301_000)
  expect(standStill.stoodMs(startedMs + 290_000)).toBe(11_000)
  expect(standStill.stoodMs(startedMs + 310_000)).toBe(0)
})
