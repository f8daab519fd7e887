import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'

/** Any stranger can begin sign-ins, so the log gets at most one line of each code in this time. */
const INTERVAL_MS = 10_000

/**
 * Logs why sign-ins fail: for each code the reason of the newest, and how many there were of it since its last line. A
 * stranger who is refused again and again does not hide why others are.
 */
export function failureLog(
  { log, clock }: { log: Log; clock: Clock },
  message: string,
): (code: string, err: unknown) => void {
  const said = new Map<string, { lastMs: number; unsaid: number }>()
  return (code, err) => {
    const nowMs = clock.monotonicMs()
    const { lastMs, unsaid } = said.get(code) ?? { lastMs: Number.NEGATIVE_INFINITY, unsaid: 0 }
    const isDue = nowMs - lastMs >= INTERVAL_MS
    if (isDue) log.warn({ err, code, count: unsaid + 1 }, message)
    said.set(code, isDue ? { lastMs: nowMs, unsaid: 0 } : { lastMs, unsaid: unsaid + 1 })
  }
}
