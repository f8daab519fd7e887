import { setMaxListeners } from 'node:events'
import type { Context } from './context.ts'
import type { ScheduleFunction } from './define.ts'
import type { Loaded } from './loader.ts'

/** More listeners than one schedule has on the signal at a time. */
const LISTENERS_EACH = 4

/** Running schedules. */
export interface Scheduler {
  /** Signal every run to stop and wait until all have. */
  stop(): Promise<void>
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}

async function runAgainAndAgain(
  { id, definition }: Loaded<ScheduleFunction>,
  ctx: Context,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const splay = (ctx.random.bytes(1)[0]! / 256) * definition.jitterMs
    await sleep(definition.intervalMs(ctx) + splay, signal)
    if (signal.aborted) return
    try {
      await definition.run(ctx, signal)
    } catch (error) {
      // A run that fails is logged, and the schedule goes on at its next turn.
      ctx.log.error({ function: id, err: error }, 'schedule run did not finish')
    }
  }
}

/** Start every schedule. The interval counts from the end of one run to the start of the next. */
export function startSchedules(schedules: readonly Loaded<ScheduleFunction>[], ctx: Context): Scheduler {
  const controller = new AbortController()
  // All of them wait on one signal, and what they run listens to it as well: Node takes more than ten for a leak. Each
  // listener goes when its wait is over.
  setMaxListeners(LISTENERS_EACH * schedules.length, controller.signal)
  const loops = schedules.map((schedule) => runAgainAndAgain(schedule, ctx, controller.signal))
  return {
    async stop() {
      controller.abort()
      await Promise.all(loops)
    },
  }
}
