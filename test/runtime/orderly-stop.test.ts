import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { silentLog } from '../../lib/log.ts'
import { OrderlyStop } from '../../runtime/orderly-stop.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A stop whose work goes on until `finish` or `fail` is called. */
function openStop() {
  let finish = () => {}
  let fail = () => {}
  const work = new Promise<void>((resolve, reject) => {
    finish = resolve
    fail = () => reject(new Error('it hangs'))
  })
  const exits: number[] = []
  const stop = vi.fn(() => work)
  const end = new OrderlyStop({
    log: silentLog,
    stop,
    exit: (code) => void exits.push(code),
    budgetMs: 10_000,
  })
  return { end, stop, exits, finish, fail }
}

const settle = () => vi.advanceTimersByTimeAsync(0)

it('ends in order for a fault, whatever else cannot go on meanwhile', async () => {
  const { end, stop, exits, finish } = openStop()
  for (let n = 0; n < 3; n++) end.byFault('another process has the fleet')
  await settle()
  expect(exits).toEqual([])
  finish()
  await settle()
  expect(exits).toEqual([1])
  expect(stop).toHaveBeenCalledTimes(1)
})

it('a fault during the stop that a signal asked for changes nothing', async () => {
  const { end, exits, finish } = openStop()
  end.bySignal('SIGTERM')
  end.byFault('another process has the fleet')
  finish()
  await settle()
  expect(exits).toEqual([0])
})

it('a second signal ends it at once', () => {
  const { end, exits } = openStop()
  end.bySignal('SIGTERM')
  end.bySignal('SIGINT')
  expect(exits).toEqual([1])
})

it('a signal ends a stop by a fault at once', () => {
  const { end, exits } = openStop()
  end.byFault('another process has the fleet')
  end.bySignal('SIGTERM')
  expect(exits).toEqual([1])
})

it('a stop that fails, or takes longer than it may, ends it all the same', async () => {
  const one = openStop()
  one.end.bySignal('SIGTERM')
  one.fail()
  await settle()
  expect(one.exits).toEqual([0])
  const other = openStop()
  other.end.bySignal('SIGTERM')
  await vi.advanceTimersByTimeAsync(10_000)
  expect(other.exits).toEqual([1])
})
