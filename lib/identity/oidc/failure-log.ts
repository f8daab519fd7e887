import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'

/** Any stranger can begin sign-ins, so the log gets at most one line in this time. */
const INTERVAL_MS = 10_000

/** Logs why sign-ins fail: the reason of the newest, and how many did since the last line. */
export function failureLog(
  { log, clock }: { log: Log; clock: Clock },
  message: string,
): (code: string, err: unknown) => void {
  let lastMs = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (code, err) => {
    const nowMs = clock.monotonicMs()
    unsaid++
    if (nowMs - lastMs < INTERVAL_MS) return
    log.warn({ err, code, count: unsaid }, message)
    lastMs = nowMs
    unsaid = 0
  }
}
