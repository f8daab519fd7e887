import { JudgeBusy } from './judge.ts'

const BUSY_MS = 200
const BUSY_TRIES = 50

/** Ask again while the config workers are busy. Null after about ten seconds. */
export async function untilFree<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof JudgeBusy)) throw error
      if (tries === BUSY_TRIES) return null
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS))
    }
  }
}
