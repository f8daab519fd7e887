import type { Clock, FleetClock } from '../../lib/clock.ts'
import type { Random } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'

/** A clock that stands still until a test moves it; wall clock and monotonic time go together. */
export interface FakeClock extends Clock {
  advance(ms: number): void
  /** Move only the wall clock, as an administrator or NTP would. */
  set(now: Date): void
}

/** The time that a fake clock shows at first. */
export const FAKE_START = '2026-07-01T08:00:00.000Z'

/** Make a clock that shows `start`. */
export function fakeClock(start: string = FAKE_START): FakeClock {
  let wallMs = Date.parse(start)
  let monotonicMs = 1_000
  return {
    now: () => new Date(wallMs),
    monotonicMs: () => monotonicMs,
    advance(ms) {
      wallMs += ms
      monotonicMs += ms
    },
    set(now) {
      wallMs = now.getTime()
    },
  }
}

/** The fleet's clock where agents can be heard all the time. */
export const hearing = (machine: Clock): FleetClock => ({
  now: machine.now,
  heardMs: machine.monotonicMs,
  machine,
})

/** Bytes that are the same on each run (splitmix32; not for secrets). */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) & 0xff
  }
  return { bytes: (count) => Uint8Array.from({ length: count }, next) }
}

/** A log that remembers its lines. */
export interface RecordingLog extends Log {
  lines: { level: string; fields: object; message: string }[]
}

/** Make a log without lines. */
export function recordingLog(): RecordingLog {
  const lines: RecordingLog['lines'] = []
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields, message })
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
