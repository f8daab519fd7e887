import type { Clock } from '../lib/clock.ts'
import { listenForFew } from './few-listener.ts'
import { type LoopWatch, watchLoop } from './loop-watch.ts'
import { text } from './reply.ts'

/** The metrics listener while it runs. */
export interface MetricsListener {
  port: number
  stop(): void
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Answer `GET /metrics` on an address of its own, which has no authentication. Throws when it cannot listen. */
export function startMetricsListener(
  address: string,
  clock: Clock,
  render: (loop: LoopWatch) => Promise<string>,
): MetricsListener {
  const loop = watchLoop(clock)
  const listener = listenForFew(address, async ({ method, path }) => {
    if (path !== '/metrics') return text('not found\n', 404)
    if (method !== 'GET' && method !== 'HEAD') return text('', 405, { Allow: 'GET, HEAD' })
    return {
      ...text(await render(loop)),
      headers: { 'Content-Type': CONTENT_TYPE },
    }
  })
  return {
    port: listener.port,
    stop() {
      loop.stop()
      listener.destroy()
    },
  }
}
