import { expect, it } from 'vitest'
import type { Owner } from '../../../lib/cluster/membership.ts'
import { OwnerTurns } from '../../../runtime/fronts/owner-turns.ts'
import { fakeClock } from '../../support/fakes.ts'
import { manualTimers } from '../../support/manual-timers.ts'

const OWNER: Owner = { id: 'm', address: '127.0.0.1:1', linkVersion: 3, epoch: 1, since: null }

/** Turns with callers that ask until they are answered, or three seconds are over. */
function startTurns() {
  const clock = fakeClock(new Date().toISOString())
  const timers = manualTimers(clock)
  const world = { owner: OWNER as Owner | null, isReachable: true, asked: 0 }
  const turns = new OwnerTurns({ owner: () => world.owner, lookAgain() {}, clock, timers })
  const call = async (isGone = () => false): Promise<boolean> => {
    const untilMs = clock.monotonicMs() + 3_000
    for (;;) {
      const turn = await turns.next(untilMs, isGone)
      if (turn === null) return false
      world.asked++
      await Promise.resolve()
      turn.ended(world.isReachable)
      if (world.isReachable) return true
    }
  }
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      timers.advance(50)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { world, turns, call, pass }
}

it('lets one of a hundred try an owner that cannot be reached, and each time later', async () => {
  const { world, turns, call, pass } = startTurns()
  world.isReachable = false
  turns.lost(1)
  const calls = Array.from({ length: 100 }, () => call())
  await pass(3_100)
  expect(await Promise.all(calls)).toEqual(Array(100).fill(false))
  expect(world.asked).toBeLessThan(10)
  expect(world.asked).toBeGreaterThan(3)
})

it('lets all ask as soon as one has reached the owner', async () => {
  const { world, turns, call, pass } = startTurns()
  world.isReachable = false
  turns.lost(1)
  const calls = Array.from({ length: 100 }, () => call())
  await pass(500)
  world.isReachable = true
  await pass(1_100)
  expect(await Promise.all(calls)).toEqual(Array(100).fill(true))
})

it('lets all ask another owner at once, whatever the former one was', async () => {
  const { world, call, pass } = startTurns()
  world.isReachable = false
  const calls = Array.from({ length: 10 }, () => call())
  await pass(1_000)
  world.owner = { ...OWNER, epoch: 2 }
  world.isReachable = true
  await pass(100)
  expect(await Promise.all(calls)).toEqual(Array(10).fill(true))
})

it('gives none to those that are gone, nor lets one of them stand before the others', async () => {
  const { world, turns, call, pass } = startTurns()
  world.isReachable = false
  turns.lost(1)
  const first = call()
  const gone = call(() => true)
  const other = call()
  world.isReachable = true
  await pass(200)
  expect(await Promise.all([first, gone, other])).toEqual([true, false, true])
})

it('gives none without an owner, and one as soon as there is one', async () => {
  const { world, call, pass } = startTurns()
  world.owner = null
  const early = call()
  await pass(3_100)
  expect(await early).toBe(false)
  const late = call()
  await pass(1_000)
  world.owner = OWNER
  await pass(100)
  expect(await late).toBe(true)
})
