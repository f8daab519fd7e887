import { expect, it } from 'vitest'
import { StandStill } from '../../../../lib/fleet/state/stand-still.ts'
import { fakeClock } from '../../../support/fakes.ts'
import { manualTimers } from '../../../support/manual-timers.ts'

it('says so for two seconds after a tick that came too late, and after none that came a little late', () => {
  const clock = fakeClock()
  const timers = manualTimers(clock)
  const standStill = new StandStill({ clock, timers }, 1_000)
  const pass = (ms: number) => {
    timers.advance(1_000 + ms)
    standStill.tick()
  }
  pass(0)
  pass(1_900)
  expect(standStill.isRecent).toBe(false)
  pass(10_000)
  expect(standStill.isRecent).toBe(true)
  timers.advance(2_000)
  expect(standStill.isRecent).toBe(false)
})
