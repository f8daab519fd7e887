import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** How long a test of this suite waits for other processes and sockets, in ms. */
    patienceMs: number
  }
}

/** The longest pause between two calls of `ask`; the first pauses are shorter. */
const PAUSE_MS_MAX = 100

/**
 * Call `ask` until it neither throws nor returns undefined, null or false; returns what it returned. After `withinMs`
 * (the suite's patience by default) it fails with `what`, with why the last call failed and with whatever `explain`
 * adds. It calls every `everyMs`; without that the pauses grow.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  options: { withinMs?: number; everyMs?: number; explain?: () => string } = {},
): Promise<T> {
  const { withinMs = inject('patienceMs'), everyMs, explain } = options
  const deadline = performance.now() + withinMs
  let last = ''
  for (let pauseMs = 2; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      const answer = await ask()
      if (answer !== undefined && answer !== null && answer !== false) return answer
      last = ''
    } catch (error) {
      last = error instanceof Error ? error.message : String(error)
    }
    if (performance.now() > deadline)
      throw new Error(`Not within ${withinMs} ms: ${what}. ${last}\n${explain?.() ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs ?? pauseMs))
  }
}
