import { expect, it } from 'vitest'
import { StandStill } from '../../../../lib/fleet/state/stand-still.ts'
import { fakeClock } from '../../../support/fakes.ts'
import { manualTimers } from '../../../support/manual-timers.ts'

/** One that ticks each second, and each time stands still for so long. */
function ticking() {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  const standStill = new StandStill({ clock, timers }, 1_000)
  const pass = (ms: number) => {
    timers.advance(1_000 + ms)
    standStill.tick()
  }
  standStill.tick()
  return { clock, timers, standStill, pass }
}

/** Pass so many seconds, each with a tick in time. */
function beThere({ pass }: ReturnType<typeof ticking>, seconds: number): void {
  for (let second = 0; second < seconds; second++) pass(0)
}

/** Be deaf for so many ticks, a second each. */
function beDeaf({ timers, standStill }: ReturnType<typeof ticking>, seconds: number): void {
  for (let second = 0; second < seconds; second++) {
    timers.advance(1_000)
    standStill.tick(false)
  }
}

it('says so for two seconds after a tick that came too late, and after none that came a little late', () => {
  const { timers, standStill, pass } = ticking()
  pass(1_900)
  expect(standStill.isRecent).toBe(false)
  pass(10_000)
  expect(standStill.isRecent).toBe(true)
  timers.advance(2_000)
  expect(standStill.isRecent).toBe(false)
})

it('takes a clock that leaps between two ticks in time for no stand-still', () => {
  const { clock, standStill } = ticking()
  let timerMs = 0
  const timers = { after: () => () => undefined, nowMs: () => timerMs }
  const leaping = new StandStill({ clock, timers }, 1_000)
  leaping.tick()
  clock.advance(600_000)
  timerMs += 1_000
  leaping.tick()
  expect([leaping.isRecent, leaping.unheardMs(0)]).toEqual([false, 0])
  expect(standStill.isRecent).toBe(true)
})

it('counts as one time, however long it lasts, that it was deaf, and two seconds to hear what had come meanwhile', () => {
  const one = ticking()
  const startedMs = one.clock.monotonicMs()
  beDeaf(one, 300)
  beThere(one, 60)
  expect([0, 290_000, 310_000].map((ms) => one.standStill.unheardMs(startedMs + ms))).toEqual([
    301_000, 11_000, 0,
  ])
})

it('counts in the same way that it stood still', () => {
  const one = ticking()
  const startedMs = one.clock.monotonicMs()
  one.pass(299_000)
  beThere(one, 60)
  expect([0, 290_000, 310_000].map((ms) => one.standStill.unheardMs(startedMs + ms))).toEqual([
    301_000, 11_000, 0,
  ])
})

it('counts both where one follows upon the other', () => {
  const one = ticking()
  const startedMs = one.clock.monotonicMs()
  one.pass(9_000)
  beDeaf(one, 10)
  beThere(one, 60)
  expect(one.standStill.unheardMs(startedMs)).toBe(21_000)
})

it('remembers the last twenty times alone in which it heard nobody', () => {
  const one = ticking()
  const startedMs = one.clock.monotonicMs()
  for (let time = 0; time < 25; time++) {
    beDeaf(one, 1)
    beThere(one, 5)
  }
  expect(one.standStill.unheardMs(startedMs)).toBe(20 * 2_000)
})
