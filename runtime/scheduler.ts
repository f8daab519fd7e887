import { setMaxListeners } from 'node:events'
import { DatabaseUnavailable } from '../lib/store/db.ts'
import type { Context } from './context.ts'
import type { ScheduleFunction } from './define.ts'
import type { Loaded } from './loader.ts'

/** More listeners than one schedule has on the signal at a time. */
const LISTENERS_EACH = 4
/** How often it is said again that a schedule does not finish. */
const SAID_AGAIN_MS = 60_000

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

/** Runs of one schedule that failed one after the other. */
interface FailedRow {
  sinceMs: number
  saidMs: number
  count: number
}

/**
 * Note that a run failed, and say so: the first time, and while anything but the database is wrong again each minute. A
 * schedule may be due several times a second, and would hide in the log what is wrong.
 */
function noteFailure(ctx: Context, id: string, error: unknown, row: FailedRow | null): FailedRow {
  const nowMs = ctx.clock.monotonicMs()
  const { sinceMs, saidMs, count } = row ?? { sinceMs: nowMs, saidMs: Number.NEGATIVE_INFINITY, count: 0 }
  const noted = { sinceMs, saidMs, count: count + 1 }
  const isAway = error instanceof DatabaseUnavailable
  if (isAway ? row !== null : nowMs - saidMs < SAID_AGAIN_MS) return noted
  if (isAway) ctx.log.warn({ function: id, cause: error.message }, 'schedule waits for the database')
  else ctx.log.error({ function: id, count: noted.count, err: error }, 'schedule run did not finish')
  // What the database was said to be the cause of says nothing of another error, which is told at once.
  return isAway ? noted : { ...noted, saidMs: nowMs }
}

async function runAgainAndAgain(
  { id, definition }: Loaded<ScheduleFunction>,
  ctx: Context,
  signal: AbortSignal,
): Promise<void> {
  let failed: FailedRow | null = null
  while (!signal.aborted) {
    const splay = (ctx.random.bytes(1)[0]! / 256) * definition.jitterMs
    await sleep(definition.intervalMs(ctx) + splay, signal)
    if (signal.aborted) return
    try {
      await definition.run(ctx, signal)
      if (failed !== null) {
        const { sinceMs, count } = failed
        const silent_ms = Math.round(ctx.clock.monotonicMs() - sinceMs)
        ctx.log.info({ function: id, count, silent_ms }, 'schedule runs again after failures')
      }
      failed = null
    } catch (error) {
      // The schedule goes on at its next turn.
      failed = noteFailure(ctx, id, error, failed)
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
