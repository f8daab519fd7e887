import type { Clock } from '../../clock.ts'

/** Which sign-ins with the provider have had their callback: each has one, whatever came of it. */
export interface EndedFlows {
  /** Whether this is the first callback of the flow with this state. */
  end(state: string): boolean
}

/** Flows that have ended with their cookies still valid; when there are more, the one that ended first is forgotten. */
export const ENDED_FLOWS_MAX = 10_000

/** Nothing has ended yet. A flow is remembered for `lifetimeMs`, after which its cookie is not valid any more. */
export function openEndedFlows(clock: Clock, lifetimeMs: number): EndedFlows {
  /** When each ended, in monotonic milliseconds, the first first. */
  const ended = new Map<string, number>()
  return {
    end(state) {
      const nowMs = clock.monotonicMs()
      for (const [known, endedMs] of ended) {
        if (nowMs - endedMs < lifetimeMs) break
        ended.delete(known)
      }
      if (ended.has(state)) return false
      const [oldest] = ended.keys()
      if (ended.size >= ENDED_FLOWS_MAX && oldest !== undefined) ended.delete(oldest)
      ended.set(state, nowMs)
      return true
    },
  }
}
