import type { Log } from '../lib/log.ts'

/** Floods come in floods: the log gets at most one line in this time. */
const INTERVAL_MS = 10_000

/** Logs that sockets of a route were cut because they said more than may wait: how many since the last line. */
export function floodLog(log: Log, route: string): (address: string) => void {
  let lastMs = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (address) => {
    const nowMs = performance.now()
    unsaid += 1
    if (nowMs - lastMs < INTERVAL_MS) return
    log.warn({ route, address, count: unsaid }, 'cut sockets that said more than may wait')
    lastMs = nowMs
    unsaid = 0
  }
}
