import type { Timers } from '../../lib/fleet/state/timers.ts'
import type { FakeClock } from './fakes.ts'

/** Timers that fire only when a test advances the clock through them. */
export interface ManualTimers extends Timers {
  /** Advance the clock by `ms` and run what falls due on the way, in order. */
  advance(ms: number): void
  /** Let the process stand still for `ms`: what falls due meanwhile runs late. A clock that is moved alone makes nothing late. */
  standStill(ms: number): void
}

/** Manual timers on a fake clock. */
export function manualTimers(clock: FakeClock): ManualTimers {
  let passedMs = 0
  const pass = (ms: number) => {
    passedMs += ms
    clock.advance(ms)
  }
  const waiting = new Map<object, { dueMs: number; work: () => void }>()
  return {
    after(delayMs, work) {
      const key = {}
      waiting.set(key, { dueMs: clock.monotonicMs() + delayMs, work })
      return () => void waiting.delete(key)
    },
    nowMs: () => passedMs,
    advance(ms) {
      const endMs = clock.monotonicMs() + ms
      for (;;) {
        const due = [...waiting].filter(([, { dueMs }]) => dueMs <= endMs)
        const next = due.sort(([, a], [, b]) => a.dueMs - b.dueMs)[0]
        if (next === undefined) break
        waiting.delete(next[0])
        pass(Math.max(0, next[1].dueMs - clock.monotonicMs()))
        next[1].work()
      }
      pass(Math.max(0, endMs - clock.monotonicMs()))
    },
    standStill: pass,
  }
}
