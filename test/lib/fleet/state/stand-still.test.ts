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

it('says so for two seconds after a tick that came too late, and after none that came a little late', () => {
  const { clock, standStill, pass } = ticking()
  pass(1_900)
  expect(standStill.isRecent).toBe(false)
  pass(10_000)
  expect(standStill.isRecent).toBe(true)
  clock.advance(2_000)
  expect(standStill.isRecent).toBe(false)
})

/** Be deaf for so many ticks, a second each. */
function beDeaf({ clock, standStill }: ReturnType<typeof ticking>, seconds: number): void {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1_000)
    standStill.tick(false)
  }
}

it('counts as one time, however long it lasts, that it was deaf, and two seconds to hear what had come meanwhile', () => {
  const one = ticking()
  const startedMs = one.clock.monotonicMs()
  beDeaf(one, 300)
  for (let second = 0; second < 60; second++) one.pass(0)
  expect([0, 290_000, 310_000].map((ms) => one.standStill.deafMs(startedMs + ms))).toEqual([
    301_000, 11_000, 0,
  ])
})

it('remembers the last twenty times alone that it was deaf', () => {
  const one = ticking()
  const startedMs = one.clock.monotonicMs()
  for (let time = 0; time < 25; time++) {
    beDeaf(one, 1)
    for (let second = 0; second < 5; second++) one.pass(0)
  }
  expect(one.standStill.deafMs(startedMs)).toBe(20 * 2_000)
})
