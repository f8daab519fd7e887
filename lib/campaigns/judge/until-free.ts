import type { Clock } from '../../clock.ts'
import { JudgeBusy } from './judge.ts'

const BUSY_MS = 200
const BUSY_TRIES = 50

/**
 * Ask again while the config workers are busy. Null after about ten seconds, however few tries these were, and where the
 * workers took too long over a text.
 */
export async function untilFree<Answer>(
  clock: Pick<Clock, 'monotonicMs'>,
  ask: () => Promise<Answer>,
): Promise<Answer | null> {
  const sinceMs = clock.monotonicMs()
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof JudgeBusy)) throw error
      const isOver = tries === BUSY_TRIES || clock.monotonicMs() - sinceMs >= BUSY_TRIES * BUSY_MS
      if (error.gaveUp || isOver) return null
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS))
    }
  }
}
