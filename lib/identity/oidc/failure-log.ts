import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'

/** Any stranger can begin sign-ins, so the log gets at most one line of each kind in this time. */
const INTERVAL_MS = 10_000

/**
 * Logs why sign-ins fail: for each code, or each `kind` where one code has several, the reason of the newest, and how many
 * there were of it since its last line. A stranger who is refused again and again does not hide why others are. The kinds
 * are few: each is kept.
 */
export function failureLog(
  { log, clock }: { log: Log; clock: Clock },
  message: string,
): (code: string, err: unknown, kind?: string) => void {
  const said = new Map<string, { lastMs: number; unsaid: number }>()
  return (code, err, kind = code) => {
    const nowMs = clock.monotonicMs()
    const { lastMs, unsaid } = said.get(kind) ?? { lastMs: Number.NEGATIVE_INFINITY, unsaid: 0 }
    const isDue = nowMs - lastMs >= INTERVAL_MS
    if (isDue) log.warn({ err, code, count: unsaid + 1 }, message)
    said.set(kind, isDue ? { lastMs: nowMs, unsaid: 0 } : { lastMs, unsaid: unsaid + 1 })
  }
}
