import { expect, it } from 'vitest'
import { VirtualTime } from './virtual-time.ts'

it('remembers the latest that the wall clock has shown since a time, also where it jumped back', () => {
  const time = new VirtualTime()
  time.step(10_000)
  const beganMs = time.nowMs
  time.step(20_000)
  const shown = time.clock.now()
  time.jumpWall(-300_000)
  time.step(30_000)
  expect(time.latestWallSince(beganMs)).toEqual(shown)
  expect(time.latestWallSince(time.nowMs)).toEqual(time.clock.now())
  time.jumpWall(600_000)
  expect(time.latestWallSince(beganMs)).toEqual(time.clock.now())
})

it('goes on between any two timers of a process, however little was left to wait', () => {
  const time = new VirtualTime()
  const timers = time.timersOf({ isDead: false, pausedUntilMs: 0 })
  time.step(51_795.73679936663)
  let rounds = 0
  const again = () => {
    rounds++
    // So little that no later time can be told from now.
    timers.after(1e-12, again)
  }
  again()
  const untilMs = time.nowMs + 100
  for (let steps = 0; steps < 1_000 && time.step(untilMs); steps++);
  expect([time.nowMs, rounds]).toEqual([untilMs, 101])
})
