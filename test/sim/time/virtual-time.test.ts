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
