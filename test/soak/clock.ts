import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A wall clock for one process that runs faster than the real one. Its monotonic clock, and so its timers, run as
 * usual.
 */
export interface FastClock {
  /** Environment variables for the process. */
  env: Readonly<Record<string, string>>
  stop(): void
}

/**
 * How many real seconds a day of the process takes. A day is the shortest time for which a setting can keep something.
 */
export const DAY_SECONDS = 40
const STEP_MS = 1_000
const LIBRARIES = '/usr/lib'

/** Start a fast clock. Throws without Debian's package `faketime`. */
export function startFastClock(): FastClock {
  const library = (existsSync(LIBRARIES) ? readdirSync(LIBRARIES) : [])
    .map((name) => join(LIBRARIES, name, 'faketime', 'libfaketimeMT.so.1'))
    .find((path) => existsSync(path))
  if (library === undefined)
    throw new Error('The soak needs the package faketime, which makes the days short')
  const folder = mkdtempSync(join(tmpdir(), 'muster-soak-clock-'))
  const startedAt = performance.now()
  const move = () => {
    const days = (performance.now() - startedAt) / 1_000 / DAY_SECONDS
    writeFileSync(join(folder, 'offset'), `+${Math.round(days * 86_400)}s`)
  }
  move()
  const timer = setInterval(move, STEP_MS)
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: join(folder, 'offset'),
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    stop() {
      clearInterval(timer)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
