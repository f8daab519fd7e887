import type { Clock } from '../lib/clock.ts'
import type { Listener } from './listener.ts'

/** Wait until every request that has come whole to these listeners is answered, or it is so late. */
export async function drain(
  listeners: readonly (Pick<Listener, 'answering'> | null)[],
  untilMs: number,
  clock: Clock,
): Promise<void> {
  const isAnswering = () => listeners.some((listener) => listener !== null && listener.answering() > 0)
  while (isAnswering() && clock.monotonicMs() < untilMs)
    await new Promise((resolve) => setTimeout(resolve, 20))
}
