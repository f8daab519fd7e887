import { beforeEach, describe, expect, it } from 'vitest'
import { HeardClock } from '../../../../lib/fleet/state/heard-clock.ts'
import { type FakeClock, fakeClock } from '../../../support/fakes.ts'
import { type ManualTimers, manualTimers } from '../../../support/manual-timers.ts'

let clock: FakeClock
let timers: ManualTimers
let heard: HeardClock
let startedMs: number
beforeEach(() => {
  clock = fakeClock()
  timers = manualTimers(clock)
  heard = new HeardClock({ clock, timers }, 1_000)
  heard.tick(true)
  startedMs = heard.heardMs()
})

/** Let so many seconds pass, with a tick at the end of each. */
function pass(seconds: number, hears = true): void {
  for (let second = 0; second < seconds; second++) {
    timers.advance(1_000)
    heard.tick(hears)
  }
}

function standStill(ms: number): void {
  timers.advance(ms)
  heard.tick(true)
}

const passedMs = () => heard.heardMs() - startedMs

describe('the time in which agents can be heard', () => {
  it('is that of the clock while they can', () => {
    pass(60)
    timers.advance(400)
    expect(passedMs()).toBe(60_400)
    expect(heard.now()).toEqual(clock.now())
  })

  it('goes on by one tick alone while the process stands still, before and after it notices', () => {
    pass(10)
    timers.advance(90_000)
    expect(passedMs()).toBe(11_000)
    heard.tick(true)
    expect([passedMs(), heard.stoodStill, heard.isUnheard]).toEqual([11_000, true, true])
    pass(10)
    expect([passedMs(), heard.stoodStill, heard.isUnheard]).toEqual([21_000, false, false])
  })

  it('stands still while the process is deaf, and for up to two seconds more, in which it hears what had waited', () => {
    pass(10)
    pass(300, false)
    expect([passedMs(), heard.stoodStill, heard.isUnheard]).toEqual([10_000, false, true])
    pass(1)
    expect(passedMs()).toBe(10_000)
    pass(10)
    expect([passedMs(), heard.isUnheard]).toEqual([20_000, false])
  })

  it('does not run backwards where it had gone on before it was known that nobody could be heard', () => {
    timers.advance(900)
    expect(passedMs()).toBe(900)
    timers.advance(100)
    heard.tick(false)
    expect(passedMs()).toBe(900)
    timers.advance(300)
    expect(passedMs()).toBe(900)
    pass(1)
    expect(passedMs()).toBe(1_300)
  })

  it('goes on where it is deaf at every other tick, as with a database that answers late', () => {
    for (let time = 0; time < 30; time++) {
      pass(1, false)
      pass(1)
    }
    expect(passedMs()).toBe(30_000)
  })

  it('goes on where every tick is late, so that everything ends', () => {
    for (let time = 0; time < 60; time++) standStill(5_000)
    expect(passedMs()).toBe(60_000)
  })

  it('leaps with a clock that leaps between two ticks in time, which is no stand-still', () => {
    let timerMs = 0
    const leaping = new HeardClock({ clock, timers: { ...timers, nowMs: () => timerMs } }, 1_000)
    leaping.tick(true)
    const fromMs = leaping.heardMs()
    clock.advance(600_000)
    timerMs += 1_000
    leaping.tick(true)
    expect([leaping.heardMs() - fromMs, leaping.isUnheard]).toEqual([600_000, false])
  })
})
